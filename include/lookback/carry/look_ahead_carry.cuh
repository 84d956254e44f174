// SPDX-License-Identifier: MIT
// The carry of the pipeline (strategy/pipeline.cuh): warps that look ahead.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/block/ring_position.cuh>
#include <lookback/carry/look_back_carry.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/tile/early_initial.cuh>
#include <lookback/tile/struct_tile.cuh>
#include <lookback/tile/tile_source.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether a problem can take the pipeline: its items can wait in a ring of stages, with rows for 8
/// scanning warps, its accumulators are trivially copyable and small (8 bytes beside loading warps,
/// which leave fewer registers), a lane's results are one vector access, if they are stored in
/// their order, and by key the output is a pointer, so that overlap with the keys can be checked.
/// Or it scans an array of structs, of which a lane takes consecutive ones (tile/struct_tile.cuh).
template <class Problem>
struct can_look_ahead {
  static constexpr bool value =
      blocks_structs<Problem>::value ||
      (can_stage<Problem> || can_load<Problem>)&&Problem::shape::tile_rows >= 8 &&
          std::is_trivially_copyable<typename Problem::accumulator>::value &&
          sizeof(typename Problem::accumulator) <= (can_stage<Problem> ? 16 : 8) &&
          (selects<Problem> || Problem::sink_type::scatters ||
           lane_vector<typename Problem::stored, Problem::shape::vector_elements>::packed) &&
          (!boundary_of<typename Problem::input_type>::exists ||
           std::is_pointer<typename Problem::output_type>::value);
};

/// Whether look-ahead warps read the aggregates of groups instead of those of all tiles. A warp of
/// the block that has a group's last tile publishes the group's aggregate. For structs of more than
/// 16 bytes: an aggregate takes three words or more, and polls of these delay all other memory
/// accesses. For 12 bytes, two words, the second round trip cost more than it saved. (Now that both
/// share one, see read_own_group, this has not been measured again.)
template <class Problem>
inline constexpr bool reads_groups = blocks_structs<Problem>::value &&
                                     sizeof(typename Problem::accumulator) > 16;

/// Whether a problem has shorter kernels, which compile sooner: small and large waves have one
/// kernel, with the warps of a large one and one body for all tiles, and the pipeline has one body
/// for all tiles that are not both full and aligned. For objects that the pipeline takes and a
/// user's operator combines, without keys or runs: these scans have the most code. Not for structs
/// (blocks_structs), whose code is short. (The speed has been measured for numbers only:
/// wave_tiles, scan_one_tile.)
template <class Problem>
inline constexpr bool has_short_kernels =
    can_look_ahead<Problem>::value && !blocks_structs<Problem>::value &&
    std::is_class<typename Problem::item>::value && !is_sum<Problem> &&
    !boundary_of<typename Problem::input_type>::exists && !Problem::sink_type::scatters;

/// Whether tiles of a problem can wait in registers, where shared memory has room for few of them:
/// arrays of at most 8 bytes an item and accumulator. (Objects that a user's operator combines have
/// code enough.)
template <class Problem>
struct can_hold {
  static constexpr bool value =
      can_stage<Problem> && !selects<Problem> && !Problem::sink_type::scatters &&
      !marks_heads<Problem> && !has_short_kernels<Problem> &&
      std::is_pointer<typename Problem::input_type>::value &&
      std::is_pointer<typename Problem::output_type>::value &&
      sizeof(typename Problem::item) <= 8 && sizeof(typename Problem::accumulator) <= 8 &&
      Problem::shape::tile_rows >= 16 &&
      lane_vector<typename Problem::item, Problem::shape::vector_elements>::packed;
};

