// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

using lookback::reduce_then_scan;
TEST_EVERY_NETWORK(reduce_then_scan)
