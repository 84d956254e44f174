// SPDX-License-Identifier: MIT
// Results that are bits of words, behind proxies: no word is written by two threads. What is known
// to be safe still has several.
#include <lookback/execution_policy.cuh>

#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/copy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/partition.h>
#include <thrust/scan.h>
#include <thrust/tuple.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace {

using lookback::host;
using byte = std::uint8_t;
using bits = std::vector<bool>;

/// Whether several threads have come. The first waits a while for a second one: otherwise it might
/// have done all there is to do before the second has started. (A second one may have started and
/// wait for what the first has yet to publish.)
class meeting {
public:
  void come() {
    const std::thread::id me = std::this_thread::get_id();
    std::thread::id first = first_.load();
    if (first == me || several_.load(std::memory_order_relaxed)) return;
    if (first == std::thread::id{} && first_.compare_exchange_strong(first, me)) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
      while (!several_.load() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    } else {
      several_ = true;
    }
  }
  bool several() const { return several_; }

private:
  std::atomic<std::thread::id> first_{};
  std::atomic<bool> several_{false};
};
/// Bits of words that remember which thread wrote them.
struct watched_bits {
  explicit watched_bits(std::size_t n) : words(n / 64 + 1), writers(n / 64 + 1) {}
  void write(std::size_t i, bool bit) {
    who.come();
    const std::thread::id me = std::this_thread::get_id(), before = writers[i / 64].exchange(me);
    if (before != std::thread::id{} && before != me) ++shared;
    const std::uint64_t mask = std::uint64_t{1} << i % 64;
    bit ? words[i / 64].fetch_or(mask) : words[i / 64].fetch_and(~mask);
  }
  bool read(std::size_t i) const { return words[i / 64].load() >> i % 64 & 1; }

  std::vector<std::atomic<std::uint64_t>> words;
  std::vector<std::atomic<std::thread::id>> writers;
  std::atomic<long> shared{0};
  meeting who;
};

/// An output iterator over them, like that of std::vector<bool>, but not of the standard library.
class bit_iterator {
public:
  class reference {
  public:
    reference(watched_bits *to, std::ptrdiff_t at) : to_(to), at_(at) {}
    const reference &operator=(bool bit) const {
      return to_->write(static_cast<std::size_t>(at_), bit), *this;
    }
    operator bool() const { return to_->read(static_cast<std::size_t>(at_)); }

  private:
    watched_bits *to_;
    std::ptrdiff_t at_;
  };
  using value_type = bool;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  bit_iterator() = default;
  bit_iterator(watched_bits *to, std::ptrdiff_t at) : to_(to), at_(at) {}
  reference operator*() const { return {to_, at_}; }
  reference operator[](std::ptrdiff_t i) const { return {to_, at_ + i}; }
  bit_iterator &operator+=(std::ptrdiff_t i) { return at_ += i, *this; }
  bit_iterator &operator-=(std::ptrdiff_t i) { return at_ -= i, *this; }
  bit_iterator &operator++() { return ++at_, *this; }
  bit_iterator &operator--() { return --at_, *this; }
  bit_iterator operator++(int) { return {to_, at_++}; }
  bit_iterator operator--(int) { return {to_, at_--}; }
  friend bit_iterator operator+(bit_iterator it, std::ptrdiff_t i) { return it += i; }
  friend bit_iterator operator-(bit_iterator it, std::ptrdiff_t i) { return it -= i; }
  friend std::ptrdiff_t operator-(const bit_iterator &a, const bit_iterator &b) {
    return a.at_ - b.at_;
  }
  friend bool operator==(const bit_iterator &a, const bit_iterator &b) { return a.at_ == b.at_; }
  friend bool operator!=(const bit_iterator &a, const bit_iterator &b) { return a.at_ != b.at_; }

private:
  watched_bits *to_ = nullptr;
  std::ptrdiff_t at_ = 0;
};

