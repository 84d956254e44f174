// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_inclusive_scan_of_integers(std::vector<cell> &cells) {
  add<inclusive_scan_12_bytes>(cells);
  add<inclusive_scan_24_bytes>(cells);
  add<inclusive_scan_32_bytes>(cells);
  add<inclusive_scan_64_bytes>(cells);
}
