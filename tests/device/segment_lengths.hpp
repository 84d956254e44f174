// SPDX-License-Identifier: MIT
// Lengths of segments: at the edges of the tree, and of all kinds beside each other.
#pragma once

#include <support/tree_reference.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test {

/// Lengths at the edges of the tree, for elements of `bytes` bytes, and short ones.
template <class Random>
std::vector<std::int64_t> edge_lengths(std::size_t bytes, Random &random) {
  const tree_sizes size(bytes, bytes);
  std::vector<std::int64_t> lengths{0, 1, 2, 3};
  for (const std::size_t edge :
       {size.vector, size.row, 3 * size.row, size.tile / 2, size.tile - 2 * size.row, size.tile,
        2 * size.tile, size.group, 2 * size.group + size.tile})
    for (const int more : {-1, 0, 1}) {
      lengths.push_back(static_cast<std::int64_t>(edge) + more);
      for (auto few = random() % 4; few > 0; --few)
        lengths.push_back(static_cast<std::int64_t>(random() % 5));
    }
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}
/// Many short segments and one that is as long as all others together.
template <class Random>
std::vector<std::int64_t> giant_among_tiny(std::size_t count, Random &random) {
  std::vector<std::int64_t> lengths;
  for (std::size_t s = 0; s < count; ++s)
    lengths.push_back(static_cast<std::int64_t>(random() % 5));
  lengths[random() % count] = static_cast<std::int64_t>(2 * count);
  return lengths;
}
/// Mostly long segments, and a few short ones: more than 8 tiles a segment on average.
template <class Random>
std::vector<std::int64_t> mostly_long(std::size_t bytes, Random &random) {
  const tree_sizes size(bytes, bytes);
  std::vector<std::int64_t> lengths{0, 1, 2 * static_cast<std::int64_t>(size.row)};
  for (const std::size_t edge : {size.tile, 9 * size.tile, size.group, size.group + size.tile,
                                 3 * size.group, 5 * size.group + 7 * size.tile})
    for (const int more : {-1, 0, 1}) lengths.push_back(static_cast<std::int64_t>(edge) + more);
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}
/// More than 2^20 short segments of one or two vectors, and long ones among them that have 2100
/// tiles, mostly full.
template <class Random>
std::vector<std::int64_t> long_among_a_million(std::size_t bytes, Random &random) {
  const tree_sizes size(bytes, bytes);
  std::vector<std::int64_t> lengths;
  for (int s = 0; s < 1100000; ++s)
    lengths.push_back(static_cast<std::int64_t>((1 + random() % 2) * size.vector));
  for (std::size_t tiles = 0; tiles < 2100; tiles += 25)
    lengths[random() % lengths.size()] =
        static_cast<std::int64_t>(25 * size.tile - random() % size.tile);
  return lengths;
}
/// Lengths by a power law, up to 2^18.
template <class Random>
std::vector<std::int64_t> power_law(std::size_t count, Random &random) {
  std::vector<std::int64_t> lengths;
  for (std::size_t s = 0; s < count; ++s)
    lengths.push_back(static_cast<std::int64_t>(262144 / (1 + random() % 262144)));
  return lengths;
}

} // namespace test
