// SPDX-License-Identifier: MIT
// Whole strips of columns on a GPU, a lane a row.
#include "column_strips.cuh"

#include <support/types.hpp>

TEST_CASE("columns: whole strips, a lane a row") {
  test::check_all_strips<float>(
      [](auto &random) { return static_cast<float>(random() % 4096) / 37; }, lookback::plus{});
}
TEST_CASE("columns: whole strips of 2-byte elements, a lane a row") {
  using T = test::sized<2>;
  test::check_all_strips<T>([](auto &random) { return test::random_value<T>::make(random); },
                            test::compose{});
}
