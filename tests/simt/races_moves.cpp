// SPDX-License-Identifier: MIT
// Rows on their way through shared memory, and keys that results are written over: under
// ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

using test::kind;

/// Results for an iterator go out through the place of their row in shared memory; narrower ones
/// than elements through other places of it than their own elements had.
TEST_CASE("4 bytes to 1, to an iterator or misaligned") {
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(4, 4), 2 * 4096),
                      shift = one.random() % 4;
    std::vector<std::uint32_t> input;
    std::vector<std::uint8_t> output(n + shift), expected(shift);
    for (std::uint32_t i = 0, sum = 0; i < n; ++i) {
      input.push_back(static_cast<std::uint32_t>(one.random()));
      expected.push_back(static_cast<std::uint8_t>(sum += input.back()));
    }
    const auto scan = [&](auto to) {
      test::scan_as<kind::inclusive, 4, std::uint8_t>(
          static_cast<const std::uint32_t *>(input.data()), to, std::uint8_t{0}, lookback::plus{},
          n, one.schedule);
    };
    if (one.random() % 2 == 0)
      scan(test::writing_iterator<std::uint8_t>(output.data() + shift));
    else
      scan(output.data() + shift);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
/// Elements that make no vectors wait as bytes, and their results leave in units of 16 bytes
/// through other places of the row than their own elements had.
TEST_CASE("48 bytes to 24") {
  using result = test::long_interval;
  using element = test::widened<result, 48>;
  std::vector<element> elements;
  for (std::uint32_t i = 1; i <= 4 * 256; ++i)
    elements.push_back({test::make_interval<result>({i, i + 1}), {}});
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(48, 24), elements.size()),
                      shift = one.random() % 3;
    std::vector<result> output(n + shift), expected(shift);
    for (std::uint32_t i = 1; i <= n; ++i)
      expected.push_back(test::make_interval<result>({1, i + 1}));
    test::scan_as<kind::inclusive, 4, result>(static_cast<const element *>(elements.data()),
                                              output.data() + shift, result{},
                                              test::join_neighbours{}, n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
/// The results go over the keys: a tile may overwrite the key that its right neighbour has to
/// compare with.
TEST_CASE("by key, over the keys") {
  using number = std::uint64_t;
  test::for_each_trial(40, [&](test::trial &one) {
    const test::tree_sizes size(8, 8);
    const std::size_t n = test::pick_size(one, size, 3 * size.tile, size.tile + 1);
    std::vector<number> keys, values, expected;
    for (number i = 0; i < n; ++i) {
      keys.push_back(i / 100 + 1);
      values.push_back(i);
      expected.push_back(i % 100 == 0 ? i : expected.back() + i);
    }
    const auto scan = [&](auto from) {
      test::scan<2>(lookback::detail::make_inclusive_by_key<number>(
                        static_cast<const number *>(keys.data()), from, keys.data(),
                        lookback::equal_to{}, lookback::plus{}),
                    n, one.schedule);
    };
    if (one.random() % 2 == 0) // bytes wait in shared memory
      scan(static_cast<const number *>(values.data()));
    else // pairs do
      scan(test::reading_iterator<number>(values.data()));
    REQUIRE_EQ(test::first_difference(keys, expected), test::nowhere);
  });
}
/// The total is right whichever tile, row and vector holds the last item.
template <class T, bool Inclusive, class In>
void check_total(test::trial &one, const std::vector<In> &elements) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(In), sizeof(T));
  const std::size_t n = test::pick_size(one, size, elements.size());
  INFO("n = ", n, ", tile = ", size.tile);
  std::vector<T> output(n);
  std::vector<T> total(1, T{});
  T expected = T{9}, sum = expected;
  for (std::size_t i = 0; i < n; ++i) sum = static_cast<T>(sum + static_cast<T>(elements[i]));
  const auto given = core::make_problem<Inclusive, T>(
      elements.data(), output.data(), lookback::plus{}, core::initial_value<T>{expected});
  using dense = typename std::decay_t<decltype(given)>::sink_type;
  using sink = core::total_sink<dense, T *>;
  const core::scan_problem<Inclusive, T, const In *, lookback::plus, core::initial_value<T>, sink>
      problem(given.input, given.op, given.initial, sink{given.sink, total.data()});
  if (one.random() % 2 == 0 && n > size.tile && core::can_look_ahead<decltype(problem)>::value)
    test::scan_ahead<test::look_ahead_by<3, 2, 2, 4, 2>>(problem, n, 3, one.schedule);
  else
    test::scan<1>(problem, n, one.schedule);
  REQUIRE_EQ(total[0], sum);
  for (std::size_t i = 0; i < n; ++i) {
    const T next = static_cast<T>(expected + static_cast<T>(elements[i]));
    REQUIRE_EQ(output[i], Inclusive ? next : expected);
    expected = next;
  }
}
TEST_CASE("a sink that wants the total") {
  std::vector<std::uint8_t> bytes;
  std::vector<test::widened<std::uint64_t, 256>> wide;
  std::vector<test::widened<std::uint64_t, 2048>> large; // one warp a tile
  for (std::uint64_t i = 0; i < 3 * 16384; ++i)
    bytes.push_back(static_cast<std::uint8_t>(i * 37 + 1));
  for (std::uint64_t i = 0; i < 900; ++i) wide.push_back({i * i + 1, {}});
  for (std::uint64_t i = 0; i < 150; ++i) large.push_back({i * i + 1, {}});
  test::for_each_trial(30, [&](test::trial &one) {
    check_total<std::uint8_t, true>(one, bytes);
    check_total<std::uint8_t, false>(one, bytes);
    check_total<std::uint64_t, false>(one, wide);
    check_total<std::uint64_t, true>(one, large);
  });
}

