// SPDX-License-Identifier: MIT
// An NCCL communicator for distributed scans on GPUs. Needs nccl.h and libnccl, which the other
// headers do not.
#pragma once

#include <lookback/core/config.cuh>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace distributed {

/// An `ncclComm_t` as the communicator of distributed scans on GPUs (@ref distributed_scans).
///
/// @code
/// lookback::distributed::nccl ranks(comm); // on each rank, with its GPU as the current device
/// lookback::distributed::inclusive_scan(ranks, lookback::par.on(stream), first, last, result);
/// @endcode
///
/// - *Requirements*: NCCL 2.14 or newer. The GPU of `comm` is the current device of the calling
///   thread, in the constructor and in all calls; otherwise, `std::invalid_argument`. One thread at
///   a time may use an object. `comm` must not be used for other operations while a call runs.
/// - *Ownership*: the caller owns `comm`, and destroys it after this object, unless aborted().
/// - *Failure*: after an error of NCCL or CUDA in a call, or a wait longer than the deadline,
///   `comm` is aborted, and the call throws `std::runtime_error`. Any other exception in the call
///   of this rank aborts it, too, unless it tells that the calls of the ranks differ or that a
///   stream is being captured (@ref distributed_scans). After an abort, every later call throws
///   `std::runtime_error`. The other ranks receive an error from NCCL, or their waits end at the
///   deadline.
/// - *Waits*: the host waits in every call for the lengths of the shards, unless they are known
///   (known_shards), and with lookback::par for the results. Work that a call leaves on the stream
///   has no deadline, nor has the launch of a graph: there, ranks may wait without limit for one
///   whose call has failed.
///
/// @ingroup distributed_scans
class nccl {
public:
  /// Not collective. Waits until `comm` is initialised, at most until the deadline. Throws
  /// `std::invalid_argument` if `comm` is null or of another GPU than the current device, or if the
  /// deadline is not positive; `std::runtime_error` if NCCL or CUDA reports an error. `comm` then
  /// remains as it is.
  explicit nccl(ncclComm_t comm, std::chrono::milliseconds deadline = std::chrono::minutes(10))
      : state_{comm, deadline} {
    if (comm == nullptr) throw std::invalid_argument("lookback: the NCCL communicator is null");
    if (deadline.count() <= 0)
      throw std::invalid_argument("lookback: the deadline of an NCCL communicator is not positive");
    require(settled(ncclInProgress)); // it may still be being initialised
    require(ncclCommUserRank(comm, &rank_));
    require(ncclCommCount(comm, &size_));
    require(ncclCommCuDevice(comm, &gpu_));
    check_current_device();
    const std::size_t bytes = host_bytes * (static_cast<std::size_t>(size_) + 1);
    require(cudaMalloc(&state_.device, bytes));
    const cudaError_t status = cudaMallocHost(&state_.pinned, bytes);
    if (status != cudaSuccess) cudaFree(state_.device);
    require(status);
  }
  nccl(const nccl &) = delete;
  nccl &operator=(const nccl &) = delete;
  ~nccl() {
    cudaFreeHost(state_.pinned);
    cudaFree(state_.device);
  }

  /// The rank of the caller.
  int rank() const { return rank_; }
  /// The number of ranks.
  int size() const { return size_; }
  /// The GPU of the rank.
  int gpu() const { return gpu_; }
  /// Whether the communicator has been aborted. Then it no longer exists and must not be destroyed.
  bool aborted() const { return state_.comm == nullptr; }

  /// Gathers one record of each rank in device memory, in rank order: enqueues it on `stream`.
  void all_gather_on(const void *record, std::size_t bytes, void *records,
                     cudaStream_t stream) const {
    throw_if_aborted();
    check(ncclAllGather(record, records, bytes, ncclUint8, state_.comm, stream));
  }
  /// The same in host memory, for records of at most 64 bytes. Waits for the stream.
  void all_gather_host(const void *record, std::size_t bytes, void *records,
                       cudaStream_t stream) const {
    require_usable();
    if (bytes > host_bytes)
      throw std::invalid_argument("lookback: all_gather_host() takes records of at most 64 bytes");
    char *const own = static_cast<char *>(state_.device), *const all = own + host_bytes;
    const std::size_t all_bytes = bytes * static_cast<std::size_t>(size_);
    std::memcpy(state_.pinned, record, bytes);
    check(cudaMemcpyAsync(own, state_.pinned, bytes, cudaMemcpyHostToDevice, stream));
    all_gather_on(own, bytes, all, stream);
    void *const gathered = static_cast<char *>(state_.pinned) + host_bytes;
    check(cudaMemcpyAsync(gathered, all, all_bytes, cudaMemcpyDeviceToHost, stream));
    wait_for(stream);
    std::memcpy(records, gathered, all_bytes);
  }
  /// Waits until the work on `stream` is complete, at most until the deadline.
  void wait_for(cudaStream_t stream) const {
    throw_if_aborted();
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned turn = 0;; ++turn) {
      const cudaError_t status = cudaStreamQuery(stream);
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check(status);
      if (turn % 64 != 63) continue;
      ncclResult_t error = ncclSuccess;
      check(ncclCommGetAsyncError(state_.comm, &error));
      if (error != ncclInProgress) check(error);
      if (std::chrono::steady_clock::now() - begin > state_.deadline)
        fail("has waited until the deadline for the other ranks");
      std::this_thread::yield();
    }
  }
  /// Throws if it has been aborted, or if another GPU is current.
  void require_usable() const {
    throw_if_aborted();
    check_current_device();
  }
  /// Aborts the communicator.
  void abort() const noexcept {
    if (state_.comm == nullptr) return;
    ncclCommAbort(state_.comm);
    state_.comm = nullptr;
  }

