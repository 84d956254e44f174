// SPDX-License-Identifier: MIT
// Input lengths at which something changes: the edges of the reduction tree for the type at hand,
// and random ones between.
#pragma once

#include <support/tree_reference.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace test {

/// Edges of vector, row, tile and group, each with both neighbours, up to `largest`; and
/// `random_count` random lengths.
template <class Random>
std::vector<std::size_t> edge_sizes(std::size_t bytes_in, std::size_t bytes_out,
                                    std::size_t largest, Random &random, int random_count = 4) {
  const tree_sizes size(bytes_in, bytes_out);
  std::vector<std::size_t> sizes{0, 1, 2, 3};
  for (std::size_t edge : {size.vector, size.row, size.tile, 2 * size.tile, 16 * size.tile,
                           size.group, 2 * size.group})
    for (std::size_t n : {edge - 1, edge, edge + 1})
      if (n <= largest) sizes.push_back(n);
  for (int i = 0; i < random_count; ++i) sizes.push_back(random() % (largest + 1));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

} // namespace test
