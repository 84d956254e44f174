// SPDX-License-Identifier: MIT
// Whole strips of columns of half-precision numbers on a GPU, in pairs.
#include "column_strips.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// Two sums in one instruction have the bits of single ones.
TEST_CASE("columns: whole strips of half-precision numbers, a lane a row") {
  test::check_all_strips<__nv_bfloat16>(
      [](auto &random) { return __float2bfloat16(static_cast<float>(random() % 4096) / 37); },
      lookback::plus{});
  test::check_all_strips<__half>(
      [](auto &random) { return __float2half(static_cast<float>(random() % 4096) / 4096); },
      lookback::plus{});
}
