// SPDX-License-Identifier: MIT
// The cells of core/tile_status.cuh and the walk over them in every interleaving, with every value
// that the memory orders let a load return. A block here is one thread, so the walk is written for
// one; it asks what carry/look_back_carry.cuh asks.
#include <lookback/core/tile_status.cuh>

#include <protocol/explorer.hpp>
#include <support/types.hpp>

#include <doctest/doctest.h>

#include <cstdio>

namespace {

using explorer::machine;
namespace core = lookback::detail;

/// Tiles [begin, end), in cells of one word, of two, and in a value that copies itself where others
/// may see it.
template <class Word>
struct plain_interval {
  Word begin, end;
};
class copied_interval {
public:
  copied_interval(unsigned first, unsigned last) : begin(first), end(last) {}
  copied_interval(const copied_interval &other) : begin(other.begin), end(other.end) {
    if (is_shared(&other)) machine::running->read_plain(&other);
    if (is_shared(this)) machine::running->write_plain(this);
  }
  static bool is_shared(const copied_interval *at) { return at >= shared_begin && at < shared_end; }
  static inline const copied_interval *shared_begin = nullptr, *shared_end = nullptr;

  unsigned begin, end;
};

struct join {
  template <class T>
  T operator()(const T &a, const T &b) const {
    if (a.end != b.begin || a.begin >= a.end || b.begin >= b.end)
      machine::running->fail("operator applied to what are no neighbours");
    return T{a.begin, b.end};
  }
};

enum class ids { tickets, fixed };

/// `Tiles` tiles in groups of `Group`, on blocks of which so many are resident as there are
/// threads.
template <class T, class Memory, unsigned Tiles, unsigned Group>
class protocol {
  using cells = core::tile_status<T, Memory>;
  static constexpr unsigned groups = (Tiles - 1) / Group + 1;

public:
  explicit protocol(ids which) : which_(which) {
    const core::status_bytes bytes = cells::bytes(Tiles + 2 * groups);
    zeroed_.resize(bytes.zeroed / 16 + 1);
    payload_.resize(bytes.payload / 16 + 1);
  }

  explorer::summary explore(unsigned slots) {
    machine one;
    const explorer::summary found = one.explore(
        slots, [this] { prepare(); }, [this] { slot(); });
    std::printf("protocol.explorer: %u tiles, groups of %u, %u slots, %zu-byte values: %llu "
                "executions, %llu states%s%s\n",
                Tiles, Group, slots, sizeof(T), static_cast<unsigned long long>(found.executions),
                static_cast<unsigned long long>(found.states), found.failure.empty() ? "" : ": ",
                found.failure.c_str());
    return found;
  }

private:
  struct alignas(16) chunk {
    unsigned char bytes[16];
  };

  void prepare() {
    next_ = 0, last_ = Tiles;
    char *zeroed = reinterpret_cast<char *>(zeroed_.data()),
         *payload = reinterpret_cast<char *>(payload_.data());
    const auto take = [&](unsigned count) {
      const cells taken(zeroed, payload);
      zeroed += cells::bytes(count).zeroed, payload += cells::bytes(count).payload;
      return taken;
    };
    state_.tile_aggregates = take(Tiles);
    state_.group_aggregates = take(groups);
    state_.group_prefixes = take(groups);
    if constexpr (std::is_same<T, copied_interval>::value) {
      T::shared_begin = reinterpret_cast<const T *>(payload_.data());
      T::shared_end = reinterpret_cast<const T *>(payload_.data() + payload_.size());
    }
  }

  /// One place for a block: block after block, until there are none.
  void slot() {
    machine &now = *machine::running;
    for (;;) {
      now.begin_block();
      if (which_ == ids::tickets) {
        const unsigned tile = now.increment(&next_);
        if (tile >= Tiles) return;
        scan_tile(tile);
      } else { // blocks start from either end
        if (next_ == last_) return;
        scan_tile(now.choose(2) == 0 ? next_++ : --last_);
      }
    }
  }

  T wait_for(const cells &from, unsigned i) {
    for (;;) {
      const auto seen = from.read(i);
      if (seen.ready()) return seen.value();
      machine::running->look_again();
    }
  }

  T look_back_over_groups(unsigned group) {
    join op;
    for (;; machine::running->look_again()) {
      typename cells::reading prefix, totals[groups];
      unsigned nearest = group;
      do {
        prefix = state_.group_prefixes.read(--nearest);
        if (prefix.ready()) break;
        totals[nearest] = state_.group_aggregates.read(nearest);
      } while (nearest > 0 && totals[nearest].ready());
      if (!prefix.ready()) continue;
      core::maybe<T> folded;
      folded.set(prefix.value());
      while (++nearest < group) folded.append(op, totals[nearest].value());
      return folded.value();
    }
  }

  void scan_tile(unsigned tile) {
    join op;
    const unsigned group = tile / Group, first = group * Group;
    const bool is_last = tile + 1 == Tiles, completes_group = tile + 1 == first + Group && !is_last;
    const T mine{static_cast<decltype(T::begin)>(tile), static_cast<decltype(T::begin)>(tile + 1)};
    if (!is_last) state_.tile_aggregates.publish(tile, mine);
    core::maybe<T> within;
    for (unsigned before = first; before < tile; ++before)
      within.append(op, wait_for(state_.tile_aggregates, before));
    core::maybe<T> total = within;
    total.append(op, mine);
    if (completes_group) state_.group_aggregates.publish(group, total.value());
    core::maybe<T> prefix;
    if (group > 0)
      prefix.set(completes_group ? look_back_over_groups(group)
                                 : wait_for(state_.group_prefixes, group - 1));
    if (completes_group) {
      core::maybe<T> through = prefix;
      through.append(op, total.value());
      state_.group_prefixes.publish(group, through.value());
    }
    if (within.exists()) prefix.append(op, within.value());
    if (tile > 0 && !(prefix.value().begin == 0 && prefix.value().end == tile))
      machine::running->fail("a wrong prefix");
  }

  const ids which_;
  unsigned next_ = 0, last_ = Tiles;
  std::vector<chunk> zeroed_, payload_;
  core::scan_state<T, Memory> state_;
};

using word = plain_interval<std::uint16_t>;
using pair = plain_interval<std::uint32_t>;
using two_pairs = plain_interval<std::uint64_t>;
using object = copied_interval;
using ordered = explorer::memory<>;

template <class T, unsigned Tiles, unsigned Group>
void holds() {
  const explorer::summary found = protocol<T, ordered, Tiles, Group>(ids::tickets).explore(2);
  CHECK_EQ(found.failure, "");
  CHECK_GT(found.executions, 1);
}

} // namespace

TEST_CASE_TEMPLATE("every execution of three tiles on two slots", T, word, pair, two_pairs,
                   object) {
  holds<T, 3, 2>();
  // Two words a cell make the walk's executions too many to go through.
  if constexpr (!std::is_same<T, two_pairs>::value) holds<T, 3, 1>();
}

TEST_CASE("what is broken is found out") {
  CHECK_EQ(protocol<object, explorer::memory<false, true>, 3, 2>(ids::tickets).explore(2).failure,
           "a value is read whose writing nothing orders before");
  CHECK_EQ(protocol<object, explorer::memory<true, false>, 3, 2>(ids::tickets).explore(2).failure,
           "a value is read whose writing nothing orders before");
  CHECK_EQ(protocol<word, ordered, 3, 2>(ids::fixed).explore(2).failure, "deadlock");
}