/// Offsets from counts: one result more than there are items, for no items, too.
template <class Offset, class Count>
void check_offsets(test::trial &one, const std::vector<Count> &counts) {
  namespace core = lookback::detail;
  const Offset guard{77};
  const test::tree_sizes size(sizeof(Count), sizeof(Offset));
  const std::size_t n = one.random() % 8 == 0 ? 0 : test::pick_size(one, size, counts.size());
  INFO("n = ", n, ", tile = ", size.tile);
  std::vector<Offset> offsets(n + 2, guard), expected(1, Offset{0});
  for (std::size_t i = 0; i < n; ++i) expected.push_back(expected.back() + counts[i]);
  expected.push_back(guard);
  const auto problem = core::make_offsets(counts.data(), offsets.data(), offsets.data() + n);
  if (one.random() % 2 == 0 && n > size.tile)
    test::scan_ahead<test::look_ahead_by<3, 2, 2, 4, 2>>(problem, n, 3, one.schedule);
  else
    test::scan<1>(problem, n, one.schedule);
  REQUIRE_EQ(test::first_difference(offsets, expected), test::nowhere);
}
TEST_CASE("offsets from counts") {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> words;
  for (int i = 0; i < 3 * 4096; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + 1));
  for (int i = 0; i < 3 * 2048; ++i) words.push_back(i * 30011);
  test::for_each_trial(20, [&](test::trial &one) {
    check_offsets<std::uint32_t>(one, bytes);
    check_offsets<std::int64_t>(one, words);
  });
}

