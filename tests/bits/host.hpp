// SPDX-License-Identifier: MIT
// lookback::host against the literal tree, and against itself whatever the threads, the alignment
// and the place.
#pragma once

#include <bits/kinds.hpp>
#include <bits/line.hpp>

#include <lookback/host/host_scan.cuh>

#include <algorithm>

namespace bits {

template <class Kind>
std::vector<typename Kind::type> host_input(std::size_t n, std::uint64_t seed) {
  std::vector<typename Kind::type> in;
  in.reserve(n);
  for (std::size_t i = 0; i < n; ++i) in.push_back(Kind::element(noise(seed, i)));
  return in;
}

/// The tree as its definition reads. Its results for n elements are the first n of any longer
/// input.
template <class Kind>
std::vector<typename Kind::type> literal_tree(const std::vector<typename Kind::type> &in) {
  using T = typename Kind::type;
  return test::tree_scan<T>(in, typename Kind::operation{}, Kind::initial(), Kind::inclusive,
                            sizeof(T), sizeof(T));
}

/// Elements at a given distance from a 64-byte boundary, with guard bytes on both sides.
template <class T>
class shifted_elements {
public:
  shifted_elements(std::size_t n, std::size_t bytes)
      : n_(n), memory_(n * sizeof(T) + 4 * line, canary) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    first_ = line + (line - address % line) + bytes;
  }
  T *data() { return reinterpret_cast<T *>(memory_.data() + first_); }
  bool surroundings_intact() const {
    const auto untouched = [](unsigned char byte) { return byte == canary; };
    return std::all_of(memory_.begin(), memory_.begin() + first_, untouched) &&
           std::all_of(memory_.begin() + first_ + n_ * sizeof(T), memory_.end(), untouched);
  }

private:
  static constexpr std::size_t line = 64; // bytes
  static constexpr unsigned char canary = 0xc3;
  std::size_t n_, first_;
  std::vector<unsigned char> memory_;
};

#if !defined(__CUDA_ARCH__) // nvcc's pass for device code does not read lookback::host
/// As lookback::host does it.
template <class Kind>
void scan_on_host(const typename Kind::type *in, typename Kind::type *out, std::size_t n) {
  lookback::detail::scan(Kind::problem(in, out).over({n}));
}
/// By at most `threads` threads, past the caches or through them.
template <class Kind>
void scan_by_threads(const typename Kind::type *in, typename Kind::type *out, std::size_t n,
                     std::size_t threads, bool streams) {
  const auto problem = Kind::problem(in, out);
  using scan = lookback::detail::threaded_scan<std::decay_t<decltype(problem)>>;
  scan(problem.over({n}), streams).run(threads);
}
#else
template <class Kind>
void scan_on_host(const typename Kind::type *, typename Kind::type *, std::size_t);
template <class Kind>
void scan_by_threads(const typename Kind::type *, typename Kind::type *, std::size_t, std::size_t,
                     bool);
#endif

template <class Kind, class Random>
void compare_host(Random &random) {
  using T = typename Kind::type;
  constexpr std::size_t most = (std::size_t{1} << 20) + 1;
  const auto in = host_input<Kind>(most, random());
  const auto expected = literal_tree<Kind>(in);
  std::vector<T> out(most);
  const auto poison = [&] { std::memset(static_cast<void *>(out.data()), 0x5a, most * sizeof(T)); };

  line<Kind> literal("host, literal tree");
  for (const std::size_t n : lengths<Kind>(300, {20}, random)) {
    poison();
    scan_on_host<Kind>(in.data(), out.data(), n);
    literal.add(n, differing(out.data(), expected.data(), n));
  }
  literal.finish();

  // Lengths with several groups, of which the last and its last tile are incomplete.
  const auto long_length = [&] { return most / 2 + random() % (most / 2); };
  line<Kind> reruns("host, 100 runs"), threads("host, 1 to 8 threads"),
      places("host, alignments, also in place");
  for (int run = 0; run < 100; ++run) {
    const std::size_t n = run == 0 ? most : 20000 + random() % 100000;
    poison();
    scan_by_threads<Kind>(in.data(), out.data(), n, 2, run % 2 == 0);
    reruns.add(n, differing(out.data(), expected.data(), n));
  }
  reruns.finish();
  for (const std::size_t count : {1, 2, 3, 5, 8}) {
    const std::size_t n = long_length();
    poison();
    scan_by_threads<Kind>(in.data(), out.data(), n, count, n % 2 == 0);
    threads.add(n, differing(out.data(), expected.data(), n), std::to_string(count) + " threads");
  }
  threads.finish();
  for (std::size_t from = 0; from < 32; from += alignof(T))
    for (std::size_t to = 0; to < 32; to += alignof(T)) {
      const bool in_place = from == to;
      const std::size_t n = 1 + random() % 40000;
      shifted_elements<T> source(n, from), target(n, to);
      std::copy(in.begin(), in.begin() + n, source.data());
      T *const results = in_place ? source.data() : target.data();
      if (const std::size_t threads = random() % 3; threads == 0)
        scan_on_host<Kind>(source.data(), results, n);
      else
        scan_by_threads<Kind>(source.data(), results, n, threads, random() % 2 == 0);
      CHECK(source.surroundings_intact());
      CHECK(target.surroundings_intact());
      places.add(n, differing(static_cast<const T *>(results), expected.data(), n),
                 "from byte " + std::to_string(from) + " to byte " + std::to_string(to));
    }
  places.finish();
}

} // namespace bits