/// The shape of the pipeline: stages of the ring, copies in flight at once, tiles between a tile's
/// reduction and its scan (`depth`), and warps of each kind. A tile sequence is short if it has at
/// most `short_column` tiles.
///
///   short   The first prefixes dominate the time. They are ready sooner with all look-ahead warps
///           at work, and with at most `short_in_flight` copies ahead of them (of structs, any
///           number). Lines of the input are the first to leave the L2 cache.
///   long    Only `long_column_warps` look-ahead warps work, since all of them poll. Lines of the
///           input are the last to leave the L2 cache (struct_tile::has_policy: not of all
///           structs).
///
/// A look-ahead warp reads the tiles of `window` groups at once: of all groups since the block's
/// previous tile. If it reads the aggregates of groups (reads_groups), it has all of these at once,
/// and appends `window` of them without a shuffle in between; then `group_warps` is 1, the warp
/// that publishes them.
///
/// The scanning warps are `scanning_teams` teams, which take turns with the tiles: while one waits
/// for the steps of its tile, which depend on each other, another has its own tile to work on.
///
/// With `short_code`, tiles that are not aligned and the partial tile share one body of code. With
/// `all_again`, look-ahead warps that wait read all aggregates again, not only those that were not
/// ready.
///
/// With `apart_stages`, one array of a tile has a shorter ring of its own, whose stage is free as
/// soon as the tile has been reduced.
///
/// With `held`, the `held` oldest of the `depth` tiles that wait for their prefixes are in the
/// registers of the scanning warps. They need no bytes any longer, so the ring of bytes has only
/// `byte_stages` stages. `round` tiles at once move on from register to register.
///
/// Where no bulk copies fetch the tiles (before sm_90, with `held`, of structs, and of items that
/// are not bytes in memory), `loading_warps` warps load them: `loading_teams` teams, each of which
/// loads every `loading_teams`-th tile, items `loads_at_once` a lane at once.
///
/// Structs have `reducing_warps`, of which the publishing warp is one: they reduce tiles as soon as
/// these are copied, and publish their aggregates. `depth` then has no use.
///
/// With `keeps_lines`, a tile's bytes keep their address modulo 128 in shared memory: segments may
/// begin anywhere in a line, and lines are copied to lines.
///
/// One of `marking_warps` warps finds the first segments of tiles, where adjacent segments are
/// summed, and the others mark the heads (strategy/marking_warps.cuh).
struct look_ahead_tuning {
  int stages, in_flight, short_in_flight, depth, scanning_warps, look_ahead_warps,
      long_column_warps, short_column, window, loading_warps = 0, loading_teams = 1,
                                               loads_at_once = 16, scanning_teams = 1;
  bool short_code = false, all_again = false;
  int apart_stages = 0, group_warps = 0, marking_warps = 0, reducing_warps = 0;
  bool keeps_lines = false;
  int held = 0, byte_stages = 0, round = 1;
  constexpr look_ahead_tuning keeping_lines() const {
    look_ahead_tuning same = *this;
    same.keeps_lines = true;
    return same;
  }
  constexpr bool holds() const { return held > 0; }
  constexpr int stages_of_bytes() const { return holds() ? byte_stages : stages; }
  constexpr int first_group_warp() const { return 2 + look_ahead_warps; }
  constexpr int first_scanning_warp() const { return first_group_warp() + group_warps; }
  constexpr bool in_bulk() const { return loading_warps == 0; }
  constexpr int loading_team_warps() const { return in_bulk() ? 1 : loading_warps / loading_teams; }
  constexpr int scanning_team_warps() const { return scanning_warps / scanning_teams; }
  /// Warp 0 copies or loads, warp 1 publishes; the other loading warps come behind the scanning
  /// ones, or those that mark; the other reducing ones come last.
  constexpr int first_loading_warp() const { return first_scanning_warp() + scanning_warps; }
  constexpr int first_marking_warp() const { return first_loading_warp(); }
  constexpr int second_reducing_warp() const {
    return first_loading_warp() + (in_bulk() ? marking_warps : loading_warps - 1);
  }
  constexpr int warps() const {
    return second_reducing_warp() + (reducing_warps > 1 ? reducing_warps - 1 : 0);
  }
};

