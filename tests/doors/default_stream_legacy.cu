// SPDX-License-Identifier: MIT
#define TEST_UNIT legacy_unit
#include <doors/default_stream_unit.cuh>
