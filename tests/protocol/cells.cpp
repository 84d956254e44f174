// SPDX-License-Identifier: MIT
// What a published cell looks like in memory.
#include <lookback/core/tile_status.cuh>

#include <support/types.hpp>

#include <doctest/doctest.h>

#include <algorithm>
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
TEST_CASE_TEMPLATE("packed_status: bytes beyond the value are zero", T, std::uint8_t, std::uint16_t,
                   test::sized<3>, std::uint32_t, test::sized<5>, test::sized<7>, std::uint64_t,
                   test::sized<9>, test::sized<12>, test::sized<15>, test::sized<16>) {
  using cells = lookback::detail::packed_status<T, plain_memory>;
  constexpr std::size_t bytes = cells::bytes(40).zeroed, word = sizeof(T) <= 4 ? 8 : 16;
  T value;
  std::memset(static_cast<void *>(&value), 0xff, sizeof(T));
  for (const std::size_t cell : {0, 1, 31, 32, 39}) {
    alignas(16) unsigned char memory[bytes], expected[bytes];
    std::memset(memory, 0xa5, bytes);
    std::memset(expected, 0xa5, bytes);
    cells(memory, nullptr).publish(cell, value);
    // A word is up to 8 bytes of the value, then a status of 1. The second words of 32 cells follow
    // the first words of all 32.
    for (std::size_t done = 0; done < sizeof(T); done += 8) {
      const std::size_t place = sizeof(T) <= 8 ? cell : cell / 32 * 64 + done / 8 * 32 + cell % 32;
      std::memset(expected + place * word, 0, word);
      std::memset(expected + place * word, 0xff, std::min<std::size_t>(sizeof(T) - done, 8));
      expected[place * word + word / 2] = 1;
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      INFO("cell ", cell, ", byte ", i);
      CHECK_EQ(static_cast<int>(memory[i]), static_cast<int>(expected[i]));
    }
    CHECK(cells(memory, nullptr).read(cell).ready());
    const T read = cells(memory, nullptr).read(cell).value();
    CHECK_EQ(std::memcmp(&value, &read, sizeof(T)), 0);
  }
}