/// The tiles of one block, b, b + G, b + 2 G, ...: its tile sequence.
struct tile_sequence {
  unsigned first, step, tiles; // `tiles`: of all blocks
  LOOKBACK_DEVICE int count() const { return static_cast<int>((tiles - first - 1) / step + 1); }
  /// Whether count() is at most `most`, and whether it is greater than i, without a division.
  LOOKBACK_DEVICE bool is_short(int most) const { return tiles - first <= most * step; }
  LOOKBACK_DEVICE bool has(int i) const { return tile(i) < tiles; }
  LOOKBACK_DEVICE unsigned tile(int i) const { return first + i * step; }
  LOOKBACK_DEVICE bool is_last(int i) const { return tile(i) + 1 >= tiles; }
};

/// Status words from word `first` on.
template <class Words>
struct words_from {
  const Words &words;
  unsigned first;
  using reading = typename Words::reading;
  LOOKBACK_DEVICE reading read(unsigned i) const { return words.read(first + i); }
};
/// A tile of a block's sequence, as the warps that look ahead see it. Indices are those in its
/// tree.
template <class Words>
struct ahead_tile {
  unsigned tile;
  bool goes_on;    // whether the block's previous tile is in the same tree
  unsigned before; // the index of that tile, if it is
  words_from<Words> words;

  /// Tile i of the sequence, whose tree begins with tile `first`.
  LOOKBACK_DEVICE static ahead_tile of(const tile_sequence &sequence, int i, unsigned first,
                                       const Words &words) {
    const bool goes_on = i > 0 && sequence.tile(i - 1) >= first; // mutant: same-tree
    return {sequence.tile(i) - first,
            goes_on,
            goes_on ? sequence.tile(i - 1) - first : 0,
            {words, first}};
  }
};
/// The tiles of a block's sequence in an extent, for the warps that look ahead.
template <class Problem>
class tiles_of_extent {
  using T = typename Problem::accumulator;
  using words = decltype(tagged_state<T>::tile_aggregates);

public:
  LOOKBACK_DEVICE tiles_of_extent(const Problem &problem, const tagged_state<T> &state,
                                  const tile_sequence &sequence)
      : extent_(problem.extent), state_(state), sequence_(sequence) {}
  LOOKBACK_DEVICE int count() const { return sequence_.count(); }
  LOOKBACK_DEVICE ahead_tile<words> operator()(int i) const {
    return ahead_tile<words>::of(sequence_, i, extent_.first_of_tree(sequence_.tile(i)),
                                 state_.tile_aggregates);
  }
  LOOKBACK_DEVICE bool is_last(int i) const { return sequence_.is_last(i); }
  LOOKBACK_DEVICE const words &group_aggregates() const { return state_.group_aggregates; }
  static constexpr bool one_tree = decltype(Problem::extent)::one_tree;

private:
  const decltype(Problem::extent) extent_;
  const tagged_state<T> &state_;
  const tile_sequence sequence_;
};

