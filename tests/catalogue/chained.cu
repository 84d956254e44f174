// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

using lookback::chained;
TEST_EVERY_NETWORK(chained)
