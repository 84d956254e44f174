// SPDX-License-Identifier: MIT
// Selections by every path: any share of the items, at any alignment, in place, with and without
// the rejected ones.
#include <lookback/core/candidates.cuh>
#include <lookback/dispatch/dispatch.cuh>

#include <support/check_paths.cuh>
#include <support/types.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <algorithm>
#include <iterator>

namespace {

namespace core = lookback::detail;

/// About `share` of 256 of all numbers, and counts its calls.
struct keeps_share {
  unsigned share;
  unsigned long long *calls = nullptr;
  template <class T>
  __host__ __device__ bool operator()(const T &x) const {
#if defined(__CUDA_ARCH__)
    if (calls != nullptr) atomicAdd(calls, 1ull);
#endif
    return (static_cast<std::uint32_t>(x) * 0x9E3779B1u >> 24) < share;
  }
};

/// 12 bytes, so that no vector holds them.
struct triple {
  std::uint32_t a, b, c;
  __host__ __device__ explicit operator std::uint32_t() const { return a; }
  __host__ __device__ friend bool operator==(const triple &x, const triple &y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};
template <class T>
T item(std::uint64_t number) {
  if constexpr (std::is_same<T, triple>::value) {
    const auto low = static_cast<std::uint32_t>(number);
    return {low, low + 1, low * 3};
  } else {
    return static_cast<T>(number);
  }
}
/// In runs of up to `longest` equal items.
template <class T, class Random>
std::vector<T> items_in_runs(std::size_t n, std::uint64_t longest, Random &random) {
  std::vector<T> items;
  while (items.size() < n) {
    const T x = item<T>(random());
    for (std::uint64_t left = 1 + random() % longest; left > 0 && items.size() < n; --left)
      items.push_back(x);
  }
  return items;
}

template <class T>
struct parts {
  std::vector<T> kept, rejected;
};
template <class T, class Keeps>
parts<T> parted(const std::vector<T> &items, Keeps keeps) {
  parts<T> result;
  for (std::size_t i = 0; i < items.size(); ++i)
    (keeps(i) ? result.kept : result.rejected).push_back(items[i]);
  return result;
}

/// `make(in, out, rejected, count)` by every path over `in`, which is the output, too, if
/// `in_place`. `expected` are the results; what is behind them must be left alone.
template <class T, class Random, class Make>
void check_selection(const std::vector<T> &in, const std::vector<T> &expected,
                     const std::vector<T> &expected_rejected, std::int64_t expected_count,
                     bool in_place, Random &random, Make make) {
  const std::size_t n = in.size();
  const test::guarded_buffer<T> input(in, test::random_shift(random));
  test::guarded_buffer<T> output(n, test::random_shift(random)),
      rejected(n, test::random_shift(random));
  const test::guarded_buffer<std::int64_t> count(1);
  const auto problem = make(in_place ? static_cast<const T *>(output.data()) : input.data(),
                            output.data(), rejected.data(), count.data());
  for (const test::path by : test::paths) {
    INFO(doctest::String(test::name_of(by)), ", n = ", n, ", kept ", expected_count,
         doctest::String(in_place ? ", in place" : ""));
    output.poison();
    rejected.poison();
    if (in_place) output.upload(in);
    const auto before = output.download(), rejected_before = rejected.download();
    std::size_t bytes = 0;
    const auto length = static_cast<std::int64_t>(n);
    REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, length, nullptr));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    if (!test::supported(problem, by, length,
                         test::scan_by(by, temporary.data(), bytes, problem, length, nullptr)))
      continue;
    const auto with = [](std::vector<T> all, const std::vector<T> &first) {
      std::copy(first.begin(), first.end(), all.begin());
      return all;
    };
    if (n > 0) CHECK_EQ(count.download()[0], expected_count); // else the door writes it
    CHECK_EQ(test::first_difference(output.download(), with(before, expected)), test::nowhere);
    CHECK_EQ(test::first_difference(rejected.download(), with(rejected_before, expected_rejected)),
             test::nowhere);
    CHECK(output.guards_intact());
    CHECK(rejected.guards_intact());
    CHECK(count.guards_intact());
    CHECK(temporary.guards_intact());
  }
}

constexpr unsigned shares[] = {0, 256, 128, 3, 250};

/// Lengths and shares for problems of items T.
template <class T, class Random, class Problem, class Body>
void for_each_length(Random &random, const Problem &problem, Body body) {
  // Some of the edges in every run: of each there are results of four paths to compare.
  const auto all = test::lengths(sizeof(T), random, problem);
  std::vector<std::size_t> lengths;
  std::sample(all.begin(), all.end(), std::back_inserter(lengths), 24, random);
  if constexpr (core::half_tiles<Problem>::possible) { // one cluster takes up to 16 of them
    constexpr std::size_t half = core::half_tiles<Problem>::half::shape::tile_elements;
    for (std::size_t tiles : {1, 2, 3, 15, 16}) lengths.push_back(tiles * half - 1 + random() % 3);
  }
  for (std::size_t k = 0; k < lengths.size(); ++k) body(lengths[k], shares[(k + random()) % 5]);
}

} // namespace

