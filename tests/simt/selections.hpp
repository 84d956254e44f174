// SPDX-License-Identifier: MIT
// One selection a trial: any share of the items, by a predicate, a stencil or runs, to any place,
// with or without the rejected items.
#pragma once

#include <simt/problems.hpp>

#include <lookback/core/selection.cuh>

namespace test {

/// Marked items, by a bit that says nothing else.
struct is_odd {
  template <class T>
  bool operator()(const T &x) const {
    return (static_cast<unsigned>(x) & 1) != 0;
  }
};
struct same_number {
  template <class T>
  bool operator()(const T &a, const T &b) const {
    return a == b;
  }
};

/// Items of which about `share` of 256 are odd, in clusters of up to `longest`.
template <class T>
std::vector<T> marked_items(trial &one, std::size_t n, unsigned share, std::size_t longest) {
  std::vector<T> items;
  while (items.size() < n) {
    const bool odd = one.random() % 256 < share;
    for (std::size_t left = 1 + one.random() % longest; left > 0 && items.size() < n; --left)
      items.push_back(static_cast<T>((one.random() % 100) * 2 + (odd ? 1 : 0)));
  }
  return items;
}

/// Runs trials of selections from up to `tiles` tiles of items T, each by `select(problem, n,
/// trial)`. `From` is an iterator over the input.
template <class T, class From = const T *, class Select>
void select_trials(std::uint64_t count, std::size_t tiles, Select select) {
  const tree_sizes size(sizeof(T), sizeof(T));
  for_each_trial(count, [&](trial &one) {
    const std::size_t n =
        std::max(size.tile + 1, (1 + one.random() % tiles) * size.tile - 1 + one.random() % 5);
    const unsigned shares[] = {0, 256, 128, 20, 250};
    const unsigned share = shares[one.random() % 5];
    const std::size_t longest = one.random() % 2 == 0 ? 1 : 40;
    const auto how = one.random() % 4;
    const std::size_t from = any_shift<T>(one), to = any_shift<T>(one);
#if defined(__SANITIZE_THREAD__)
    // A result that depends on a read cannot be written before the read (core/selection.cuh), but
    // the sanitizer takes relaxed status words for no order at all.
    const bool in_place = false;
#else
    const bool in_place = how < 2 && one.random() % 3 == 0;
#endif
    const T filler = 202;
    INFO("n = ", n, ", tile = ", size.tile, ", share ", share, " in clusters of ", longest,
         ", way ", how, ", input and output shifted by ", from, ", ", to,
         in_place ? ", in place" : "");
    const auto marks = marked_items<T>(one, n, share, longest);
    std::vector<T> items = marks;
    if (how == 1) // runs
      for (T &x : items) x = static_cast<T>(x & 1);
    if (how == 2) // a stencil
      for (T &x : items) x = static_cast<T>(one.random() % 200);
    std::vector<T> kept, rejected;
    for (std::size_t i = 0; i < n; ++i) {
      const bool keeps = how == 1 ? i == 0 || items[i] != items[i - 1] : is_odd{}(marks[i]);
      (keeps ? kept : rejected).push_back(items[i]);
    }
    const bare_input<T> input(items, from), stencil(marks, from);
    guarded_buffer<T> output(n, to, filler), others(n, to, filler);
    if (in_place) std::copy(items.begin(), items.end(), output.data());
    const From first(in_place ? output.data() : input.data());
    std::int64_t number = -1;
    if (how == 0)
      select(core::make_selection(first, core::by_predicate<is_odd, true>{}, output.data(),
                                  core::dropped{}, &number),
             n, one);
    else if (how == 1)
      select(core::make_selection(first, core::by_run<From, same_number, true>{first, {}},
                                  output.data(), core::dropped{}, &number),
             n, one);
    else if (how == 2)
      select(core::make_selection(first,
                                  core::by_stencil<From, is_odd, true>{From(stencil.data()), {}},
                                  output.data(), core::rejected_to<T *>{others.data()}, &number),
             n, one);
    else
      select(core::make_selection(first, core::by_predicate<is_odd, true>{}, output.data(),
                                  core::rejected_from_end<T *>{output.data(), n}, &number),
             n, one);

    std::vector<T> expected = kept;
    if (how == 3) expected.insert(expected.end(), rejected.rbegin(), rejected.rend());
    for (std::size_t i = expected.size(); i < n; ++i)
      expected.push_back(in_place ? items[i] : filler);
    REQUIRE_EQ(number, static_cast<std::int64_t>(kept.size()));
    REQUIRE_EQ(first_difference(output.results(), expected), nowhere);
    REQUIRE(output.intact());
    std::vector<T> expected_others(n, filler);
    if (how == 2) std::copy(rejected.begin(), rejected.end(), expected_others.begin());
    REQUIRE_EQ(first_difference(others.results(), expected_others), nowhere);
    REQUIRE(others.intact());
  });
}

/// By the strategies of one tile a block, `Warps` warps each.
template <int Warps, class T, class From = const T *>
void select_by_tiles(std::uint64_t count, std::size_t tiles) {
  select_trials<T, From>(count, tiles, [](const auto &problem, std::size_t n, trial &one) {
    scan<Warps>(problem, n, one.schedule);
  });
}
/// By the pipeline, on up to 4 blocks.
template <class Tuning, class T, class From = const T *>
void select_ahead(std::uint64_t count, std::size_t tiles) {
  select_trials<T, From>(count, tiles, [](const auto &problem, std::size_t n, trial &one) {
    const unsigned blocks = 1 + one.random() % 4;
    scan_ahead<Tuning>(problem, n, blocks, one.schedule);
  });
}

} // namespace test
