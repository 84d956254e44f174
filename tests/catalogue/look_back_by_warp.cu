// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

template <class Network, int Threads, int Items>
using look_back_by_warp =
    lookback::decoupled_look_back<lookback::walk_by_warp, lookback::dynamic_ids, Network, Threads,
                                  Items>;
TEST_EVERY_NETWORK(look_back_by_warp)
TEST_CASE("look_back_by_warp, warp_vectors") {
  test::check_algorithm<look_back_by_warp<lookback::warp_vectors, 64, 16>, 1024>();
}
