// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

template <class Network, int Threads, int Items>
using look_back_by_thread =
    lookback::decoupled_look_back<lookback::walk_by_thread, lookback::dynamic_ids, Network, Threads,
                                  Items>;
TEST_EVERY_NETWORK(look_back_by_thread)