/// From the end: items from memory at any alignment.
template <class T, class Operator>
void check_reverse(test::trial &one, const std::vector<T> &elements, Operator op) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t n = test::pick_size(one, size, elements.size());
  const std::size_t shift_in = one.random() % 17, shift_out = one.random() % 17;
  INFO("n = ", n, ", tile = ", size.tile, ", shifts ", shift_in, ", ", shift_out);
  std::vector<T> items(elements.begin(), elements.begin() + n), expected;
  for (const T &item : items)
    expected.push_back(expected.empty() ? item : static_cast<T>(op(expected.back(), item)));
  std::reverse(items.begin(), items.end());
  std::reverse(expected.begin(), expected.end());
  test::guarded_buffer<T> x(n, shift_in, elements.back()), elsewhere(n, shift_out, elements.back());
  std::copy(items.begin(), items.end(), x.data());
  const auto how = n > size.tile ? one.random() % 3 : 0;
  // Not in place where copies take bytes while results overwrite them, and drop them: those of a
  // neighbouring tile, if the end is misaligned, and a pipeline's copies in vain.
  const bool aligned = reinterpret_cast<std::uintptr_t>(x.data() + n) % 16 == 0;
  test::guarded_buffer<T> &y = aligned && how == 0 && one.random() % 2 == 0 ? x : elsewhere;
  const T *const from = x.data();
  const auto problem =
      core::from_the_end(core::make_problem<true, T>(from, y.data(), op, core::no_initial{}),
                         static_cast<std::int64_t>(n));
  static_assert(core::can_stage<decltype(problem)>, "bytes are staged");
  if constexpr (core::can_look_ahead<decltype(problem)>::value) {
    if (how == 1) test::scan_ahead<test::look_ahead_by<3, 2, 2, 4, 2>>(problem, n, 3, one.schedule);
    if (how == 2)
      test::scan_ahead<test::load_ahead_by<4, 2, 4, 2, 2, 1>>(problem, n, 3, one.schedule);
  }
  if (how == 0 || !core::can_look_ahead<decltype(problem)>::value)
    test::scan<2>(problem, n, one.schedule);
  REQUIRE_EQ(test::first_difference(y.results(), expected), test::nowhere);
  REQUIRE(y.intact());
}
/// The same, where only the input or only the output is behind a reverse_iterator.
template <class T, class Operator>
void check_one_end(test::trial &one, const std::vector<T> &elements, Operator op) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t n = test::pick_size(one, size, elements.size());
  const std::size_t shift_in = one.random() % 17, shift_out = one.random() % 17;
  const bool from_end = one.random() % 2 == 0, ahead = n > size.tile && one.random() % 2 == 0;
  INFO("n = ", n, ", shifts ", shift_in, ", ", shift_out, ", from the end ", from_end);
  std::vector<T> items(elements.begin(), elements.begin() + n), expected;
  for (const T &item : items)
    expected.push_back(expected.empty() ? item : static_cast<T>(op(expected.back(), item)));
  auto &turned = from_end ? items : expected;
  std::reverse(turned.begin(), turned.end());
  test::guarded_buffer<T> x(n, shift_in, elements.back()), y(n, shift_out, elements.back());
  std::copy(items.begin(), items.end(), x.data());
  const auto scan = [&](auto in, auto out) {
    const auto problem = core::make_problem<true, T>(in, out, op, core::no_initial{});
    if (ahead)
      test::scan_ahead<test::look_ahead_by<3, 2, 2, 4, 2>>(problem, n, 3, one.schedule);
    else
      test::scan<2>(problem, n, one.schedule);
  };
  const T *const from = x.data();
  if (from_end)
    scan(std::make_reverse_iterator(from + n), y.data());
  else
    scan(from, std::make_reverse_iterator(y.data() + n));
  REQUIRE_EQ(test::first_difference(y.results(), expected), test::nowhere);
  REQUIRE(y.intact());
}
TEST_CASE("from the end") {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint16_t> halves;
  std::vector<std::uint32_t> words;
  std::vector<test::brackets> brackets;
  std::vector<test::long_interval> structs; // no vectors
  for (unsigned i = 0; i < 3 * 16384; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + 1));
  for (unsigned i = 0; i < 3 * 8192; ++i) halves.push_back(static_cast<std::uint16_t>(i * 37 + 1));
  for (unsigned i = 0; i < 3 * 4096; ++i) words.push_back(i * 30011);
  for (unsigned i = 0; i < 3 * 2048; ++i) brackets.push_back({i * 7 % 4, i * 5 % 3});
  for (unsigned i = 0; i < 3 * 1024; ++i)
    structs.push_back(test::make_interval<test::long_interval>({i, i + 1}));
  test::for_each_trial(20, [&](test::trial &one) {
    check_reverse(one, bytes, lookback::plus{});
    check_reverse(one, halves, lookback::plus{});
    check_reverse(one, words, lookback::plus{});
    check_reverse(one, brackets, test::concatenate_brackets{});
    check_reverse(one, structs, test::join_neighbours{});
    check_one_end(one, bytes, lookback::plus{});
    check_one_end(one, brackets, test::concatenate_brackets{});
  });
}
