// SPDX-License-Identifier: MIT
// Every door of lookback.
#pragma once

#include <lookback/execution_policy.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/catalogue.cuh>
#include <lookback/device_scan.cuh>
#endif
