// SPDX-License-Identifier: MIT
// From a problem to its launches on a stream.
#pragma once

#include <lookback/dispatch/algorithm.cuh>
#include <lookback/dispatch/launch.cuh>
