// SPDX-License-Identifier: MIT
#include <catalogue/matrix.cuh>

using lookback::scan_then_add;
TEST_EVERY_NETWORK(scan_then_add)