struct odd {
  byte operator()(byte a, byte b) const { return a ^ b; }
};
struct itself {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};
/// Records the calling thread in `who`.
struct recording {
  meeting *who;
  template <class T>
  T operator()(T x) const {
    who->come();
    return x;
  }
};
using byte_pair = thrust::tuple<byte, byte>;
struct odd_pairs {
  byte_pair operator()(const byte_pair &a, const byte_pair &b) const {
    return {thrust::get<0>(a) ^ thrust::get<0>(b), thrust::get<1>(a) ^ thrust::get<1>(b)};
  }
};

/// So many that several threads share them, and bits that begin within a word, as then those of
/// every tile do.
struct input {
  template <class Random>
  explicit input(Random &random)
      : n((std::size_t{5} << 20) + random() % 1000), begin(1 + random() % 63),
        values(test::random_below<byte>(n, 2, random)),
        expected(test::serial_inclusive(values, odd{})) {}
  std::size_t n, begin;
  std::vector<byte> values, expected;
};

template <class Output>
void check_one_thread(const input &x, watched_bits &out, Output result) {
  thrust::inclusive_scan(lookback::host, x.values.data(), x.values.data() + x.n, result, odd{});
  CHECK_EQ(out.shared, 0);
  CHECK_FALSE(out.who.several());
}

template <class Iterator>
inline constexpr bool separate = lookback::detail::separate_results<Iterator>::value;
template <class Output>
using transformed = thrust::transform_output_iterator<itself, Output>;

// Lvalues.
static_assert(separate<int *> && separate<volatile int *> && separate<std::vector<int>::iterator>);
static_assert(separate<std::deque<bool>::iterator> &&
              separate<thrust::host_vector<bool>::iterator>);
static_assert(separate<thrust::pointer<int, thrust::host_system_tag>>);
// Wrappers around them.
static_assert(separate<transformed<int *>> &&
              separate<transformed<transformed<std::deque<int>::iterator>>>);
static_assert(separate<thrust::zip_iterator<thrust::tuple<int *, transformed<char *>>>>);
static_assert(separate<thrust::permutation_iterator<int *, const int *>>);
static_assert(separate<std::reverse_iterator<transformed<int *>>> &&
              separate<thrust::reverse_iterator<int *>>);
static_assert(separate<thrust::transform_input_output_iterator<itself, itself, int *>>);
static_assert(separate<thrust::discard_iterator<>>);
// Bits, and proxies that nothing is known of.
static_assert(!separate<bits::iterator> && !separate<std::reverse_iterator<bits::iterator>>);
static_assert(!separate<transformed<bits::iterator>> &&
              !separate<transformed<transformed<bits::iterator>>>);
static_assert(!separate<thrust::zip_iterator<thrust::tuple<int *, bits::iterator>>>);
static_assert(!separate<thrust::permutation_iterator<bits::iterator, const int *>>);
static_assert(!separate<thrust::transform_input_output_iterator<itself, itself, bits::iterator>>);
static_assert(!separate<bit_iterator> && !separate<std::reverse_iterator<bit_iterator>>);
#if THRUST_VERSION >= 300200
static_assert(separate<cuda::transform_output_iterator<itself, int *>> &&
              separate<cuda::discard_iterator>);
static_assert(separate<cuda::zip_iterator<int *, char *>> &&
              !separate<cuda::zip_iterator<int *, bits::iterator>>);
static_assert(!separate<cuda::transform_output_iterator<itself, bits::iterator>>);
#endif

} // namespace

TEST_CASE("lookback::host: no word of a proxy's bits is written by two threads") {
  TEST_RANDOM(random);
  const input x(random);
  watched_bits out(x.begin + x.n);
  const bit_iterator first(&out, static_cast<std::ptrdiff_t>(x.begin));
  SUBCASE("the proxy itself") { check_one_thread(x, out, first); }
  SUBCASE("transformed") {
    check_one_thread(x, out, thrust::make_transform_output_iterator(first, itself{}));
  }
  SUBCASE("permuted") {
    const thrust::counting_iterator<std::ptrdiff_t> index(0);
    check_one_thread(x, out, thrust::make_permutation_iterator(first, index));
  }
  for (std::size_t i = 0; i < x.n; ++i)
    if (out.read(x.begin + i) != (x.expected[i] != 0)) FAIL("result ", i, " differs");
}

