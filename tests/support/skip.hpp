// SPDX-License-Identifier: MIT
// A test case that this machine cannot run: the program is then reported as skipped, unless another
// case fails.
#pragma once

#include <cstdio>

namespace test {

/// Whether a case of this program was skipped: gpu_main.cpp then ends with CTest's status for that.
inline bool skipped_a_case = false;

/// Prints why `name` cannot run here.
inline void skip(const char *name, const char *reason) {
  skipped_a_case = true;
  std::printf("skipped: %s: %s\n", name, reason);
}

} // namespace test
