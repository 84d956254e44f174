// SPDX-License-Identifier: MIT
// The look-back under many schedules: every kind of cell, tiles as small as the tree allows, more than one group of them.
#include <lookback/device/decoupled_look_back.cuh>

#include <simt/problems.hpp>

namespace {

/// T in elements of Bytes bytes, up to `tiles` tiles.
template <class T, std::size_t Bytes, int Warps>
void explore(std::uint64_t count, std::size_t tiles) {
  using element = test::widened<T, Bytes>;
  const auto elements = test::interval_elements<element, T>(tiles * test::tree_sizes(Bytes, sizeof(T)).tile);
  test::for_each_trial(count, [&](test::trial &one) { test::check_intervals<Warps, T>(one, elements); });
}

} // namespace

TEST_CASE("cells of one word, 1 warp") { explore<test::interval, 512, 1>(4000, 101); }
TEST_CASE("cells of two words, 1 warp") { explore<test::split_interval, 512, 1>(4000, 101); }
TEST_CASE("cells with a flag, 1 warp") { explore<test::long_interval, 512, 1>(2000, 101); }
TEST_CASE("cells with a flag, objects, 1 warp") { explore<test::owned_interval, 512, 1>(1000, 35); }
TEST_CASE("cells with a flag, objects, 4 warps") { explore<test::owned_interval, 128, 4>(500, 35); }
