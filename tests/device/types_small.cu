// SPDX-License-Identifier: MIT
#include <device/types.cuh>

TEST_CASE("decoupled look-back: types of 1 to 8 bytes") {
  test::check_type<test::sized<1>>("1 byte");
  test::check_type<test::sized<2>>("2 bytes");
  test::check_type<test::sized<3>>("3 bytes");
  test::check_type<test::sized<4>>("4 bytes");
  test::check_type<test::sized<8>>("8 bytes");
}

TEST_CASE("decoupled look-back: a type without a default constructor") {
  test::check_type<test::no_default>("no default constructor");
}
