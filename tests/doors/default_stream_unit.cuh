// SPDX-License-Identifier: MIT
// One translation unit of doors.default_stream: the same source for both default streams. The unit
// names itself by TEST_UNIT.
#include <doors/default_stream.cuh>

#include <lookback/execution_policy.cuh>

#include <thrust/remove.h>
#include <thrust/scan.h>

namespace test {
namespace {

struct no_allocator {
  using value_type = char;
  char *allocate(std::ptrdiff_t) { return nullptr; }
  void deallocate(char *, std::size_t) {}
};

template <class Policy>
cudaStream_t stream_of(Policy policy) {
  return thrust::cuda_cub::stream(policy);
}

} // namespace

std::vector<named_stream> TEST_UNIT::default_streams() {
  no_allocator allocator;
  const lookback::fastest algorithm{};
  return {{"par", stream_of(lookback::par)},
          {"par_nosync", stream_of(lookback::par_nosync)},
          {"par(allocator)", stream_of(lookback::par(allocator))},
          {"par_nosync(allocator)", stream_of(lookback::par_nosync(allocator))},
          {"par.on(nullptr)", stream_of(lookback::par.on(nullptr))},
          {"par.with(algorithm)", stream_of(lookback::par.with(algorithm))}};
}

cudaStream_t TEST_UNIT::own_stream(cudaStream_t stream) {
  return stream_of(lookback::par.on(stream));
}

void TEST_UNIT::scan(word *first, std::size_t n, kind which) {
  if (which == kind::lookback_policy)
    thrust::inclusive_scan(lookback::par_nosync, first, first + n, first);
  else if (which == kind::null_stream)
    thrust::inclusive_scan(lookback::par_nosync.on(nullptr), first, first + n, first);
  else
    lookback::inclusive_scan(thrust::cuda::par_nosync.on(nullptr), first, first + n, first);
}

word *TEST_UNIT::remove_zeros(word *first, std::size_t n) {
  return thrust::remove(lookback::par_nosync, first, first + n, word{0});
}

} // namespace test
