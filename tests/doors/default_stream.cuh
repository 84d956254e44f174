// SPDX-License-Identifier: MIT
// A program of two translation units, one for each default stream of CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test {

using word = std::uint32_t;

struct named_stream {
  std::string policy;
  cudaStream_t stream;
};

/// Whose default stream a scan takes.
enum class kind { lookback_policy, null_stream, thrust_policy };

/// What a translation unit compiled with --default-stream=legacy, or per-thread, makes of the same
/// source.
struct legacy_unit {
  static std::vector<named_stream> default_streams();
  static cudaStream_t own_stream(cudaStream_t stream);
  static void scan(word *first, std::size_t n, kind which);
  static word *remove_zeros(word *first, std::size_t n);
};
struct per_thread_unit {
  static std::vector<named_stream> default_streams();
  static cudaStream_t own_stream(cudaStream_t stream);
  static void scan(word *first, std::size_t n, kind which);
  static word *remove_zeros(word *first, std::size_t n);
};

} // namespace test
