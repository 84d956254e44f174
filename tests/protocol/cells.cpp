// SPDX-License-Identifier: MIT
// What a published cell looks like in memory.
#include <lookback/device/tile_state.cuh>

#include <support/types.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {

struct plain_memory {
  static constexpr bool has_word_pairs = true;
  struct alignas(16) word_pair {
    std::uint64_t low, high;
  };
  template <class Word>
  static Word load_relaxed(const Word *address) {
    return *address;
  }
  template <class Word>
  static void store_relaxed(Word *address, Word value) {
    *address = value;
  }
};

} // namespace

/// Bytes that nobody wrote would make two runs differ, and tell a reader what the stack held.
TEST_CASE_TEMPLATE("packed_cells: bytes beyond the value are zero", T, std::uint8_t, std::uint16_t, test::sized<3>,
                   std::uint32_t, test::sized<5>, test::sized<7>, std::uint64_t, test::sized<9>, test::sized<12>,
                   test::sized<15>, test::sized<16>) {
  using cells = lookback::detail::packed_cells<T, plain_memory>;
  constexpr std::size_t bytes = cells::bytes(1).zeroed;
  T value;
  std::memset(static_cast<void *>(&value), 0xff, sizeof(T));
  alignas(16) unsigned char memory[bytes], expected[bytes] = {};
  std::memset(memory, 0xa5, bytes);
  cells(memory, nullptr).publish(0, value);
  // Status words are 1; each 8 bytes of the value stand before one.
  for (std::size_t i = 0; i < sizeof(T); ++i) expected[i < 8 ? i : i + 8] = 0xff;
  for (std::size_t status = sizeof(T) <= 4 ? 4 : 8; status < bytes; status += 16) expected[status] = 1;
  for (std::size_t i = 0; i < bytes; ++i) {
    INFO("byte ", i);
    CHECK_EQ(static_cast<int>(memory[i]), static_cast<int>(expected[i]));
  }
  CHECK(cells(memory, nullptr).read(0).ready());
}
