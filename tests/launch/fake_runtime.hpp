// SPDX-License-Identifier: MIT
// A CUDA runtime without a GPU: it answers lookback's questions about a device and records launches
// instead of running them. A program that links fake_runtime.cpp links no other CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fake {

/// The current device, and what happens on it.
struct device {
  int ordinal = 0;
  int multiprocessors = 132;
  int shared_bytes = 227 * 1024; // per block, opt-in
  int major = 9;
  bool cooperates = true;
  int code = 90;         // architecture of the code it runs, for every kernel
  int blocks_of_one = 2; // blocks of a multiprocessor, of any kernel
  int cluster_blocks = 16;

  bool captures = false;                      // the stream is being captured
  bool is_green = false;                      // the stream belongs to a green context
  bool answers = true;                        // otherwise, cudaGetDevice fails
  std::map<std::string, cudaError_t> failing; // launches that fail, by kernel
};

struct launch {
  std::string kernel;
  unsigned blocks;
  std::string how; // "cluster", "cooperative", "overlapping" or ""
  std::size_t shared_bytes;
  cudaStream_t stream;
};

/// Calls of the runtime since reset().
struct record {
  std::vector<launch> launches;            // successful ones
  int questions = 0;                       // about devices and kernels
  std::map<std::string, int> shared_bytes; // that kernels asked for
  cudaError_t last_error = cudaSuccess;
};

extern device here;
extern record seen;

/// A device that no call has seen yet, and an empty record.
void reset();

/// "kernel blocks how, kernel blocks how": the launches in order.
std::string launches();

} // namespace fake
