// SPDX-License-Identifier: MIT
#include <lookback/core/tree.cuh>

#include <support/tree_reference.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace {

template <std::size_t BytesIn, std::size_t BytesOut = BytesIn>
void same_as_definition() {
  INFO("bytes in ", BytesIn, ", out ", BytesOut);
  using shape = lookback::tree_shape<BytesIn, BytesOut>;
  const test::tree_sizes defined(BytesIn, BytesOut);
  CHECK_EQ(std::size_t(shape::vector_elements), defined.vector);
  CHECK_EQ(std::size_t(shape::row_elements), defined.row);
  CHECK_EQ(std::size_t(shape::tile_elements), defined.tile);
  CHECK_EQ(std::size_t(shape::tile_elements) * shape::group_tiles, defined.group);
  CHECK_EQ(std::size_t(shape::row_vectors), 32u);
  CHECK_EQ(std::size_t(shape::tile_rows), defined.tile / defined.row);
}

} // namespace

TEST_CASE("tree_version") {
  // Results that users have kept depend on it: a change is a decision, not a side effect.
  CHECK_EQ(lookback::tree_version, 1);
}

TEST_CASE("tree_shape: figures") {
  using bytes_1 = lookback::tree_shape<1>;
  CHECK_EQ(bytes_1::vector_elements, 16);
  CHECK_EQ(bytes_1::tile_elements, 16384);
  using bytes_4 = lookback::tree_shape<4>;
  CHECK_EQ(bytes_4::vector_elements, 4);
  CHECK_EQ(bytes_4::tile_elements, 4096);
  using bytes_64 = lookback::tree_shape<64>;
  CHECK_EQ(bytes_64::vector_elements, 1);
  CHECK_EQ(bytes_64::tile_elements, 256);
}

TEST_CASE("tree_shape: as defined, at every width where it changes") {
  same_as_definition<1>();
  same_as_definition<2>();
  same_as_definition<3>();
  same_as_definition<4>();
  same_as_definition<5>();
  same_as_definition<8>();
  same_as_definition<9>();
  same_as_definition<12>();
  same_as_definition<16>();
  same_as_definition<17>();
  same_as_definition<32>();
  same_as_definition<33>();
  same_as_definition<64>();
  same_as_definition<65>();
  same_as_definition<128>();
  same_as_definition<129>();
  same_as_definition<256>();
  same_as_definition<257>();
  same_as_definition<512>();
  same_as_definition<513>();
  same_as_definition<4096>();
}

TEST_CASE("tree_shape: the wider of input and output") {
  same_as_definition<1, 4>();
  same_as_definition<4, 1>();
  same_as_definition<8, 24>();
}

TEST_CASE("tree_shape::tiles") {
  using shape = lookback::tree_shape<4>; // 4096 elements a tile
  CHECK_EQ(shape::tiles(0), 0u);
  CHECK_EQ(shape::tiles(1), 1u);
  CHECK_EQ(shape::tiles(4096), 1u);
  CHECK_EQ(shape::tiles(4097), 2u);
  CHECK_EQ(shape::tiles(~std::uint64_t{0}), std::uint64_t{1} << 52);
}
