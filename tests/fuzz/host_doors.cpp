// SPDX-License-Identifier: MIT
// Arbitrary calls of lookback::host, by libFuzzer, against the loop from left to right: under
// AddressSanitizer and UBSan. Every array ends where its memory ends, so that an access behind it
// is an error.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <fuzzer/FuzzedDataProvider.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform_scan.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

namespace {

/// `n` elements from `shift` on, up to the end of an allocation.
template <class T>
class room {
public:
  room(std::size_t n, std::size_t shift, const T &filler)
      : shift_(shift), filler_(filler), memory_(shift + n, filler) {}
  room(const std::vector<T> &values, std::size_t shift)
      : room(values.size(), shift, values.front()) {
    for (std::size_t i = 0; i < values.size(); ++i) memory_[shift + i] = values[i];
  }
  T *data() { return memory_.data() + shift_; }
  std::vector<T> values() const {
    return {memory_.begin() + static_cast<std::ptrdiff_t>(shift_), memory_.end()};
  }
  bool intact() const {
    for (std::size_t i = 0; i < shift_; ++i)
      if (!(memory_[i] == filler_)) return false;
    return true;
  }

private:
  std::size_t shift_;
  T filler_;
  std::vector<T> memory_;
};

/// What libFuzzer's bytes say: everything but the elements themselves, which come from one number.
struct call {
  explicit call(FuzzedDataProvider &bytes, std::size_t element_bytes)
      : which(bytes.ConsumeIntegral<unsigned char>()), seed(bytes.ConsumeIntegral<std::uint16_t>()),
        in_shift(bytes.ConsumeIntegralInRange<std::size_t>(0, 20)),
        out_shift(bytes.ConsumeIntegralInRange<std::size_t>(0, 20)), in_place(bytes.ConsumeBool()),
        key_bits(bytes.ConsumeIntegralInRange<unsigned>(0, 18)), near_edge(bytes.ConsumeBool()) {
    // Anywhere, or at most two elements from where a row, a tile or a group ends; more than one
    // thread in few of them.
    const std::size_t row = element_bytes <= 16 ? 512 / element_bytes : 32,
                      tile = 16384 / element_bytes;
    const std::size_t most = bytes.ConsumeIntegralInRange<unsigned>(0, 63) == 0
                                 ? (std::size_t{3} << 20) / element_bytes
                                 : 5 * tile;
    if (near_edge) {
      const std::size_t edge[] = {1, row, tile, 32 * tile};
      n = edge[bytes.ConsumeIntegralInRange<unsigned>(0, 3)] *
              bytes.ConsumeIntegralInRange<std::size_t>(0, 4) +
          bytes.ConsumeIntegralInRange<std::size_t>(0, 4);
      n = n < 2 ? 0 : n - 2;
    } else {
      n = bytes.ConsumeIntegralInRange<std::size_t>(0, most);
    }
  }
  std::string description() const {
    return "call " + std::to_string(which) + ", n = " + std::to_string(n) + ", seed " +
           std::to_string(seed) + ", input shifted by " + std::to_string(in_shift) +
           ", output by " + std::to_string(out_shift) + (in_place ? ", in place" : "") +
           ", runs of up to 2^" + std::to_string(key_bits);
  }

