// SPDX-License-Identifier: MIT
#include <launch/fake_runtime.hpp>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake {

device here;
record seen;

namespace {

/// Names of kernels by the address of their host functions.
std::map<const void *, std::string> &kernels() {
  static std::map<const void *, std::string> all;
  return all;
}

/// The part of a mangled name that ends with "_kernel".
std::string kernel_in(const std::string &mangled) {
  const std::size_t found = mangled.find("_kernel");
  if (found == std::string::npos) return mangled;
  std::size_t begin = found;
  while (begin > 0 && (std::islower(mangled[begin - 1]) || mangled[begin - 1] == '_')) --begin;
  return mangled.substr(begin, found - begin);
}

cudaError_t keep(cudaError_t status) {
  if (status != cudaSuccess) seen.last_error = status;
  return status;
}

int green_context_of(cudaStream_t, void **context) {
  *context = here.is_green ? &here : nullptr;
  return 0;
}

std::string how(const cudaLaunchConfig_t &config) {
  if (config.numAttrs == 0) return "";
  if (config.numAttrs != 1) return "more than one attribute";
  const cudaLaunchAttribute &one = config.attrs[0];
  if (one.id == cudaLaunchAttributeClusterDimension)
    return one.val.clusterDim.x == config.gridDim.x ? "cluster" : "part of a cluster";
  if (one.id == cudaLaunchAttributeCooperative) return "cooperative";
  if (one.id == cudaLaunchAttributeProgrammaticStreamSerialization) return "overlapping";
  return "another attribute";
}

} // namespace

void reset() {
  const int next = here.ordinal + 1;
  if (next >= 64) std::abort(); // more devices than the launcher remembers
  here = {};
  here.ordinal = next;
  seen = {};
}

std::string launches() {
  std::string all;
  for (const launch &one : seen.launches) {
    if (!all.empty()) all += ", ";
    all += one.kernel + " " + std::to_string(one.blocks);
    if (!one.how.empty()) all += " " + one.how;
  }
  return all;
}

} // namespace fake

using fake::here;
using fake::keep;
using fake::seen;

extern "C" {

// The registration calls in nvcc's host code, and the entry points of `<<<>>>`.
void **__cudaRegisterFatBinary(void *) {
  static void *handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 0; }
void __cudaRegisterFunction(void **, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *) {
  fake::kernels()[host] = fake::kernel_in(name);
}
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *) { std::abort(); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, std::size_t, cudaStream_t) {
  std::abort();
}
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, std::size_t *, void *) { std::abort(); }

cudaError_t cudaGetDevice(int *device) {
  *device = here.ordinal;
  return keep(here.answers ? cudaSuccess : cudaErrorInitializationError);
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr name, int) {
  ++seen.questions;
  switch (name) {
  case cudaDevAttrMultiProcessorCount:
    *value = here.multiprocessors;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = here.shared_bytes;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = here.major;
    return cudaSuccess;
  case cudaDevAttrCooperativeLaunch:
    *value = here.cooperates;
    return cudaSuccess;
  default:
    return keep(cudaErrorInvalidValue);
  }
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
  ++seen.questions;
  *attributes = {};
  attributes->ptxVersion = here.code;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute name, int value) {
  ++seen.questions;
  if (name == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value > here.shared_bytes) return keep(cudaErrorInvalidValue);
    seen.shared_bytes[fake::kernels()[kernel]] = value;
  }
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int,
                                                          std::size_t) {
  ++seen.questions;
  *blocks = here.blocks_of_one;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *,
                                                 const cudaLaunchConfig_t *) {
  ++seen.questions;
  *size = here.cluster_blocks;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
  *status = here.captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  if (std::strcmp(symbol, "cuStreamGetGreenCtx") != 0) return keep(cudaErrorInvalidValue);
  *function = reinterpret_cast<void *>(fake::green_context_of);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t last = seen.last_error;
  seen.last_error = cudaSuccess;
  return last;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **) {
  const std::string name = fake::kernels()[kernel];
  const auto failing = here.failing.find(name);
  if (failing != here.failing.end()) return keep(failing->second);
  seen.launches.push_back(
      {name, config->gridDim.x, fake::how(*config), config->dynamicSmemBytes, config->stream});
  return cudaSuccess;
}

} // extern "C"
