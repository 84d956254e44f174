// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

using lookback::auxiliary_block;
TEST_EVERY_NETWORK(auxiliary_block)
