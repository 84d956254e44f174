// SPDX-License-Identifier: MIT
// One function for each benchmark file: it adds the file's cells.
#pragma once

#include "comparison.hpp"

namespace perf {

void add_inclusive_sum(std::vector<cell> &cells);
void add_exclusive_sum(std::vector<cell> &cells);
void add_inclusive_max(std::vector<cell> &cells);
void add_inclusive_affine(std::vector<cell> &cells);
void add_inclusive_sum_by_key(std::vector<cell> &cells);
void add_exclusive_sum_i8_to_i32(std::vector<cell> &cells);
void add_transform_inclusive_sum(std::vector<cell> &cells);
void add_wall_inclusive_sum(std::vector<cell> &cells);

} // namespace perf
