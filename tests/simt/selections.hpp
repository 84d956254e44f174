// SPDX-License-Identifier: MIT
// One selection a trial: any share of the items, by a predicate, a stencil or runs, to any place,
// with or without the rejected items.
#pragma once

#include <simt/problems.hpp>

#include <lookback/core/candidates.cuh>

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

/// How a trial's items are selected.
enum class selected_by { predicate, runs, stencil, predicate_from_both_ends };

/// The items and the results of one trial.
template <class T>
struct selection_trial {
  selected_by how;
  std::vector<T> marks, items, kept, rejected;

  selection_trial(trial &one, std::size_t n, unsigned share, std::size_t longest)
      : how(static_cast<selected_by>(one.random() % 4)),
        marks(marked_items<T>(one, n, share, longest)), items(marks) {
    if (how == selected_by::runs)
      for (T &x : items) x = static_cast<T>(x & 1);
    if (how == selected_by::stencil)
      for (T &x : items) x = static_cast<T>(one.random() % 200);
    for (std::size_t i = 0; i < n; ++i) {
      const bool keeps =
          how == selected_by::runs ? i == 0 || items[i] != items[i - 1] : is_odd{}(marks[i]);
      (keeps ? kept : rejected).push_back(items[i]);
    }
  }

  /// Calls `select` with the problem.
  template <class From, class Select>
  void run(From first, From stencil, T *output, T *others, std::int64_t *number,
           Select select) const {
    switch (how) {
    case selected_by::predicate:
      return select(core::make_selection(first, core::by_predicate<is_odd, true>{}, output,
                                         core::dropped{}, number));
    case selected_by::runs:
      return select(core::make_selection(first, core::by_run<From, same_number, true>{first, {}},
                                         output, core::dropped{}, number));
    case selected_by::stencil:
      return select(core::make_selection(first, core::by_stencil<From, is_odd, true>{{}, stencil},
                                         output, core::rejected_to<T *>{others}, number));
    default:
      return select(core::make_selection(first, core::by_predicate<is_odd, true>{}, output,
                                         core::rejected_from_end<T *>{output}, number));
    }
  }
  /// What the outputs hold afterwards, if `before` is what they held.
  std::vector<T> output(std::vector<T> before) const {
    std::copy(kept.begin(), kept.end(), before.begin());
    if (how == selected_by::predicate_from_both_ends)
      std::copy(rejected.begin(), rejected.end(), before.rbegin());
    return before;
  }
  std::vector<T> others(std::vector<T> before) const {
    if (how == selected_by::stencil) std::copy(rejected.begin(), rejected.end(), before.begin());
    return before;
  }
};

/// Whether a trial may be in place. A result that depends on a read cannot be written before the
/// read (core/candidates.cuh), but ThreadSanitizer takes relaxed status words for no order at all.
inline constexpr bool tries_in_place = !under_thread_sanitizer;

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
    const selection_trial<T> given(one, n, share, one.random() % 2 == 0 ? 1 : 40);
    // Results pass through shared memory only if the input is aligned.
    const std::size_t from = one.random() % 2 == 0 ? 0 : any_shift<T>(one),
                      to = one.random() % 4 != 0 ? any_shift<T>(one) : 0;
    const bool may_overwrite =
        given.how == selected_by::predicate || given.how == selected_by::runs;
    const bool in_place = tries_in_place && may_overwrite && one.random() % 3 == 0;
    INFO("n = ", n, ", tile = ", size.tile, ", share ", share, ", way ",
         static_cast<int>(given.how), ", input and output shifted by ", from, ", ", to,
         ", in place: ", in_place);
    const T filler = 202;
    const bare_input<T> input(given.items, from), stencil(given.marks, from);
    guarded_buffer<T> output(n, to, filler), others(n, to, filler);
    if (in_place) std::copy(given.items.begin(), given.items.end(), output.data());
    const auto output_before = output.results(), others_before = others.results();
    std::int64_t number = -1;
    given.run(From(in_place ? output.data() : input.data()), From(stencil.data()), output.data(),
              others.data(), &number, [&](const auto &problem) { select(problem, n, one); });
    REQUIRE_EQ(number, static_cast<std::int64_t>(given.kept.size()));
    REQUIRE_EQ(first_difference(output.results(), given.output(output_before)), nowhere);
    REQUIRE(output.intact());
    REQUIRE_EQ(first_difference(others.results(), given.others(others_before)), nowhere);
    REQUIRE(others.intact());
  });
}

/// In half tiles, by a cluster, of `Warps` warps a block. Items that are compared with each other
/// have no half tiles.
template <int Warps, class T>
void select_in_half_tiles(std::uint64_t count, std::size_t tiles) {
  select_trials<T>(count, tiles, [](const auto &problem, std::size_t n, trial &one) {
    using problem_type = std::decay_t<decltype(problem)>;
    using which = std::decay_t<decltype(problem.input.which())>;
    constexpr bool compares =
        std::is_same<which, core::by_run<const T *, same_number, true>>::value;
    static_assert(core::half_tiles<problem_type>::possible != compares,
                  "items that are chosen one by one must have half tiles");
    using rows = rows_of<Warps>;
    if constexpr (compares)
      scan<Warps>(problem, n, one.schedule);
    else
      scan_by<core::first_of<core::cluster_of_half_tiles<rows>>>(problem, n, one.schedule);
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
