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

/// Publishes ones to cells of 40, and requires that memory has nothing but value, mark and zeros:
/// `Bytes` of the value at the beginning of each word, and a 1 at byte `Mark`. The second words of
/// 32 cells follow the first words of all 32, and so on.
template <class Cells, class T, std::size_t Word, std::size_t Bytes, std::size_t Mark>
void check_cells() {
  constexpr std::size_t bytes = Cells::bytes(40).zeroed, words = (sizeof(T) - 1) / Bytes + 1;
  T value;
  std::memset(static_cast<void *>(&value), 0xff, sizeof(T));
  for (const std::size_t cell : {0, 1, 31, 32, 39}) {
    alignas(16) unsigned char memory[bytes], expected[bytes];
    std::memset(memory, 0xa5, bytes);
    std::memset(expected, 0xa5, bytes);
    Cells(memory, nullptr).publish(cell, value);
    for (std::size_t w = 0; w < words; ++w) {
      unsigned char *const at =
          expected + (words == 1 ? cell : cell / 32 * 32 * words + w * 32 + cell % 32) * Word;
      std::memset(at, 0, Word);
      std::memset(at, 0xff, std::min<std::size_t>(sizeof(T) - w * Bytes, Bytes));
      at[Mark] = 1;
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      INFO("cell ", cell, ", byte ", i);
      CHECK_EQ(static_cast<int>(memory[i]), static_cast<int>(expected[i]));
    }
    CHECK(Cells(memory, nullptr).read(cell).ready());
    const T read = Cells(memory, nullptr).read(cell).value();
    CHECK_EQ(std::memcmp(&value, &read, sizeof(T)), 0);
    Cells(memory, nullptr).clear(cell);
    CHECK(!Cells(memory, nullptr).read(cell).ready());
  }
}

} // namespace

/// Bytes that nobody wrote would make two runs differ, and tell a reader what the stack held.
TEST_CASE_TEMPLATE("packed_status: bytes beyond the value are zero", T, std::uint8_t, std::uint16_t,
                   test::sized<3>, std::uint32_t, test::sized<5>, test::sized<7>, std::uint64_t,
                   test::sized<9>, test::sized<12>, test::sized<15>, test::sized<16>) {
  constexpr std::size_t word = sizeof(T) <= 4 ? 8 : 16;
  check_cells<lookback::detail::packed_status<T, plain_memory>, T, word, 8, word / 2>();
}
TEST_CASE_TEMPLATE("wide_status: bytes beyond the value are zero", T, test::sized<17>,
                   test::sized<20>, test::sized<24>, test::sized<32>, test::sized<37>,
                   test::sized<48>) {
  check_cells<lookback::detail::wide_status<T, plain_memory>, T, 16, 12, 12>();
}
/// A value is there when all of its words are.
TEST_CASE("wide_status: no word is missing") {
  using T = test::sized<32>;
  using cells = lookback::detail::wide_status<T, plain_memory>;
  constexpr std::size_t bytes = cells::bytes(1).zeroed;
  for (const std::size_t missing : {0, 1, 2}) {
    alignas(16) unsigned char memory[bytes] = {};
    cells(memory, nullptr).publish(0, T{});
    std::memset(memory + missing * 32 * 16, 0, 16);
    CHECK(!cells(memory, nullptr).read(0).ready());
  }
}