namespace carry {

/// The prefixes of the tiles in a ring of stages, in the shared memory of a block.
template <class T, int Stages>
struct ahead_prefixes {
  uninitialized_array<T, 1> prefix[Stages]; // of the tile in the stage
  uninitialized_array<T, 1> groups[Stages]; // G of its group, for the next tile's warp, or unused
  bool begins_tree[Stages]; // whether the tile is the first of its tree; unset if one_tree
  simt::barrier prefix_ready[Stages], groups_ready[Stages];

#if LOOKBACK_TARGETS_SM_80
  LOOKBACK_DEVICE void initialize(int stage) {
    simt::initialize(prefix_ready[stage], 1);
    simt::initialize(groups_ready[stage], simt::warp_threads);
  }
#endif
};

/// The carry of a block's tile sequence: dedicated warps build the prefixes, ahead of the warps
/// that scan. A prefix is built from aggregates alone, so a block waits until other blocks have
/// read and reduced their tiles, but never for their prefixes.
///
/// Tile i is in stage i % stages of the ring. Its prefix overwrites the prefix of tile i - stages,
/// which must have been scanned: the warp waits for `scanned`. (Before, it waits for `groups_ready`
/// of tile i - 1, at which a lane arrives only after its own wait for `scanned`. So all tiles up to
/// i - 1 - stages have been scanned, tile i - 2 stages among them, and the parity is not that of an
/// earlier phase.)
///
/// `Tiles`: the tiles of the block's sequence, as tiles_of_extent.
template <class Problem, class Tuning, class Tiles = tiles_of_extent<Problem>>
class look_ahead {
  using T = typename Problem::accumulator;
  static constexpr int stages = Tuning::value.stages, group_tiles = Problem::shape::group_tiles;
  static constexpr int window = Tuning::value.window; // groups
  /// Whether lanes without a tile read no aggregate: for values of 8 bytes where warps copy the
  /// tiles. (Code for compute_80 on an H200, us, if they read one and if not:
  /// sums of 2^26 i64 314, 281; i32 142, 143. On two H200s: 2^28 f64 1109, 1107; i128 2266, 3139.)
  static constexpr bool by_lane = can_stage<Problem> && !Tuning::value.in_bulk() &&
                                  !blocks_structs<Problem>::value && sizeof(T) == 8;
  using position = ring_position<stages>;
  using words = decltype(tagged_state<T>::tile_aggregates);

public:
  using storage = ahead_prefixes<T, stages>;

#if LOOKBACK_TARGETS_SM_80
  LOOKBACK_DEVICE look_ahead(const Problem &problem, const Tiles &tiles, storage &shared)
      : problem_(problem), tiles_(tiles), shared_(shared) {}

  /// Waits for the prefix of tile `tile`, which is in stage `at`, and returns it.
  LOOKBACK_DEVICE maybe<T> prefix(position at, unsigned tile) const {
    simt::wait(shared_.prefix_ready[at.stage], at.phase); // mutant: prefix-wait
    maybe<T> prefix;
    const bool begins = Tiles::one_tree ? tile == 0 : shared_.begins_tree[at.stage];
    if (Problem::initial_type::exists || !begins) prefix.set(shared_.prefix[at.stage][0]);
    return prefix;
  }

  /// Builds the prefixes of tiles turn, turn + warps, ... of the sequence. Called by look-ahead
  /// warp `turn` of `warps`. `scanned`: for each stage, the barrier that completes when its tile
  /// has been scanned. The warp reads aggregates from the first tile of the previous tile's group
  /// on (with reads_groups: of groups from that one on, and of tiles in the tile's own group), and
  /// gets G of that group from the warp that built the previous tile's prefix.
  template <class Operator>
  LOOKBACK_DEVICE void run(int turn, int warps, const T &early_initial, simt::barrier *scanned,
                           Operator &op) const {
    if constexpr (sums_ahead) return run_sums(turn, warps, early_initial, scanned, op);
    const int lane = simt::lane_index();
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    position at;
    at.advance(turn);
    for (int i = turn; i < tiles_.count(); i += warps, at.advance(warps)) {
      const auto own = tiles_(i);
      const int mine = static_cast<int>(own.tile % group_tiles);
      maybe<T> left;                    // G of the tile's group
      uninitialized_array<T, 1> within; // T of the tile before, if it is in the tile's own group
      read_groups(own, i > 0, at, early_initial, left, within, op, exchange);
      // Only the writing lane waits: another lane could already see the parity of the next phase.
      if (lane == 0) {                               // mutant: groups
        simt::wait(scanned[at.stage], at.phase ^ 1); // mutant: prefix-free
        if (left.exists()) construct(shared_.groups[at.stage][0], left.value());
      }
      // Every lane arrives: it no longer reads the previous tile's G, which may be overwritten.
      simt::arrive(shared_.groups_ready[at.stage]); // mutant: groups-arrive
      if (mine > 0) left.append(op, within[0]);
      if (lane == 0) {
        if (left.exists()) construct(shared_.prefix[at.stage][0], left.value()); // mutant: prefix
        if (!Tiles::one_tree) shared_.begins_tree[at.stage] = own.tile == 0; // mutant: tree-flag
        simt::arrive(shared_.prefix_ready[at.stage]); // mutant: prefix-arrive
      }
    }
  }

