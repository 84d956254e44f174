// SPDX-License-Identifier: MIT
// Whole strips of columns on a GPU, compared with the CPU's.
#pragma once

#include "axis_checks.cuh"

namespace test {

/// Scans of whole strips of columns, a lane a row, however few units there are. A partial row needs
/// 16 full ones. Elements of 2 bytes are scanned in pairs, if these are aligned. column_units scans
/// all others.
template <class T, class Make, class Operator>
void check_strips(axis lines, bool in_place, Make make_value, Operator op) {
  namespace detail = lookback::detail;
  using strategy = detail::column_strategy<detail::measured_tuning, 256, 1024, 128, 0>;
  if (in_place) lines.output = lines.input;
  TEST_RANDOM(random);
  std::vector<T> in;
  while (in.size() < span(lines, lines.input)) in.push_back(make_value(random));
  check_axis<T>(
      lines, in, in_place,
      [&](const T *x, T *y) { lookback::inclusive_axis_scan(lookback::host, x, lines, y, op); },
      [&](const T *x, T *y) {
        two_phases(
            [&](void *temporary, std::size_t &bytes) {
              const auto problem = detail::device_problem::inclusive_scan(x, y, op);
              return strategy::scan(temporary, bytes, problem, detail::checked_axis(lines),
                                    detail::launcher(nullptr));
            },
            random() % 256);
      });
}

template <class T, class Make, class Operator>
void check_all_strips(Make make_value, Operator op) {
  TEST_RANDOM(random);
  const tree_sizes size(sizeof(T), sizeof(T));
  for (const std::int64_t inner : {8, 16, 32, 64, 96})
    for (const std::size_t edge : {2 * size.row, 5 * size.row, size.tile / 2, size.tile,
                                   2 * size.tile + size.row, size.group + size.tile}) {
      axis lines{1, static_cast<std::int64_t>(edge), inner};
      if (lines.length * inner > 6000000) continue;
      if (edge >= size.tile / 2) lines.length += static_cast<std::int64_t>(random() % 3);
      if (edge <= size.tile) lines.outer += static_cast<std::int64_t>(random() % 3);
      lines.reverse = random() % 2 == 0;
      if (random() % 2 == 0) lines.input.length = inner + static_cast<std::int64_t>(random() % 9);
      check_strips<T>(lines, random() % 2 == 0, make_value, op);
    }
  check_strips<T>(axis{1, 65536, 512}, false, make_value, op); // every block has several units
}

} // namespace test