  unsigned which;
  std::uint16_t seed;
  std::size_t in_shift, out_shift;
  bool in_place;
  unsigned key_bits;
  bool near_edge;
  std::size_t n = 0;
};

[[noreturn]] void fail(const call &one, const char *type, const std::string &what) {
  std::fprintf(stderr, "fuzz.host_doors: %s: %s (%s)\n", type, what.c_str(),
               one.description().c_str());
  std::abort(); // libFuzzer writes the input to a file and names it
}

/// Calls `scan(input, output)` in place or not, and compares with `expected`.
template <class T, class Scan>
void check(const call &one, const char *type, const std::vector<T> &in, const T &filler,
           const std::vector<T> &expected, Scan scan) {
  if (in.empty()) {
    room<T> nothing(0, one.out_shift, filler);
    if (scan(nothing.data(), nothing.data()) != nothing.data() || !nothing.intact())
      fail(one, type, "an empty scan did something");
    return;
  }
  room<T> input(in, one.in_shift), separate(in.size(), one.out_shift, filler);
  room<T> &output = one.in_place ? input : separate;
  if (scan(input.data(), output.data()) != output.data() + in.size())
    fail(one, type, "returns another end");
  const std::size_t at = test::first_difference(output.values(), expected);
  if (at != test::nowhere) fail(one, type, "result " + std::to_string(at) + " differs");
  if (!output.intact()) fail(one, type, "wrote before its output");
  if (!one.in_place && test::first_difference(input.values(), in) != test::nowhere)
    fail(one, type, "wrote to its input");
}

/// The five shapes that all others reduce to, with an operator that does not commute.
template <class T, class Operator>
void scan_any(const call &one, const char *type, const std::vector<T> &in, const T &filler,
              const T &initial, Operator op) {
  const std::size_t n = in.size();
  std::mt19937_64 random(one.seed + 1u);
  std::vector<std::uint16_t> keys;
  while (keys.size() < n)
    keys.insert(keys.end(),
                std::min<std::size_t>(n - keys.size(), 1 + random() % (1u << one.key_bits)),
                static_cast<std::uint16_t>(random()));
  const std::equal_to<> equal;
  switch (one.which % 5) {
  case 0:
    return check(one, type, in, filler, test::serial_inclusive(in, op), [&](const T *x, T *y) {
      return thrust::inclusive_scan(lookback::host, x, x + n, y, op);
    });
  case 1:
    return check(one, type, in, filler, test::serial_inclusive<T>(in, op, initial),
                 [&](const T *x, T *y) {
                   return lookback::inclusive_scan(lookback::host, x, x + n, y, initial, op);
                 });
  case 2:
    return check(one, type, in, filler, test::serial_exclusive(in, op, initial),
                 [&](const T *x, T *y) {
                   return thrust::exclusive_scan(lookback::host, x, x + n, y, initial, op);
                 });
  case 3:
    return check(one, type, in, filler, test::serial_inclusive_by_key(keys, in, equal, op),
                 [&](const T *x, T *y) {
                   return thrust::inclusive_scan_by_key(lookback::host, keys.data(),
                                                        keys.data() + n, x, y, equal, op);
                 });
  default:
    return check(one, type, in, filler, test::serial_exclusive_by_key(keys, in, equal, op, initial),
                 [&](const T *x, T *y) {
                   return lookback::exclusive_scan_by_key(
                       lookback::host, keys.data(), keys.data() + n, x, y, initial, equal, op);
                 });
  }
}

/// What has no operator, a transform, or keys that are overwritten.
void scan_words(const call &one, const std::vector<std::uint32_t> &in) {
  using word = std::uint32_t;
  const std::size_t n = in.size();
  const char *const type = "32-bit words";
  const test::plus<word> plus;
  const test::compose_words op;
  const test::triple_plus_one<word> f;
  const std::vector<word> mapped = test::transformed<word>(in, f);
  const word filler = 0xa5a5a5a5, initial = 0x10001;
  switch (one.which % 8) {
  case 0:
    return check(one, type, in, filler, test::serial_inclusive(in, plus),
                 [&](const word *x, word *y) {
                   return thrust::inclusive_scan(lookback::host, x, x + n, y);
                 });
  case 1:
    return check(one, type, in, filler, test::serial_exclusive(in, plus, word{0}),
                 [&](const word *x, word *y) {
                   return thrust::exclusive_scan(lookback::host, x, x + n, y);
                 });
  case 2:
    return check(one, type, in, filler, test::serial_exclusive(in, plus, initial),
                 [&](const word *x, word *y) {
                   return thrust::exclusive_scan(lookback::host, x, x + n, y, initial);
                 });
  case 3:
    return check(one, type, in, filler, test::serial_inclusive(mapped, op),
                 [&](const word *x, word *y) {
                   return thrust::transform_inclusive_scan(lookback::host, x, x + n, y, f, op);
                 });
  case 4:
    return check(one, type, in, filler, test::serial_inclusive<word>(mapped, op, initial),
                 [&](const word *x, word *y) {
                   return lookback::transform_inclusive_scan(lookback::host, x, x + n, y, f,
                                                             initial, op);
                 });
  case 5:
    return check(one, type, in, filler, test::serial_exclusive(mapped, op, initial),
                 [&](const word *x, word *y) {
                   return thrust::transform_exclusive_scan(lookback::host, x, x + n, y, f, initial,
                                                           op);
                 });
  case 6: { // an iterator that is no pointer
    return check(one, type, in, filler, test::serial_inclusive(mapped, op),
                 [&](const word *x, word *y) {
                   const auto first = thrust::make_transform_iterator(x, f);
                   return thrust::inclusive_scan(lookback::host, first,
                                                 first + static_cast<std::ptrdiff_t>(n), y, op);
                 });
  }
  default: { // the input is the keys too, and in place the results go over them
    return check(one, type, in, filler,
                 test::serial_inclusive_by_key(in, in, std::equal_to<word>{}, op),
                 [&](const word *x, word *y) {
                   return thrust::inclusive_scan_by_key(lookback::host, x, x + n, x, y,
                                                        std::equal_to<word>{}, op);
                 });
  }
  }
}

template <class T>
std::vector<T> elements(const call &one) {
  std::mt19937_64 random(one.seed);
  return test::random_values<T>(one.n, random);
}
/// Numbers whose sums are exact in any order.
template <class T>
std::vector<T> small_numbers(const call &one) {
  std::mt19937_64 random(one.seed);
  return test::random_below<T>(one.n, 8, random);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***arguments) {
  std::fprintf(stderr,
               "fuzz.host_doors: replay a failure with: %s FILE, the file that 'Test unit written "
               "to' names\n",
               (*arguments)[0]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  const auto type = bytes.ConsumeIntegralInRange<unsigned>(0, 6);
  const std::size_t widths[] = {1, 4, 4, 4, 8, 8, 24};
  const call one(bytes, widths[type]);
  const test::plus<float> float_sum;
  using wide = test::sized<24>;
  switch (type) {
  case 0:
    scan_any<std::uint8_t>(
        one, "bytes", elements<std::uint8_t>(one), 0xa5, 0x31,
        [](std::uint8_t f, std::uint8_t g) { return test::compose_packed(f, g); });
    break;
  case 1:
    scan_words(one, elements<std::uint32_t>(one));
    break;
  case 2:
    scan_words(one, small_numbers<std::uint32_t>(one));
    break;
  case 3:
    scan_any<float>(one, "float sums", small_numbers<float>(one), -1, 3, float_sum);
    break;
  case 4:
    scan_any<std::int64_t>(one, "64-bit sums", small_numbers<std::int64_t>(one), -1, 3,
                           lookback::plus{});
    break;
  case 5:
    scan_any<test::self_copied>(one, "objects", elements<test::self_copied>(one),
                                test::self_copied(9), test::self_copied(5), test::compose{});
    break;
  default:
    scan_any<wide>(one, "24-byte structs", elements<wide>(one), wide{{9}},
                   wide{{5, 7, 9, 11, 13, 15}}, test::compose{});
    break;
  }
  return 0;
}
