// SPDX-License-Identifier: MIT
// Marks a function of the tests for both processors; nothing for a plain C++ compiler.
#pragma once

#if defined(__CUDACC__)
#define TEST_HOST_DEVICE __host__ __device__
#else
#define TEST_HOST_DEVICE
#endif
