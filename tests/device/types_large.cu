// SPDX-License-Identifier: MIT
#include <device/types.cuh>

TEST_CASE("decoupled look-back: types of 12 to 256 bytes") {
  test::check_type<test::sized<12>>("12 bytes");
  test::check_type<test::sized<16>>("16 bytes");
  test::check_type<test::sized<24>>("24 bytes");
  test::check_type<test::sized<32>>("32 bytes");
  test::check_type<test::sized<64, 64>>("64 bytes aligned to 64");
  test::check_type<test::sized<256>>("256 bytes");
}

TEST_CASE("decoupled look-back: a type that is not trivially copyable") {
  test::check_type<test::self_copied>("not trivially copyable");
}