  /// Publishes the aggregate of every group whose last tile is the block's. Nobody reads that of a
  /// group that ends with the scan's last tile, so it is not published. Called by one warp.
  template <class Operator>
  LOOKBACK_DEVICE void publish_groups(Operator &op) const {
    static_assert(Tiles::one_tree, "group_aggregates has the groups of one tree");
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    for (int i = 0; i < tiles_.count(); ++i) {
      const auto own = tiles_(i);
      if ((own.tile + 1) % group_tiles != 0 || tiles_.is_last(i)) continue;
      uninitialized_array<T, 1> aggregates; // of the group's tiles, one a lane
      const unsigned first = own.tile + 1 - group_tiles;
      wait_for_entries(own.words, first, group_tiles, aggregates[0]); // mutant: group-tiles
      warp_reduce<1>(
          aggregates, [](int) { return group_tiles; }, op, exchange);
      if (simt::lane_index() == 0)
        tiles_.group_aggregates().publish(own.tile / group_tiles, aggregates[0]);
    }
  }

private:
  /// run() for sums of integers by key, which have the same bits in any order of addition: the
  /// prefix is that of the block's previous tile, and the aggregates from that tile on.
  static constexpr bool sums_ahead = adds_by_key<Problem> && sizeof(T) <= 8;
  template <class Operator>
  LOOKBACK_DEVICE void run_sums(int turn, int warps, const T &early_initial, simt::barrier *scanned,
                                Operator &op) const {
    position at;
    at.advance(turn);
    for (int i = turn; i < tiles_.count(); i += warps, at.advance(warps)) {
      const auto own = tiles_(i);
      auto before = at;
      before.advance(-1);
      const T since = sum_since(own, op);
      T left{{}, false};
      if (i > 0) simt::wait(shared_.groups_ready[before.stage], before.phase); // mutant: sums-carry
      if (own.goes_on)
        left = shared_.prefix[before.stage][0];
      else if constexpr (Problem::initial_type::exists)
        left = initial_of(problem_, early_initial);
      if (simt::lane_index() == 0) {
        simt::wait(scanned[at.stage], at.phase ^ 1); // mutant: sums-free
        construct(shared_.prefix[at.stage][0], op(left, since));
        if (!Tiles::one_tree) shared_.begins_tree[at.stage] = own.tile == 0;
        simt::arrive(shared_.prefix_ready[at.stage]);
      }
      // Every lane arrives: it no longer reads the previous prefix, which may be overwritten. The
      // prefix of this tile is written.
      simt::arrive(shared_.groups_ready[at.stage]);
    }
  }
  /// The aggregates from the block's previous tile on, or, if that is in another tree, from the
  /// first tile of the tree.
  template <class Own, class Operator>
  LOOKBACK_DEVICE T sum_since(const Own &own, Operator &op) const {
    T sum{{}, false};
    for (unsigned first = own.goes_on ? own.before : 0; first < own.tile;
         first += window * simt::warp_threads) {
      const auto watched = [=](int u) {
        return first + static_cast<unsigned>(u * simt::warp_threads + simt::lane_index());
      };
      uninitialized_array<T, window> aggregates; // of the lane's tiles watched(0), watched(1), ...
      wait_for_aggregates<Tuning::value.all_again, false>(own.words, watched, own.tile, aggregates);
      sum = op(sum, sum_in_order(aggregates, [=](int u) { return watched(u) < own.tile; }));
    }
    return sum;
  }
  /// The aggregates of groups that have been read: that of group `first` + l in lane l.
  struct published_groups {
    unsigned first, count = 0;
    uninitialized_array<T, 1> of_lane;

