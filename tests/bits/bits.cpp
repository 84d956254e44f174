// SPDX-License-Identifier: MIT
// The same bits, everywhere: one line for each type, operator and comparison, with the number of
// elements that differ. The tree is described in tree.md and evaluated literally by
// support/tree_reference.hpp. nvcc compiles this file too, and then the GPU is compared.
#include <bits/host.hpp>
#include <bits/kinds.hpp>
#if defined(__CUDACC__)
#include <bits/device.cuh>
#endif

#include <doctest/doctest.h>

TEST_CASE_TEMPLATE("the host's bits", Kind, BITS_KINDS) {
  TEST_RANDOM(random);
  bits::compare_host<Kind>(random);
}

#if defined(__CUDACC__)
TEST_CASE_TEMPLATE("the device's bits", Kind, BITS_KINDS) {
  TEST_RANDOM(random);
  bits::device_comparison<Kind>(random()).run(random);
}
#endif
