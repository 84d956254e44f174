// SPDX-License-Identifier: MIT
// Streams, events and the choice of a device that end with their objects.
#pragma once

#include <lookback/core/config.cuh>

#include <cuda_runtime_api.h>
#include <thrust/system/cuda/detail/util.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Makes a device the current one, until the object ends.
class device_here {
public:
  explicit device_here(int device) {
    thrust::cuda_cub::throw_on_error(cudaGetDevice(&before_), "lookback: querying the device");
    thrust::cuda_cub::throw_on_error(cudaSetDevice(device), "lookback: choosing a device");
  }
  device_here(const device_here &) = delete;
  device_here &operator=(const device_here &) = delete;
  ~device_here() { cudaSetDevice(before_); }

private:
  int before_ = 0;
};

/// A stream that does not wait for the legacy default stream.
class own_stream {
public:
  own_stream() {
    thrust::cuda_cub::throw_on_error(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                                     "lookback: creating a stream");
  }
  own_stream(const own_stream &) = delete;
  own_stream &operator=(const own_stream &) = delete;
  ~own_stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  operator cudaStream_t() const { return stream_; }

private:
  cudaStream_t stream_ = nullptr;
};

class own_event {
public:
  own_event() {
    thrust::cuda_cub::throw_on_error(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming),
                                     "lookback: creating an event");
  }
  own_event(const own_event &) = delete;
  own_event &operator=(const own_event &) = delete;
  ~own_event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

private:
  cudaEvent_t event_ = nullptr;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