TEST_CASE("lookback::host: no word of the bits that a selection writes is written by two threads") {
  TEST_RANDOM(random);
  const input x(random);
  watched_bits out(x.begin + x.n), rejected(x.begin + x.n);
  const auto at = [&](watched_bits &to) {
    return bit_iterator(&to, static_cast<std::ptrdiff_t>(x.begin));
  };
  const auto kept = [n = std::size_t{0}](byte) mutable { return n++ % 3 != 0; };
  const byte *const first = x.values.data(), *const last = first + x.n;
  std::ptrdiff_t count = 0;
  SUBCASE("copies") { count = thrust::copy_if(host, first, last, at(out), kept) - at(out); }
  SUBCASE("one part of a partition") {
    std::vector<byte> others(x.n);
    count = thrust::partition_copy(host, first, last, at(out), others.data(), kept).first - at(out);
  }
  SUBCASE("the other part") {
    std::vector<byte> others(x.n);
    thrust::partition_copy(host, first, last, others.data(), at(rejected), kept);
  }
  CHECK_EQ(out.shared, 0);
  CHECK_EQ(rejected.shared, 0);
  CHECK_FALSE((out.who.several() || rejected.who.several()));
  // The calling thread alone calls the predicate, in order.
  std::ptrdiff_t rank = 0, others = 0;
  for (std::size_t i = 0; i < x.n; ++i) {
    const bool is_kept = i % 3 != 0, bit = x.values[i] != 0;
    const std::ptrdiff_t place = is_kept ? rank++ : others++;
    if (is_kept && place < count && out.read(x.begin + static_cast<std::size_t>(place)) != bit)
      FAIL("result ", place, " differs");
    if (!is_kept && count == 0 && rejected.read(x.begin + static_cast<std::size_t>(place)) != bit)
      FAIL("rejected item ", place, " differs");
  }
  CHECK((count == 0 || count == rank));
}

TEST_CASE("lookback::host: std::vector<bool> behind a wrapper has one thread") {
  TEST_RANDOM(random);
  const input x(random);
  bits out(x.begin + x.n), expected(x.begin);
  expected.insert(expected.end(), x.expected.begin(), x.expected.end());
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(x.begin);
  meeting who;
  SUBCASE("transformed") {
    thrust::inclusive_scan(lookback::host, x.values.begin(), x.values.end(),
                           thrust::make_transform_output_iterator(first, recording{&who}), odd{});
  }
  SUBCASE("zipped and transformed") {
    std::vector<byte> second(x.n);
    const auto zipped = thrust::make_zip_iterator(x.values.begin(), x.values.begin());
    thrust::inclusive_scan(lookback::host, zipped, zipped + static_cast<std::ptrdiff_t>(x.n),
                           thrust::make_transform_output_iterator(
                               thrust::make_zip_iterator(first, second.begin()), recording{&who}),
                           odd_pairs{});
    CHECK_EQ(test::first_difference(second, x.expected), test::nowhere);
  }
  CHECK_FALSE(who.several());
  CHECK(out == expected);
}

TEST_CASE("lookback::host: bytes behind wrappers, and computed input, have several threads") {
  if (std::thread::hardware_concurrency() < 2) {
    MESSAGE("not tested: one core");
    return;
  }
  TEST_RANDOM(random);
  const input x(random);
  std::vector<byte> out(x.n);
  meeting who;
  SUBCASE("transformed output") {
    thrust::inclusive_scan(lookback::host, x.values.begin(), x.values.end(),
                           thrust::make_transform_output_iterator(out.begin(), recording{&who}),
                           odd{});
  }
  SUBCASE("bits as input") {
    const bits in(x.values.begin(), x.values.end());
    const auto first = thrust::make_transform_iterator(in.begin(), recording{&who});
    thrust::inclusive_scan(lookback::host, first, first + static_cast<std::ptrdiff_t>(x.n),
                           out.begin(), odd{});
  }
  CHECK(who.several());
  CHECK_EQ(test::first_difference(out, x.expected), test::nowhere);
}