private:
  static constexpr std::size_t host_bytes = 64; // of a record in host memory

  void throw_if_aborted() const {
    if (aborted()) fail("is used after it has been aborted");
  }
  void check_current_device() const {
    int current = -1;
    require(cudaGetDevice(&current));
    if (current != gpu_)
      throw std::invalid_argument("lookback: the NCCL communicator of rank " +
                                  std::to_string(rank_) + " is of GPU " + std::to_string(gpu_) +
                                  ", but the current device is " + std::to_string(current) +
                                  "; call cudaSetDevice(" + std::to_string(gpu_) + ") first");
  }
  /// The status of an operation that a communicator that is not blocking may not have started yet.
  /// Still in progress: the deadline is over.
  ncclResult_t settled(ncclResult_t status) const {
    const auto begin = std::chrono::steady_clock::now();
    while (status == ncclInProgress &&
           std::chrono::steady_clock::now() - begin <= state_.deadline) {
      std::this_thread::yield();
      if (ncclCommGetAsyncError(state_.comm, &status) != ncclSuccess) status = ncclInternalError;
    }
    return status;
  }
  static std::string reason(cudaError_t status) {
    return std::string("met a CUDA error: ") + cudaGetErrorString(status);
  }
  static std::string reason(ncclResult_t status) {
    return status == ncclInProgress ? "has waited until the deadline for NCCL"
                                    : std::string("fails: ") + ncclGetErrorString(status);
  }
  /// Throws if there is an error, and leaves the communicator as it is.
  template <class Status>
  void require(Status status) const {
    if (status != Status{}) throw_error(reason(status)); // 0: cudaSuccess, ncclSuccess
  }
  /// Aborts the communicator, too.
  void check(cudaError_t status) const {
    if (status != cudaSuccess) fail(reason(status));
  }
  void check(ncclResult_t status) const {
    status = settled(status);
    if (status != ncclSuccess) fail(reason(status));
  }
  [[noreturn]] void fail(const std::string &reason) const {
    abort();
    throw_error(reason);
  }
  [[noreturn]] void throw_error(const std::string &reason) const {
    throw std::runtime_error("lookback: the NCCL communicator of rank " + std::to_string(rank_) +
                             " " + reason);
  }

  struct state {
    ncclComm_t comm; // null: aborted
    std::chrono::milliseconds deadline;
    void *device = nullptr, *pinned = nullptr; // the own record, then those of all ranks
  };
  mutable state state_;
  int rank_ = 0, size_ = 1, gpu_ = 0;
};

/// Calls `call(*ranks[i])` for all i at the same time, each in a thread of its own whose current
/// device is the GPU of that communicator: for a host thread that drives several GPUs.
///
/// @code
/// lookback::distributed::on_all({&of_gpu_0, &of_gpu_1}, [&](const auto &ranks) {
///   const part &own = parts[ranks.rank()];
///   lookback::distributed::inclusive_scan(ranks, lookback::par_nosync.on(own.stream), own.first,
///                                         own.last, own.result);
/// });
/// @endcode
///
/// Returns when all calls have returned; what they have enqueued may still be running. If calls
/// throw, it then rethrows the exception that was thrown first. The threads call the same object
/// `call` concurrently.
///
/// @ingroup distributed_scans
template <class Call>
void on_all(const std::vector<const nccl *> &ranks, const Call &call) {
  std::mutex guard;
  std::exception_ptr first_error;
  const auto keep_first = [&] {
    const std::lock_guard<std::mutex> lock(guard);
    if (first_error == nullptr) first_error = std::current_exception();
  };
  std::vector<std::thread> started;
  for (const nccl *const own : ranks) try {
      started.emplace_back([&, own] {
        try {
          if (cudaSetDevice(own->gpu()) != cudaSuccess) {
            own->abort();
            throw std::runtime_error("lookback: GPU " + std::to_string(own->gpu()) +
                                     " of an NCCL communicator cannot be made current");
          }
          call(*own);
        } catch (...) {
          keep_first();
        }
      });
    } catch (...) { // no thread for this rank
      keep_first();
      own->abort();
    }
  for (std::thread &each : started) each.join();
  if (first_error != nullptr) std::rethrow_exception(first_error);
}

} // namespace distributed
} // namespace LOOKBACK_ABI
} // namespace lookback
