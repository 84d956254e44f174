// SPDX-License-Identifier: MIT
#include "segment_device.cuh"

#include <lookback/device_axis_scan.cuh>

namespace {

template <class T>
void add_type(std::vector<perf::cell> &cells, const lookback::axis &lines) {
  using sum = perf::axis_sum<T>;
  const long long n = lines.outer * lines.length * lines.inner;
  const std::string name = "axis_sum_" + std::to_string(lines.outer) + "x" +
                           std::to_string(lines.length) + "x" + std::to_string(lines.inner);
  const auto by_lookback = [lines](void *temporary, std::size_t &size,
                                   const perf::operands<T, T> &o) {
    return lookback::DeviceAxisScan::InclusiveSum(temporary, size, o.in, o.out, lines);
  };
  perf::add_lines<sum>(cells, name, n, 2 * n * static_cast<long long>(sizeof(T)), by_lookback,
                       lines.inner == 1, [lines, n] {
                         auto o = perf::prepare_lines<sum>(n, lines.length, lines.inner);
                         o.segments = lines.outer;
                         return o;
                       });
}

} // namespace

void perf::add_axis_sum(std::vector<cell> &cells) {
  constexpr long long k = 1 << 10, m = 1 << 20;
  for (const lookback::axis &lines : {
           lookback::axis{1, 128 * m, 1},
           {m, 32, 1},
           {64 * k, k, 1},
           {k, 64 * k, 1},
           {16 * m, 4, 1},
           {16, 4 * m, 1},
           {4 * k, 4 * k, 1},
           {1, m, 2},
           {1, m, 32},
           {1, 64 * k, k},
           {1, k, 64 * k},
           {1, 4 * m, 16},
           {1, 4 * k, 4 * k},
       }) {
    add_type<int>(cells, lines);
    add_type<float>(cells, lines);
    add_type<__nv_bfloat16>(cells, lines);
  }
}
