// SPDX-License-Identifier: MIT
// Inclusive sums by code for an older architecture, on the GPU that is here.
#include "calls.cuh"
#include "device.cuh"

int main(int argc, char **argv) {
  return perf::compare_on_device(perf::add_inclusive_sum, argc, argv);
}
