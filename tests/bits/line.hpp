// SPDX-License-Identifier: MIT
// One line of the program's output: how many elements differ between two ways to the same results.
#pragma once

#include <support/random.hpp>
#include <support/sizes.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace bits {

/// Elements of `a` and `b` whose bits differ.
template <class T>
std::uint64_t differing(const T *a, const T *b, std::size_t n) {
  if (std::memcmp(static_cast<const void *>(a), static_cast<const void *>(b), n * sizeof(T)) == 0)
    return 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < n; ++i)
    count += std::memcmp(static_cast<const void *>(a + i), static_cast<const void *>(b + i),
                         sizeof(T)) != 0;
  return count;
}

/// Counts one comparison of one kind, over many runs.
template <class Kind>
class line {
public:
  explicit line(std::string comparison) : comparison_(std::move(comparison)) {}

  /// `different` of the `n` elements of a run differ; `how` names the run.
  void add(std::uint64_t n, std::uint64_t different, const std::string &how = "") {
    ++runs_;
    compared_ += n;
    differing_ += different;
    if (different != 0 && first_.empty())
      first_ = "n = " + std::to_string(n) + (how.empty() ? "" : ", ") + how;
  }
  /// Prints the line, and fails unless nothing differs. A line without a run is a failure too.
  void finish() const {
    std::printf("%-14s %-26s %-42s %6llu runs %15llu elements: %llu differ%s%s\n", Kind::type_name,
                Kind::operation_name, comparison_.c_str(), static_cast<unsigned long long>(runs_),
                static_cast<unsigned long long>(compared_),
                static_cast<unsigned long long>(differing_), first_.empty() ? "" : ", first at ",
                first_.c_str());
    std::fflush(stdout);
    INFO(Kind::type_name, ", ", Kind::operation_name, ", ", comparison_, ", first at ", first_);
    CHECK_EQ(differing_, 0u);
    CHECK_NE(runs_, 0u);
  }
  /// Instead: says why there is nothing to compare.
  void skip(const char *why) const {
    std::printf("%-14s %-26s %-42s not compared: %s\n", Kind::type_name, Kind::operation_name,
                comparison_.c_str(), why);
  }

private:
  std::string comparison_, first_;
  std::uint64_t runs_ = 0, compared_ = 0, differing_ = 0;
};

/// Random lengths up to 70,000, every edge of the tree with both neighbours, and the given powers
/// of two with theirs.
template <class Kind, class Random>
std::vector<std::size_t> lengths(int random_count, std::initializer_list<int> exponents,
                                 Random &random) {
  const std::size_t bytes = sizeof(typename Kind::type),
                    group = test::tree_sizes(bytes, bytes).group;
  auto sizes = test::edge_sizes(bytes, bytes, 2 * group + 1, random);
  sizes.erase(sizes.begin()); // 0
  for (int i = 0; i < random_count; ++i) sizes.push_back(1 + random() % 70000);
  for (const int e : exponents)
    for (const std::size_t n :
         {(std::size_t{1} << e) - 1, std::size_t{1} << e, (std::size_t{1} << e) + 1})
      sizes.push_back(n);
  return sizes;
}

} // namespace bits