TEST_CASE_TEMPLATE("selection: by a predicate, which is called once for every item", T,
                   std::uint8_t, std::uint32_t, std::uint64_t, triple) {
  TEST_RANDOM(random);
  const test::guarded_buffer<unsigned long long> calls(1);
  const auto make = [&](unsigned share, bool counts) {
    return [=, &calls](const T *x, T *y, T *, std::int64_t *count) {
      using by = core::by_predicate<keeps_share, true>;
      return core::make_selection(x, by{{share, counts ? calls.data() : nullptr}}, y,
                                  core::dropped{}, count);
    };
  };
  for_each_length<T>(
      random, make(0, false)(nullptr, nullptr, nullptr, nullptr),
      [&](std::size_t n, unsigned share) {
        const auto in = items_in_runs<T>(n, 1 + random() % 100, random);
        const auto sides = parted(in, [&](std::size_t i) { return keeps_share{share}(in[i]); });
        check_selection(in, sides.kept, {}, static_cast<std::int64_t>(sides.kept.size()),
                        random() % 2 == 0, random, make(share, false));
      });
  const std::size_t n = 300001;
  const auto in = items_in_runs<T>(n, 1, random);
  const auto sides = parted(in, [&](std::size_t i) { return keeps_share{128}(in[i]); });
  const test::guarded_buffer<T> input(in), output(n);
  const test::guarded_buffer<std::int64_t> count(1);
  const auto problem = make(128, true)(input.data(), output.data(), nullptr, count.data());
  for (const test::path by : {test::path::look_back, test::path::fastest}) {
    REQUIRE_CUDA(cudaMemset(calls.data(), 0, sizeof(unsigned long long)));
    std::size_t bytes = 0;
    REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, n, nullptr));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    REQUIRE_CUDA(test::scan_by(by, temporary.data(), bytes, problem, n, nullptr));
    CHECK_EQ(calls.download()[0], n);
    CHECK_EQ(count.download()[0], static_cast<std::int64_t>(sides.kept.size()));
  }
}

TEST_CASE_TEMPLATE("selection: by a stencil, and the rejected items elsewhere", T, std::uint8_t,
                   double) {
  TEST_RANDOM(random);
  std::vector<std::uint16_t> marks;
  const std::uint16_t *stencil = nullptr;
  unsigned share = 0;
  const auto make = [&](const T *x, T *y, T *rejected, std::int64_t *count) {
    using by = core::by_stencil<const std::uint16_t *, keeps_share, false>;
    return core::make_selection(x, by{{share}, stencil}, y, core::rejected_to<T *>{rejected},
                                count);
  };
  for_each_length<T>(
      random, make(nullptr, nullptr, nullptr, nullptr), [&](std::size_t n, unsigned of_256) {
        const auto in = test::random_below<T>(n, 250, random);
        marks = test::random_below<std::uint16_t>(n, 65536, random);
        share = of_256;
        const test::guarded_buffer<std::uint16_t> device_marks(marks, test::random_shift(random));
        stencil = device_marks.data();
        const auto sides = parted(in, [&](std::size_t i) { return !keeps_share{share}(marks[i]); });
        check_selection(in, sides.kept, sides.rejected,
                        static_cast<std::int64_t>(sides.kept.size()), false, random, make);
      });
}

TEST_CASE_TEMPLATE("selection: the rejected items from the end", T, std::uint16_t, std::int64_t) {
  TEST_RANDOM(random);
  unsigned share = 0;
  const auto make = [&](const T *x, T *y, T *, std::int64_t *count) {
    return core::make_selection(x, core::by_predicate<keeps_share, true>{{share}}, y,
                                core::rejected_from_end<T *>{y}, count);
  };
  for_each_length<T>(
      random, make(nullptr, nullptr, nullptr, nullptr), [&](std::size_t n, unsigned of_256) {
        share = of_256;
        const auto in = items_in_runs<T>(n, 1 + random() % 100, random);
        const auto sides = parted(in, [&](std::size_t i) { return keeps_share{share}(in[i]); });
        auto expected = sides.kept;
        expected.insert(expected.end(), sides.rejected.rbegin(), sides.rejected.rend());
        check_selection(in, expected, {}, static_cast<std::int64_t>(sides.kept.size()), false,
                        random, make);
      });
}

TEST_CASE_TEMPLATE("selection: the first item of every run", T, std::uint8_t, std::int32_t,
                   triple) {
  TEST_RANDOM(random);
  const auto make = [](const T *x, T *y, T *, std::int64_t *count) {
    using by = core::by_run<const T *, lookback::equal_to, true>;
    return core::make_selection(x, by{x, {}}, y, core::dropped{}, count);
  };
  for_each_length<T>(
      random, make(nullptr, nullptr, nullptr, nullptr), [&](std::size_t n, unsigned) {
        const auto in = items_in_runs<T>(n, std::uint64_t{1} << random() % 14, random);
        const auto sides =
            parted(in, [&](std::size_t i) { return i == 0 || !(in[i] == in[i - 1]); });
        check_selection(in, sides.kept, {}, static_cast<std::int64_t>(sides.kept.size()),
                        random() % 2 == 0, random, make);
      });
}

namespace {
struct add_one {
  __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return x + 1; }
};
} // namespace

TEST_CASE("selection: from and to iterators") {
  TEST_RANDOM(random);
  using T = std::uint32_t;
  std::size_t length = 0;
  unsigned share = 0;
  const auto make = [&](const T *x, T *y, T *, std::int64_t *count) {
    return core::make_selection(
        thrust::make_reverse_iterator(x + length), core::by_predicate<keeps_share, true>{{share}},
        thrust::make_transform_output_iterator(y, add_one{}), core::dropped{}, count);
  };
  for_each_length<T>(
      random, make(nullptr, nullptr, nullptr, nullptr), [&](std::size_t n, unsigned of_256) {
        length = n;
        share = of_256;
        const auto in = items_in_runs<T>(n, 1, random);
        std::vector<T> kept;
        for (std::size_t i = n; i-- > 0;)
          if (keeps_share{share}(in[i])) kept.push_back(in[i] + 1);
        check_selection(in, kept, {}, static_cast<std::int64_t>(kept.size()), false, random, make);
      });
}
