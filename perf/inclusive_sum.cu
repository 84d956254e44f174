// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

/// The look-back at every size, also where the default is a faster strategy.
struct tree_look_back {
  static cudaError_t InclusiveSum(void *temporary, std::size_t &size, const std::int32_t *in,
                                  std::int32_t *out, long long n) {
    using namespace lookback::detail;
    const auto problem = make_problem<true, std::int32_t>(in, out, lookback::plus{}, no_initial{});
    using rows = measured_tuning;
    return first_of<one_tile<rows>, lookback::detail::tree_look_back<rows>>::scan(
        temporary, size, problem, n, launcher(nullptr));
  }
};

} // namespace

void perf::add_inclusive_sum(std::vector<cell> &cells) {
  add<inclusive_sum<std::int8_t>>(cells);
  add<inclusive_sum<std::int16_t>>(cells);
  using sum = inclusive_sum<std::int32_t>;
  add_sizes<sum>(cells, event_microseconds, [](long long n) {
    return std::vector<contender>{{"lookback", device_call<sum, lookback::DeviceScan>(n)},
                                  {"lookback:tree_look_back", device_call<sum, tree_look_back>(n)},
                                  {"cub", device_call<sum, cub::DeviceScan>(n)}};
  });
  add<inclusive_sum<std::int64_t>>(cells);
  add<inclusive_sum<__int128_t>>(cells);
  add<inclusive_sum<float>>(cells);
  add<inclusive_sum<double>>(cells);
  add<inclusive_sum_misaligned>(cells);
}
