// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_exclusive_sum(std::vector<cell> &cells) {
  add<exclusive_sum<std::int8_t>>(cells);
  add<exclusive_sum<std::int16_t>>(cells);
  add<exclusive_sum<std::int32_t>>(cells);
  add<exclusive_sum<std::int64_t>>(cells);
  add<exclusive_sum<__int128_t>>(cells);
  add<exclusive_sum<float>>(cells);
  add<exclusive_sum<double>>(cells);
}
