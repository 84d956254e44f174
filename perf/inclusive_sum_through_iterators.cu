// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_inclusive_sum_through_iterators(std::vector<cell> &cells) {
  add<inclusive_sum_counting_transform>(cells);
  add<inclusive_sum_zip_transform>(cells);
  add<inclusive_sum_reverse>(cells);
  add<inclusive_sum_permutation>(cells);
}
