// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_inclusive_affine(std::vector<cell> &cells) { add<inclusive_affine>(cells); }
