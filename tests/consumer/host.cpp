// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <thrust/scan.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  std::vector<std::int64_t> values(1 << 20), sums(values.size()), expected(values.size());
  std::iota(values.begin(), values.end(), -1000);
  std::partial_sum(values.begin(), values.end(), expected.begin());

  thrust::inclusive_scan(lookback::host, values.begin(), values.end(), sums.begin());

  std::puts(sums == expected ? "equal" : "different");
  return sums == expected ? 0 : 1;
}
