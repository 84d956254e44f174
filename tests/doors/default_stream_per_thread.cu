// SPDX-License-Identifier: MIT
#define TEST_UNIT per_thread_unit
#include <doors/default_stream_unit.cuh>