    /// Those of the groups from, from + 1, ... that precede group `end`.
    LOOKBACK_DEVICE void get(const words &status, unsigned from, unsigned end,
                             uninitialized_array<T, window> &aggregates,
                             lane_exchange<T> &exchange) {
      if (from == end) return;
      if (count == 0 || from + window > first + simt::warp_threads) {
        set_range(from, end);
        wait_for_entries(status, first, static_cast<int>(count), of_lane[0]);
      }
      LOOKBACK_UNROLL
      for (int u = 0; u < window; ++u)
        construct(aggregates[u],
                  exchange.from(of_lane[0], static_cast<int>(from - first) + u, true));
    }
    /// Reads those of the groups from, from + 1, ... that precede group `end`, at least one, beside
    /// the aggregates of the `tiles` tiles from `first_tile` on.
    LOOKBACK_DEVICE void read_beside(const words_from<words> &tile_status, unsigned first_tile,
                                     int tiles, T &of_tile, const words &status, unsigned from,
                                     unsigned end) {
      set_range(from, end);
      wait_for_entries(tile_status, first_tile, tiles, of_tile, status, first,
                       static_cast<int>(count), of_lane[0]);
    }

  private:
    LOOKBACK_DEVICE void set_range(unsigned from, unsigned end) {
      first = from;
      count = end - from < simt::warp_threads ? end - from : simt::warp_threads;
    }
  };
  /// left <- G of the tile's group, and within[0] <- T of the tile before, if that is in its group.
  template <class Own, class Operator>
  LOOKBACK_DEVICE void read_groups(const Own &own, bool waits, position at, const T &early_initial,
                                   maybe<T> &left, uninitialized_array<T, 1> &within, Operator &op,
                                   lane_exchange<T> &exchange) const {
    auto before = at;
    before.advance(-1);
    const unsigned group = own.tile / group_tiles;
    [[maybe_unused]] published_groups published;
    if constexpr (reads_groups<Problem>)
      read_own_group(own, own.goes_on ? own.before / group_tiles : 0, published, within, op,
                     exchange);
    bool begins = true;
    for (unsigned first = own.goes_on ? own.before / group_tiles : 0;; first += window) {
      uninitialized_array<T, window> aggregates; // (groups)
      if constexpr (reads_groups<Problem>)
        published.get(tiles_.group_aggregates(), first, group, aggregates, exchange);
      else
        reduce_aggregates<window, Tuning::value.all_again, by_lane>(own.words, first, 1, own.tile,
                                                                    aggregates, op, exchange);
      if (begins) {
        if (waits) simt::wait(shared_.groups_ready[before.stage], before.phase); // mutant: carry
        if (own.goes_on && (Problem::initial_type::exists || first > 0))
          left.set(shared_.groups[before.stage][0]);
        if constexpr (Problem::initial_type::exists)
          if (!own.goes_on) left.set(initial_of(problem_, early_initial));
        begins = false;
      }
      LOOKBACK_UNROLL
      for (int u = 0; u < window; ++u) {
        if (first + u < group) left.append(op, aggregates[u]);
        if (!reads_groups<Problem> && first + u == group) construct(within[0], aggregates[u]);
      }
      if (group - first < window) break;
    }
  }
  /// within[0] <- T of the tile before, if it is in the tile's own group. The same round trip reads
  /// the aggregates of the groups from group `first` on, unless registers would spill.
  template <class Own, class Operator>
  LOOKBACK_DEVICE void read_own_group(const Own &own, unsigned first, published_groups &published,
                                      uninitialized_array<T, 1> &within, Operator &op,
                                      lane_exchange<T> &exchange) const {
    const int mine = static_cast<int>(own.tile % group_tiles);
    if (mine == 0) return;
    uninitialized_array<T, 1> aggregates; // of the group's tiles, one a lane
    if (sizeof(T) <= 32 && first < own.tile / group_tiles)
      published.read_beside(own.words, own.tile - mine, mine, aggregates[0],
                            tiles_.group_aggregates(), first, own.tile / group_tiles);
    else
      wait_for_entries(own.words, own.tile - mine, mine, aggregates[0]);
    warp_reduce<1>(
        aggregates, [=](int) { return mine; }, op, exchange);
    construct(within[0], aggregates[0]);
  }

  const Problem &problem_;
  const Tiles tiles_;
  storage &shared_;
#endif
};

} // namespace carry

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
