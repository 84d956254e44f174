// SPDX-License-Identifier: MIT
// The default strategy for long inputs, from sm_80 on where a block may have 163 KiB of shared
// memory or more, and for arrays of numbers where it may have 99: a persistent pipeline that
// fetches, reduces and scans different tiles at once, so that no wait for a prefix interrupts the
// memory traffic. It reverses decoupled look-back: instead of a waiting tile that looks back, a
// warp looks ahead, and the prefix is ready before the tile is scanned.
//
// n elements read once, n written once; about 2 n + n / E applications of the operator (E elements
// a vector). Block b of G scans the tile sequence b, b + G, b + 2 G, ... Its tile i is in stage
// i % stages, and its warps have roles:
//
//   copying warp        bulk copies into all free stages, a few of them in flight at once; or
//                       loading warps, which copy tiles where there are no bulk copies, copy
//                       structs, or read items that are not bytes in memory
//   scanning warps      reduce tile i, and scan tile i - depth, whose prefix is normally ready;
//                       teams of them take turns with the tiles. Where shared memory is small,
//                       the tiles that are scanned next are in registers, and their stages free
//   publishing warp     row aggregates of tile i -> row prefixes, and the aggregate for all blocks
//   reducing warps      of structs, instead of the publishing warp: reduce tiles, and publish their
//                       aggregates; the scanning warps only scan
//   look-ahead warps    aggregates of all tiles since the block's previous tile -> the tile's
//                       prefix; they take turns
//   group warp          of wide values: aggregates of a group's tiles -> that of the group, which
//                       look-ahead warps read instead
//   marking warps       of adjacent segments: mark the heads of a tile while it is copied
//
// A prefix is built from aggregates alone, so a block waits until other blocks have read and
// reduced their tiles, but never for their prefixes. This wait ends only if every block with tiles
// is resident. So the blocks settle first which of them have tiles (carry/participants.cuh); their
// first tiles are copied meanwhile. Beside a kernel that keeps a part of the device, the scan goes
// on with the rest.
#pragma once

#include <lookback/carry/ring_of_rounds.cuh>
#include <lookback/carry/wave_carry.cuh>
#include <lookback/core/reversed.cuh>
#include <lookback/core/standard.cuh>
#include <lookback/strategy/clear_words.cuh>
#include <lookback/strategy/pipeline_storage.cuh>
#include <lookback/strategy/tree_tiles.cuh>
#include <lookback/tile/blocked_rows.cuh>
#include <lookback/tile/blocked_tile.cuh>
#include <lookback/tile/keyed_sums.cuh>
#include <lookback/tile/reduce_tile.cuh>
#include <lookback/tile/register_tile.cuh>
#include <lookback/tile/run_sums.cuh>
#include <lookback/tile/scan_tile.cuh>
#include <lookback/tile/select_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

#if LOOKBACK_TARGETS_SM_80
/// Blocks that have not started within this time take no part: nanoseconds. All blocks of an idle
/// device start within one microsecond; the longer the scan, the more a missing block would cost.
/// (H200, 2^22 i32 beside one block of 32 threads: 26.9 us with 4000, 25.2 with 2000.)
LOOKBACK_DEVICE std::uint64_t patience_of(unsigned tiles) { return 2000 + tiles / 4; }

/// Progress of the copying warp: tile `i` is the next to copy, into stage `at`; `arriving` is the
/// stage of the oldest copy in flight. Loading warps use `i` only.
template <int Stages>
struct copying {
  simt::cache_policy policy;
  int i = 0;
  ring_position<Stages> at{}, arriving{};
};

/// The tiles of a block's sequence, for the warps that look ahead, by the kind of status words:
/// those of a number of tiles that the host knows, or a ring.
template <class Problem, class State>
struct ahead_tiles {
  using type = tiles_of_extent<Problem>;
  static constexpr bool in_rounds = false;
  LOOKBACK_DEVICE static type of(const Problem &problem, const State &state,
                                 const tile_sequence &sequence) {
    return {problem, state, sequence};
  }
  template <class T>
  LOOKBACK_DEVICE static void publish(const State &state, unsigned tile, const T &aggregate) {
    state.tile_aggregates.publish(tile, aggregate);
  }
};
template <class Problem, class T, unsigned Size>
struct ahead_tiles<Problem, ring_of_rounds<T, Size>> {
  using State = ring_of_rounds<T, Size>;
  using type = tiles_of_rounds<T, Size>;
  static constexpr bool in_rounds = true;
  LOOKBACK_DEVICE static type of(const Problem &, const State &state,
                                 const tile_sequence &sequence) {
    return {state, sequence};
  }
  LOOKBACK_DEVICE static void publish(const State &state, unsigned tile, const T &aggregate) {
    state.publish(tile, aggregate);
  }
};

template <class Problem, class Tuning, class State = tagged_state<typename Problem::accumulator>>
class look_ahead_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using tiles = ahead_tiles<Problem, State>;
  using state_type = lane_state<Problem>; // of a row
  using storage = look_ahead_storage<Problem, Tuning>;
  static constexpr look_ahead_tuning tuning = Tuning::value;
  static constexpr int stages = tuning.stages;
  static constexpr int scanning_teams = tuning.scanning_teams,
                       scanning_warps = tuning.scanning_team_warps(); // of a team
  static constexpr int rows = shape::tile_rows / scanning_warps;      // rows a scanning warp
  static constexpr int warps = tuning.warps(), first_group_warp = tuning.first_group_warp(),
                       first_scanning_warp = tuning.first_scanning_warp();
  static constexpr bool in_bulk = tuning.in_bulk();
  /// Whether warps copy plain bytes, the first tiles before the blocks have settled. (Items of an
  /// iterator are not loaded so early: its operators would be called twice if that is in vain.)
  static constexpr bool loads_early =
      !in_bulk && can_stage<Problem> && !blocks_structs<Problem>::value;
  static constexpr int apart_stages = tuning.apart_stages;
  static constexpr bool splits = apart_stages > 0;
  static constexpr int first_loading_warp = tuning.first_loading_warp(),
                       first_marking_warp = tuning.first_marking_warp(),
                       second_reducing_warp = tuning.second_reducing_warp();
  static constexpr int loading_teams = tuning.loading_teams,
                       loading_warps = tuning.loading_team_warps(); // of a team
  // 16-byte integers are summed as blocked items: one aggregate a lane and one a warp, instead of
  // one a row.
  static constexpr bool blocked = adds_blocked<Problem>;
  // Results that are not aligned take the code for items that are not, so the code for aligned ones
  // has one kind of store, and fewer instructions and registers. (Code for compute_86 on an H200,
  // us, 2^28 f64: 1142, 1110 with this; for compute_80, 2^24 i8: 15.0, 14.6.) Not where bulk copies
  // fetch plain memory: if aligned items could take the other code, it would need 5 % more time.
  static constexpr bool stores_vectors_if_aligned =
      adds_by_key<Problem> ||
      (has_vectors<Problem> && can_stage<Problem> && !blocked && !Problem::sink_type::scatters &&
       !selects<Problem> && !(in_bulk && std::is_pointer<typename Problem::input_type>::value));
  // A lane scans consecutive structs.
  static constexpr bool structs = blocks_structs<Problem>::value;
  static constexpr int kept = blocked ? 1 : rows,
                       aggregates_a_tile = blocked ? scanning_warps : shape::tile_rows;
  // V of a warp's rows, between the two passes over a tile. Those of structs are computed in the
  // second pass: no lane has registers for as many tiles as hide the latency of the prefixes.
  using kept_vectors = uninitialized_array<state_type, kept>;
  // Full tiles leave shared memory before they are scanned.
  static constexpr bool holds = tuning.holds();
  using held_items = register_source<Problem, rows, true>;
  static_assert(tuning.depth < stages, "the ring must have more stages than the pipeline is deep");
  static_assert(can_stage<Problem> || !in_bulk, "items come from loading warps");
  static_assert(tuning.depth >= scanning_teams, "a team needs a tile between its two passes");
  static_assert(tuning.scanning_warps % scanning_teams == 0 && tuning.depth % scanning_teams == 0,
                "all teams must have the same number of warps, and of tiles between two passes");
  static_assert(shape::tile_rows % scanning_warps == 0,
                "all scanning warps must have the same number of rows");
  static_assert(!structs || scanning_warps == blocks_structs<Problem>::warps,
                "a team must have as many warps as scan a tile of structs");
  static_assert(!structs || (!in_bulk && loading_teams == 1), "one team loads structs");
  static_assert(!structs || (tuning.in_flight > 0 && tuning.in_flight <= stages),
                "copies in flight are in different stages");
  static_assert(structs ? tuning.reducing_warps > 0 && tuning.reducing_warps <= stages
                        : tuning.reducing_warps == 0,
                "structs have reducing warps, each with a stage of its own");
  static_assert(tuning.group_warps == (reads_groups<Problem> ? 1 : 0),
                "aggregates of groups that are read must be published, by one warp");
  static_assert(!splits || (in_bulk && array_apart<Problem> != no_array && apart_stages < stages &&
                            storage::first_copies <= apart_stages),
                "only arrays that one pass reads may have a shorter ring, beside bulk copies");
  static_assert(loading_teams <= stages, "every loading team needs a stage of its own");
  static_assert(!can_stage<Problem> ||
                    (tuning.in_flight > 0 && tuning.in_flight <= stages &&
                     tuning.short_in_flight > 0 && tuning.short_in_flight <= tuning.in_flight),
                "copies in flight are in different stages");
  static_assert(!loads_early || loading_teams == 1, "one team copies bytes");
  static_assert(!holds ||
                    (std::is_pointer<typename Problem::input_type>::value && !blocked && !in_bulk &&
                     !splits && !structs && scanning_teams == 1 && !tuning.short_code &&
                     tuning.held < tuning.depth && tuning.byte_stages <= stages &&
                     storage::first_copies <= tuning.byte_stages &&
                     tuning.depth - tuning.held < tuning.byte_stages),
                "plain items that warps copy can wait in registers");
  static_assert(tuning.round >= 1 && (holds || tuning.round == 1),
                "only tiles in registers move on in rounds");
  static_assert(tuning.long_column_warps <= tuning.look_ahead_warps,
                "long inputs must not need more look-ahead warps than there are");
  static_assert(tuning.look_ahead_warps <= stages,
                "every look-ahead warp needs a stage of its own");
  static_assert(marks_heads<Problem> ? tuning.marking_warps > 1 && in_bulk && !splits
                                     : tuning.marking_warps == 0,
                "one warp finds heads and others mark them, beside bulk copies");
  // A tile is complete only when it has been marked, which is after the block's first barrier.
  static_assert(!marks_heads<Problem> || storage::first_copies <= tuning.in_flight,
                "the first copies must not wait for each other");

public:
  LOOKBACK_DEVICE look_ahead_scan(const Problem &problem, const State &state,
                                  const tile_sequence &sequence, storage &shared)
      : problem_(problem), state_(state), shared_(shared), op_(problem.op), source_(problem),
        sequence_(sequence), carry_(problem, tiles::of(problem, state, sequence), shared.carry) {}

  /// Initializes the block's barriers, and starts the first copies. They need only their own
  /// barriers, so they start before all other work.
  LOOKBACK_DEVICE copying<stages> begin() {
    const int warp = simt::warp_index();
    auto next = first_copy();
    if constexpr (loads_early) next.i = early_tiles();
    if constexpr (marks_heads<Problem>) marking().begin();
    if (warp == 0) {
      if (simt::lane_index() == 0) shared_.initialize_first_copies(); // mutant: first-barriers
      if constexpr (in_bulk) copy(next, storage::first_copies);       // mutant: first-copies
      if constexpr (loads_early) load_early(next.i);                  // mutant: early-loads
      if (simt::lane_index() == 0) shared_.initialize_later_copies();
    } else if (simt::lane_index() == 0) {
      shared_.initialize_others(warp - 1, warps - 1);
    }
    return next;
  }
  /// The same for the sequence of this object, after the first copies of another.
  LOOKBACK_DEVICE copying<stages> begin_again(const copying<stages> &in_vain) {
    if (simt::warp_index() == 0 && simt::lane_index() == 0) shared_.initialize_again(in_vain.i);
    return first_copy();
  }
  LOOKBACK_DEVICE void run(copying<stages> next) {
    const int warp = simt::warp_index();
    if (warp == 1 || warp >= second_reducing_warp) {
      if constexpr (structs)
        reduce_structs(warp == 1 ? 0 : warp - second_reducing_warp + 1);
      else
        publish();
    } else if (warp == 0 || (!in_bulk && warp >= first_loading_warp)) {
      if constexpr (in_bulk)
        copy(next, INT_MAX);
      else
        load(warp == 0 ? 0 : warp - first_loading_warp + 1, loads_early ? next.i : 0);
    } else if (warp < first_group_warp) {
      const int working = sequence_is_short() ? tuning.look_ahead_warps : tuning.long_column_warps;
      const T &initial = shared_.initial[0];
      if (warp - 2 < working)
        carry_.run(warp - 2, working, initial, shared_.scanned, op_); // mutant: working-warps
    } else if (warp < first_scanning_warp) {
      if constexpr (reads_groups<Problem>) carry_.publish_groups(op_);
    } else if (marks_heads<Problem> && warp >= first_marking_warp) {
      if constexpr (marks_heads<Problem>) marking().run();
    } else {
      if constexpr (structs)
        scan_structs(scanning_team());
      else
        reduce_and_scan();
    }
  }

private:
  LOOKBACK_DEVICE copying<stages> first_copy() const {
    return {simt::cache_policy_of(!sequence_is_short())};
  }
  /// Where a scanning warp's rows begin in every tile.
  struct warp_share {
    int first_row, first_item;
  };

  LOOKBACK_DEVICE auto marking() const {
    return marking_warps<Problem, Tuning, storage>(problem_, sequence_, shared_);
  }
  LOOKBACK_DEVICE bool sequence_is_short() const { return sequence_.is_short(tuning.short_column); }
  LOOKBACK_DEVICE static int scanning_team() {
    return (simt::warp_index() - first_scanning_warp) / scanning_warps;
  }
  /// Of its team.
  LOOKBACK_DEVICE static int scanning_warp() {
    return (simt::warp_index() - first_scanning_warp) % scanning_warps;
  }
  /// All tiles but the last are full, so a 32-bit comparison is enough for them.
  LOOKBACK_DEVICE valid_items<shape> valid_of(unsigned tile) const {
    if (tile + 1 < sequence_.tiles) return {shape::tile_elements};
    return {problem_.extent.tile(tile, shape::tile_elements).valid};
  }

  /// Fills free stages up to tile `end`, with at most `in_flight` copies at once: more copies would
  /// only queue and delay other memory accesses. In the first round every stage is free, and
  /// `scanned` may not be initialized yet.
  LOOKBACK_DEVICE void copy(copying<stages> &next, int end) {
    if (simt::lane_index() != 0) return;
    LOOKBACK_ROLLED
    for (; next.i < end && sequence_.has(next.i); ++next.i, ++next.at) {
      const int stage = next.at.stage;
      const unsigned tile = sequence_.tile(next.i);
      const auto bulk = source_.plan_of(tile, valid_of(tile).of_tile);
      if (next.i >= (sequence_is_short() ? tuning.short_in_flight : tuning.in_flight)) {
        simt::wait(shared_.copied[next.arriving.stage], next.arriving.phase);
        ++next.arriving;
      }
      if (next.i >= stages) simt::wait(shared_.scanned[stage], next.at.phase ^ 1); // mutant: ring
      if constexpr (splits) {
        auto before = next.at; // the tile whose array was where this tile's goes
        before.advance(-apart_stages);
        if (next.i >= apart_stages)
          simt::wait(shared_.reduced[before.stage], before.phase); // mutant: apart-ring
      }
      const auto &source = source_of(next.i, stage);
      source.fill(shared_.tiles[stage], tile, valid_of(tile).of_tile, bulk, shared_.copied[stage],
                  next.policy);
    }
  }

  /// Tiles that the first warp loads before the blocks have settled.
  LOOKBACK_DEVICE int early_tiles() const {
    int tiles = 0;
    while (tiles < storage::first_copies && sequence_.has(tiles)) ++tiles;
    return tiles;
  }
  /// Loads them, all shares of each.
  LOOKBACK_DEVICE void load_early(int tiles) {
    simt::synchronize_warp(); // mutant: early-barriers
    ring_position<stages> at;
    for (int i = 0; i < tiles; ++i, ++at)
      for (int share = 0; share < loading_warps; ++share) load_items(i, at, share);
  }
  /// Loads every tile of a team from tile `begin` on into free stages, as loading warp `turn`.
  LOOKBACK_DEVICE void load(int turn, int begin) {
    const int team = turn / loading_warps, share = turn % loading_warps;
    ring_position<stages> at;
    at.advance(begin + team);
    for (int i = begin + team; i < sequence_.count();
         i += loading_teams, at.advance(loading_teams)) {
      if (i >= stages) simt::wait(shared_.scanned[at.stage], at.phase ^ 1); // mutant: load-ring
      if constexpr (holds) wait_until_held(i - tuning.byte_stages);
      if constexpr (structs)
        load_structs(i, at, share);
      else
        load_items(i, at, share);
    }
  }
  /// Waits until tile i of the sequence is in registers, if it exists. Its bytes are then free.
  LOOKBACK_DEVICE void wait_until_held(int i) {
    if (i < 0) return;
    const int place = i % tuning.byte_stages;
    const auto phase = static_cast<unsigned>(i / tuning.byte_stages) & 1;
    simt::wait(shared_.in_registers.held[place], phase); // mutant: held-ring
  }
  /// Bytes: at most as many tiles are on their way as with bulk copies. The first ones are loaded
  /// before the blocks have settled, so there is nothing to wait for.
  LOOKBACK_DEVICE void load_items(int i, ring_position<stages> at, int share) {
    const unsigned tile = sequence_.tile(i);
    auto &stage = shared_.tiles[byte_stage_of(i, at)];
    auto &copied = shared_.copied[at.stage];
    if constexpr (can_stage<Problem>) {
      const bool is_short = sequence_is_short();
      const int in_flight = is_short ? tuning.short_in_flight : tuning.in_flight;
      if (i >= in_flight) {
        auto before = at;
        before.advance(-in_flight);
        simt::wait(shared_.copied[before.stage], before.phase);
      }
      source_.load(stage, tile, valid_of(tile), share, copied, simt::cache_policy_of(!is_short));
    } else {
      source_.template load<tuning.loads_at_once>(stage, tile, valid_of(tile), share, copied);
    }
  }
  /// In a long sequence, at most `in_flight` tiles are on their way, and their lines leave the L2
  /// cache last (struct_tile::has_policy). A short one has no limit. (H200, 0.4 to 0.8 GB, structs
  /// of 12, 24, 32 bytes, share of a copy's speed: with neither .95, .87, .89; with the policy .97,
  /// .88, .91; with both .98, .89, .91.)
  LOOKBACK_DEVICE void load_structs(int i, ring_position<stages> at, int share) {
    const bool is_long = !sequence_is_short();
    const unsigned tile = sequence_.tile(i);
    if (is_long && i >= tuning.in_flight) {
      auto before = at;
      before.advance(-tuning.in_flight);
      simt::wait(shared_.copied[before.stage], before.phase);
    }
    source_.load(shared_.tiles[at.stage], tile, valid_of(tile), share, shared_.copied[at.stage],
                 simt::cache_policy_of(is_long));
  }

  /// Scans the aggregates of rows, or of the warps' blocked items. The prefixes stay in the block;
  /// the aggregate of the tile is published for the other blocks.
  LOOKBACK_DEVICE void publish() {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    ring_position<stages> at;
    for (int i = 0; i < sequence_.count(); ++i, ++at) {
      const int full_rows =
          blocked ? aggregates_a_tile : aggregates_of<Problem>(valid_of(sequence_.tile(i)));
      simt::wait(shared_.reduced[at.stage], at.phase); // mutant: reduced-wait
      uninitialized_array<T, 1> row_prefix;            // R(lane), inclusive
      auto &of_rows = shared_.rows[at.stage];
      scan_row_aggregates(of_rows, full_rows, row_prefix, op_, exchange);
      const bool publishes = lane == aggregates_a_tile - 1;
      // No tile reads the aggregate of the scan's last tile.
      if (publishes && !sequence_.is_last(i))
        tiles::publish(state_, sequence_.tile(i), row_prefix[0]);
      if (lane < full_rows) construct(of_rows[lane], row_prefix[0]); // mutant: row-prefixes
      // Every lane arrives: it has written the prefix of its own row.
      simt::arrive(shared_.rows_ready[at.stage]); // mutant: rows-arrive
      // Last: its release waits for the thread's earlier writes.
      if constexpr (tiles::in_rounds)
        if (publishes) state_.count(i);
    }
  }

  /// Only the last tile of the scan can be partial.
  LOOKBACK_DEVICE int full_tiles() const {
    const int count = sequence_.count();
    return valid_of(sequence_.tile(count - 1)).fill_tile() ? count : count - 1;
  }
  /// Reduces tiles turn, turn + reducing_warps, ... of the sequence, as reducing warp `turn`.
  LOOKBACK_DEVICE void reduce_structs(int turn) {
    const int full = full_tiles();
    ring_position<stages> at;
    at.advance(turn);
    int i = turn;
    for (; i < full; i += tuning.reducing_warps, at.advance(tuning.reducing_warps))
      reduce_structs<true>(i, at);
    if (i < sequence_.count()) reduce_structs<false>(i, at);
  }
  /// The aggregate of tile i is published for the other blocks. R of its rows stays in the block.
  /// (The parity is not that of an earlier phase: the warp has seen tile i - reducing_warps copied.
  /// For this, every loading lane's earlier copies must be complete, and those of tile i - stages
  /// are among them.)
  template <bool Full>
  LOOKBACK_DEVICE void reduce_structs(int i, ring_position<stages> at) {
    const unsigned tile = sequence_.tile(i);
    simt::wait(shared_.copied[at.stage], at.phase); // mutant: struct-copied
    const row_reduction<Problem, Full> reduction(shared_.tiles[at.stage], valid_of(tile).of_tile);
    uninitialized_array<T, 1> through; // R of the lane's row, inclusive
    reduction.run(through, op_);
    if (reduction.ends_row()) { // mutant: struct-rows-written
      if (reduction.row() == shape::tile_rows - 1 && !sequence_.is_last(i))
        tiles::publish(state_, tile, through[0]);
      construct(shared_.rows[at.stage][reduction.row()], through[0]);
    }
    // Every lane arrives: it has read its items, and written R of its row.
    simt::arrive(shared_.rows_ready[at.stage]); // mutant: struct-rows-arrive
  }
  /// Scans the tiles of the team, which reducing warps reduce.
  LOOKBACK_DEVICE void scan_structs(int team) {
    const int full = full_tiles();
    ring_position<stages> at;
    at.advance(team);
    int i = team;
    for (; i < full; i += scanning_teams, at.advance(scanning_teams)) scan_structs<true>(i, at);
    if (i < sequence_.count()) scan_structs<false>(i, at);
  }
  template <bool Full>
  LOOKBACK_DEVICE void scan_structs(int i, ring_position<stages> at) {
    const unsigned tile = sequence_.tile(i);
    simt::wait(shared_.copied[at.stage], at.phase); // mutant: struct-scanned-copied
    const auto prefix_of = [&] {
      simt::wait(shared_.rows_ready[at.stage], at.phase); // mutant: struct-rows-wait
      return carry_.prefix(at, tile);
    };
    blocked_rows<Problem, Full>(problem_, shared_.tiles[at.stage], tile, valid_of(tile).of_tile,
                                scanning_warp())
        .scan(prefix_of, shared_.rows[at.stage], op_);
    // Every lane arrives: it no longer reads the stage.
    simt::arrive(shared_.scanned[at.stage]); // mutant: struct-scanned-arrive
  }
  /// Reduces and scans the full tiles of the team, then the partial tile if the block has one and
  /// it is the team's turn.
  LOOKBACK_DEVICE void reduce_and_scan() {
    const int team = scanning_team();
    const warp_share share{simt::in_register(scanning_warp() * rows),
                           simt::in_register(scanning_warp() * rows * shape::row_elements)};
    ring_position<stages> reducing, scanning;
    reducing.advance(team);
    scanning.advance(team);
    const int full = full_tiles();
    const bool aligned = source_.aligned() && (!stores_vectors_if_aligned || as_vectors(problem_));
    if constexpr (tuning.short_code) {
      static_assert(scanning_teams == 1, "one team scans every tile");
      const int fast = aligned ? full : 0; // mutant: fast-tiles
      reduce_and_scan<true, true>(share, team, 0, fast, reducing, scanning);
      if (fast < sequence_.count())
        reduce_and_scan<false, false>(share, team, fast, sequence_.count(), reducing, scanning);
    } else {
      if (aligned)
        scan_full_tiles<true>(share, team, full, reducing, scanning);
      else
        scan_full_tiles<false>(share, team, full, reducing, scanning);
      if (full < sequence_.count() && full % scanning_teams == team) { // mutant: partial-team
        kept_vectors vectors;
        reduce<false, false>(share, full, reducing, vectors);
        scan<false, false>(share, full, scanning, vectors);
      }
    }
  }
  template <bool Aligned>
  LOOKBACK_DEVICE void scan_full_tiles(const warp_share &share, [[maybe_unused]] int team, int full,
                                       ring_position<stages> &reducing,
                                       ring_position<stages> &scanning) {
    if constexpr (holds)
      reduce_hold_and_scan<Aligned>(share, full, reducing, scanning);
    else
      reduce_and_scan<true, Aligned>(share, team, 0, full, reducing, scanning);
  }
  /// The team's tiles, every scanning_teams-th, from tile `begin` of the sequence to tile `end`.
  /// Tile i is reduced when its copy has completed, and scanned `depth` tiles later. In between, V
  /// stays in registers.
  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE void reduce_and_scan(const warp_share &share, int team, int begin, int end,
                                       ring_position<stages> &reducing,
                                       ring_position<stages> &scanning) {
    constexpr int depth = tuning.depth, waits = depth / scanning_teams; // tiles of the team
    // V(lane), inclusive, of the rows of this warp; the oldest tile first.
    kept_vectors waiting[waits];
    for (int i = begin + team; i < end + depth; i += scanning_teams) {
      if (i >= begin + depth) {
        scan<Full, Aligned>(share, i - depth, scanning, waiting[0]);
        scanning.advance(scanning_teams);
      }
      LOOKBACK_UNROLL
      for (int d = 1; d < waits; ++d) waiting[d - 1] = waiting[d];
      if (i < end) {
        reduce<Full, Aligned>(share, i, reducing, waiting[waits - 1]);
        reducing.advance(scanning_teams);
      }
    }
  }

  /// The source of tile i of the sequence, which is in `stage`.
  LOOKBACK_DEVICE decltype(auto) source_of([[maybe_unused]] int i,
                                           [[maybe_unused]] int stage) const {
    if constexpr (splits)
      return source_.with_apart(shared_.apart[i % apart_stages], shared_.tiles[stage]);
    else
      return (source_);
  }
  /// The stage of the bytes of tile i of the sequence, which is at `at`.
  LOOKBACK_DEVICE static int byte_stage_of([[maybe_unused]] int i,
                                           [[maybe_unused]] ring_position<stages> at) {
    if constexpr (holds)
      return i % tuning.byte_stages;
    else
      return at.stage;
  }
  /// The rows of a full tile in registers.
  LOOKBACK_DEVICE auto held_rows(const warp_share &share, const held_items &held, unsigned tile) {
    return register_rows<Problem, rows, true, true>(
        problem_, held, nullptr, tile, tile + 1 == sequence_.tiles, simt::lane_index(),
        share.first_row, shape::tile_elements, output_at(problem_, tile, share.first_item));
  }
  template <bool Full>
  LOOKBACK_DEVICE auto blocked_share(unsigned tile, int stage) {
    return blocked_tile<Problem, look_ahead_source<Problem, Tuning>, scanning_warps, Full>(
        problem_, source_, shared_.tiles[stage], tile, valid_of(tile).of_tile, scanning_warp());
  }
  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE auto rows_of(const warp_share &share,
                               const look_ahead_source<Problem, Tuning> &source, unsigned tile,
                               int stage, int lane) {
    return warp_rows<Problem, look_ahead_source<Problem, Tuning>, rows, Full, Aligned>(
        problem_, source, shared_.tiles[stage], tile, tile + 1 == sequence_.tiles, lane,
        share.first_row, valid_of(tile).of_tile, output_at(problem_, tile, share.first_item));
  }

  /// Tiles between their two passes, the oldest first: V of `depth` of them, and the items of the
  /// oldest `held`. Behind them is room for the tiles of a round.
  struct waiting_tiles {
    kept_vectors vectors[tuning.depth + tuning.round];
    held_items items[tuning.held + tuning.round];
  };
  /// reduce_and_scan() where tiles wait in registers: tile i leaves shared memory `depth - held`
  /// tiles after its reduction.
  template <bool Aligned>
  LOOKBACK_DEVICE void reduce_hold_and_scan(const warp_share &share, int end,
                                            ring_position<stages> &reducing,
                                            ring_position<stages> &scanning) {
    waiting_tiles waiting;
    for (int i = 0; i < end + tuning.depth; i += tuning.round) {
      // Without conditions, the compiler moves no register twice. For rounds of several steps, such
      // code beside the code with conditions would be too long.
      if constexpr (tuning.round == 1)
        for (; i >= tuning.depth && i < end; ++i) // mutant: steps-always
          run_round<true, Aligned>(share, i, end, reducing, scanning, waiting);
      run_round<false, Aligned>(share, i, end, reducing, scanning, waiting);
    }
  }
  /// A round of steps. Step i scans tile i - depth, takes tile i - depth + held to registers, and
  /// reduces tile i, as far as these exist; with `Always`, they do. Registers have no indices at
  /// run time, so the tiles that wait move on, once a round.
  template <bool Always, bool Aligned>
  LOOKBACK_DEVICE void run_round(const warp_share &share, int first, int end,
                                 ring_position<stages> &reducing, ring_position<stages> &scanning,
                                 waiting_tiles &waiting) {
    constexpr int depth = tuning.depth, held = tuning.held, round = tuning.round;
    const auto has = [=](int i) { return Always || (i >= 0 && i < end); };
    LOOKBACK_UNROLL
    for (int u = 0; u < round; ++u) {
      const int i = first + u;
      if (has(i - depth)) {
        scan<true, Aligned>(share, i - depth, scanning, waiting.vectors[u], &waiting.items[u]);
        ++scanning;
      }
      if (has(i - depth + held)) hold<Aligned>(share, i - depth + held, waiting.items[held + u]);
      if (has(i)) {
        reduce<true, Aligned>(share, i, reducing, waiting.vectors[depth + u]);
        ++reducing;
      }
    }
    LOOKBACK_UNROLL
    for (int d = 0; d < held; ++d)
      waiting.items[d] = waiting.items[d + round]; // mutant: moved-items
    LOOKBACK_UNROLL
    for (int d = 0; d < depth; ++d)
      waiting.vectors[d] = waiting.vectors[d + round]; // mutant: moved-vectors
  }
  /// Reads the warp's rows of tile i, whose bytes are then free.
  template <bool Aligned>
  LOOKBACK_DEVICE void hold(const warp_share &share, int i, held_items &held) {
    const int place = i % tuning.byte_stages;
    const auto own =
        rows_of<true, Aligned>(share, source_, sequence_.tile(i), place, simt::lane_index());
    LOOKBACK_UNROLL
    for (int r = 0; r < rows; ++r) held.own[r] = own.template read_array<0>(r);
    simt::synchronize_warp(); // mutant: held-arrive
    if (simt::lane_index() == 0) simt::arrive(shared_.in_registers.held[place]);
  }

  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE void reduce(const warp_share &share, int i, ring_position<stages> at,
                              kept_vectors &vectors) {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    simt::wait(shared_.copied[at.stage], at.phase); // mutant: copied-wait
    if constexpr (blocked) {
      construct(vectors[0], blocked_share<Full>(sequence_.tile(i), at.stage).reduce(op_));
      if (lane != shape::row_vectors - 1) return;
      auto &aggregates = shared_.rows[at.stage];
      construct(aggregates[scanning_warp()], vectors[0]); // mutant: warp-aggregate
      simt::arrive(shared_.reduced[at.stage]);            // mutant: warp-arrive
    } else {
      const auto &source = source_of(i, at.stage);
      const auto own =
          rows_of<Full, Aligned>(share, source, sequence_.tile(i), byte_stage_of(i, at), lane);
      auto &aggregates = shared_.rows[at.stage];
      const early_items<std::decay_t<decltype(own)>> early(own);
      const bool arrives = lane == shape::row_vectors - 1;  // the lane that writes the aggregates
      reduce_rows(own, vectors, aggregates, op_, exchange); // mutant: row-aggregates
      // The arrival at `reduced` frees values in a room apart, so they are gathered before it.
      constexpr bool gathers_first = splits && places_runs<Problem>; // mutant: gathers-first
      if constexpr (gathers_first) gather_results(own, vectors, early);
      // The first lane has read the key before the warp's rows, which the warp of that key may
      // overwrite with results. Sums by key: other lanes have written aggregates.
      if constexpr (selects<Problem> || places_runs<Problem> || adds_by_key<Problem>)
        simt::synchronize_warp();                           // mutant: share-arrive
      if (arrives) simt::arrive(shared_.reduced[at.stage]); // mutant: reduced-arrive
      if constexpr (!gathers_first) gather_results(own, vectors, early);
    }
  }

  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE void scan(const warp_share &share, int i, ring_position<stages> at,
                            kept_vectors &vectors, const held_items *held = nullptr) {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    const unsigned tile = sequence_.tile(i);
    simt::wait(shared_.rows_ready[at.stage], at.phase); // mutant: rows-wait
    maybe<T> prefix = carry_.prefix(at, tile);
    if constexpr (blocked) {
      if (scanning_warp() > 0) prefix.append(op_, shared_.rows[at.stage][scanning_warp() - 1]);
      blocked_share<Full>(tile, at.stage).scan(prefix.exists() ? prefix.value() : T{}, vectors[0]);
    } else {
      // The sum of nothing stands for no prefix: then there are no branches, for which shifts, and
      // code with one kind of store, leave no time.
      if constexpr (sums_integers<Problem> && (!Aligned || stores_vectors_if_aligned))
        if (!prefix.exists()) prefix.set(T{0});
      const auto own = [&] {
        if constexpr (holds && Full)
          return held_rows(share, *held, tile);
        else
          return rows_of<Full, Aligned>(share, source_, tile, byte_stage_of(i, at), lane);
      }();
      const auto row_prefix = [&](int row) -> const T & {
        return shared_.rows[at.stage][row > 0 ? row - 1 : 0];
      };
      const bool vector_stores = (stores_vectors_if_aligned && Aligned) || as_vectors(problem_);
      scan_rows<false>(own, prefix, row_prefix, vectors, vector_stores, op_, exchange);
    }
    // Every lane arrives: it no longer reads the stage.
    simt::arrive(shared_.scanned[at.stage]); // mutant: scanned-arrive
  }

  const Problem &problem_;
  const State &state_;
  storage &shared_;
  decltype(Problem::op) op_;
  const look_ahead_source<Problem, Tuning> source_;
  const tile_sequence sequence_;
  const carry::look_ahead<Problem, Tuning, typename tiles::type> carry_;
  typename lane_exchange<T>::storage nothing_;
};
#endif
/// Warps of the pipeline's block that scan one tile, if only the device knows the number of items
/// and there are few: at most 16.
template <class Problem, class Tuning>
struct few_tiles {
  static constexpr int warps_of(int wanted) {
    return wanted < Tuning::value.warps() && wanted <= Problem::shape::tile_rows
               ? wanted
               : warps_of(wanted / 2);
  }
  static constexpr tile_tuning value{warps_of(16), 1};
  using alone = tile_block<Problem, carry::none, few_tiles>;
  using wave = tile_block<Problem, carry::settled_wave, few_tiles>;
  struct storage {
    typename wave::scan::storage tile;
    participants here;
  };
  static constexpr std::size_t bytes = alone::shared_bytes > sizeof(storage) ? alone::shared_bytes
                                                                             : sizeof(storage);
};
template <class Problem, class Rows>
struct pipeline_block {
  using rows = Rows;
  template <class Row>
  struct of {
    using tuning = typename Row::template pipeline<Problem>;
    using storage = look_ahead_storage<Problem, tuning>;
    static_assert(tuning::value.held == 0 || sizeof(storage) <= 99 * 1024,
                  "tiles wait in registers where a block has 99 KiB of shared memory");
    static constexpr int threads = tuning::value.warps() * simt::warp_threads;
    static constexpr std::size_t bytes() {
      if constexpr (counts_on_device<Problem>)
        return std::max(sizeof(storage), few_tiles<Problem, tuning>::bytes);
      else
        return sizeof(storage);
    }
    static constexpr block_shape shape() {
      return {threads, tuning::fits ? bytes() : more_shared_bytes_than_any, true};
    }
  };
  using here = of<compiled_row<Rows>>;
};

#if LOOKBACK_TARGETS_SM_80
/// Answers for the block. Called by one thread. An initial value on the device is read between two
/// answers: after the second of all blocks, results may overwrite it.
template <class Problem>
LOOKBACK_DEVICE void answer_call(const Problem &problem, const roll_call<> &roll,
                                 typename Problem::accumulator &initial) {
  const unsigned block = simt::block_index();
  if constexpr (reads_initial<Problem>) {
    if (!roll.answer(block, presence::started)) return;
    read_initial(problem, initial); // mutant: ahead-initial
    roll.answer_present(block);     // mutant: ahead-answer
  } else {
    roll.answer(block, presence::present);
  }
}

/// Scans with those of the first `blocks` blocks of the launch that take part. Until they have
/// settled, a block supposes that all of them do, and starts to copy the first tiles that it would
/// have then. `HasAnswered`: the block has.
template <bool HasAnswered, class Problem, class Tuning, class State>
LOOKBACK_DEVICE void scan_ahead(const Problem &problem, const State &state, const roll_call<> &roll,
                                unsigned blocks) {
  using scan = look_ahead_scan<Problem, Tuning, State>;
  auto &shared = simt::shared_memory<look_ahead_storage<Problem, Tuning>>();
  const int warp = simt::warp_index();
  if (!HasAnswered && warp == 1 && simt::lane_index() == 0)
    answer_call(problem, roll, shared.initial[0]);
  const auto tiles = static_cast<unsigned>(problem.tiles());
  tile_sequence sequence{simt::block_index(), blocks, tiles};
  auto next = scan(problem, state, sequence, shared).begin();
  settle(roll, blocks, patience_of(tiles), shared.here);
  simt::synchronize_block(); // mutant: start-barrier
  const participant here = shared.here.place_of(simt::block_index(), blocks);
  if (!LOOKBACK_LIKELY(here.all == blocks)) {
    sequence.first = here.mine, sequence.step = here.all;
    next = scan(problem, state, sequence, shared).begin_again(next);
    if (here.mine == participant::nowhere) return;
    simt::synchronize_block(); // mutant: again-barrier
  }
  scan(problem, state, sequence, shared).run(next);
}

/// Scans at most as many tiles as there are blocks, by the first blocks of the launch: one block
/// each, as a wave, if all of these take part.
template <bool HasAnswered, class Problem, class Tuning>
LOOKBACK_DEVICE void scan_few(const Problem &problem,
                              const tagged_state<typename Problem::accumulator> &state,
                              const roll_call<> &roll, unsigned tiles) {
  using few = few_tiles<Problem, Tuning>;
  using wave = typename few::wave;
  auto &shared = simt::shared_memory<typename few::storage>();
  constexpr int warps = few::value.warps;
  const int warp = simt::warp_index();
  const unsigned block = simt::block_index();
  if (block >= tiles) return;
  if (!HasAnswered && warp == 1 && simt::lane_index() == 0)
    answer_call(problem, roll, shared.tile.carry.initial[0]);
  // Until the blocks have settled, each supposes that it will scan the tile of its index. Bytes may
  // be fetched in vain; items may not be, since their iterator would be called twice.
  constexpr bool fetches = can_stage<Problem>;
  if (fetches && warp < warps) fetch_one_tile<wave>(problem, block, shared.tile);
  settle(roll, tiles, patience_of(tiles), shared.here);
  simt::synchronize_block(); // mutant: few-barrier
  const participant here = shared.here.place_of(block, tiles);
  if (warp >= warps) return;
  bool is_fetched = here.mine == block; // mutant: few-fetched
  if (fetches && !LOOKBACK_LIKELY(is_fetched))
    typename wave::scan::source(problem).finish(); // mutant: few-in-vain
  // None, if the block has no place.
  for (unsigned tile = here.mine; tile < tiles; tile += here.all) {
    if (fetches && !is_fetched) fetch_one_tile<wave>(problem, tile, shared.tile);
    is_fetched = false; // mutant: few-next-fetched
    scan_one_tile<wave, carry::settled_wave, code_for::both, fetches>(problem, state, tile,
                                                                      shared.tile);
    // The next tile takes the same memory, and rows of different warps may share 16-byte units.
    simt::synchronize_warps<warps>(); // mutant: next-few
  }
}

/// Scans a number of items that only the device knows. A pipeline needs more tiles than blocks; one
/// tile is scanned by the first block, and a few by one block each, as a wave.
template <class Problem, class Tuning>
LOOKBACK_DEVICE void scan_actual_ahead(const Problem &problem,
                                       const tagged_state<typename Problem::accumulator> &state,
                                       const roll_call<> &roll) {
  using few = few_tiles<Problem, Tuning>;
  // The answer, for which other blocks wait, is under way while the number is read. (H100, 2^16
  // i32: 8.2 us without this, 7.5 with it.) An initial value would have to be read in between.
  constexpr bool early = !reads_initial<Problem>;
  const bool answers = early && simt::warp_index() == 1 && simt::lane_index() == 0;
  std::uint64_t before = 0;
  if (answers) before = roll.begin_answer(simt::block_index(), presence::present);
  const auto extent = actual_extent(problem);
  if (extent.items == 0) return;
  const Problem actual = problem.over(extent);
  const unsigned tiles = tiles_of_grid(actual);
  if (answers && tiles > 1) roll.end_answer(simt::block_index(), presence::present, before);
  if (tiles == 1) {
    const int warps = few::value.warps;
    if (simt::block_index() == 0 && simt::warp_index() < warps)
      scan_tile_of_block<typename few::alone, carry::none, code_for::fast>(
          actual, scan_state<typename Problem::accumulator>{});
  } else if (tiles > simt::block_count()) {
    scan_ahead<early, Problem, Tuning>(actual, state, roll, simt::block_count());
  } else {
    scan_few<early, Problem, Tuning>(actual, state, roll, tiles);
  }
}
#endif

/// Grid: one block a multiprocessor, at most `participants_at_most`, and at most as many as there
/// are tiles.
template <class Problem, class Rows>
LOOKBACK_KERNEL((pipeline_block<Problem, Rows>::here::threads), 1)
pipeline_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                const tagged_state<typename Problem::accumulator> state, const roll_call<> roll) {
#if LOOKBACK_TARGETS_SM_80
  using block = typename pipeline_block<Problem, Rows>::here;
  if constexpr (block::tuning::fits && counts_on_device<Problem>)
    scan_actual_ahead<Problem, typename block::tuning>(problem, state, roll);
  else if constexpr (block::tuning::fits)
    scan_ahead<false, Problem, typename block::tuning>(problem, state, roll, simt::block_count());
#endif
}

/// Whether the output overlaps the keys. If so, the key before a tile may be overwritten before the
/// tile is read.
template <class Problem>
bool writes_over_keys(const Problem &problem) {
  if constexpr (boundary_of<typename Problem::input_type>::exists) {
    const auto keys = reinterpret_cast<std::uintptr_t>(problem.input.keys());
    const auto output = reinterpret_cast<std::uintptr_t>(problem.sink.output);
    const std::uint64_t n = problem.extent.items;
    return keys < output + n * sizeof(*problem.sink.output) &&
           output < keys + n * sizeof(*problem.input.keys());
  } else {
    return false;
  }
}

/// Whether both arrays begin at multiples of 16 bytes.
template <class Problem>
bool structs_are_aligned([[maybe_unused]] const Problem &problem) {
  if constexpr (blocks_structs<Problem>::value) {
    const auto input = reinterpret_cast<std::uintptr_t>(problem.input),
               output = reinterpret_cast<std::uintptr_t>(problem.sink.output);
    return (input | output) % 16 == 0; // mutant: struct-alignment
  } else {
    return true;
  }
}

/// The state of a pipeline's blocks, of any content before it.
template <class Problem>
struct pipeline_workspace {
  using status_words = decltype(tagged_state<typename Problem::accumulator>::tile_aggregates);

  pipeline_workspace(temporary_memory &memory, std::uint64_t tiles) {
    const std::size_t before = memory.bytes();
    answers = memory.take<std::uint64_t>(participants_at_most);
    tile_aggregates = memory.take<char>(status_words::bytes(tiles).zeroed);
    if constexpr (reads_groups<Problem>)
      group_aggregates =
          memory.take<char>(status_words::bytes(tiles / Problem::shape::group_tiles).zeroed);
    words = (memory.bytes() - before) / sizeof(std::uint64_t);
  }

  std::uint64_t *answers; // and all that follows, `words` words
  char *tile_aggregates, *group_aggregates = nullptr;
  std::size_t words;
};

/// A reverse_iterator over a pointer is memory here, in scans without keys. (H200, us: 2^28 i32
/// 535, 507 with this. One tile is faster with an iterator's items: 2^12 4.3, 5.0.)
template <class Rows>
struct pipeline : tree_strategy<Rows> {
  static constexpr const char *name = "pipeline";
  static constexpr bool needs_residency = false;
  template <class Problem>
  using known = decltype(with_known_iterators(std::declval<const Problem &>()));
  template <class Problem>
  static constexpr bool supports =
      can_look_ahead<known<Problem>>::value && !is_large<known<Problem>, Rows>;

  template <class Given>
  static std::size_t storage(const Given &given) {
    using Problem = known<Given>;
    const Problem problem = with_known_iterators(given);
    const std::uint64_t tiles = problem.tiles();
    if (tiles > INT_MAX) return too_many_tiles;
    temporary_memory needed;
    if (tiles > 1) pipeline_workspace<Problem>(needed, tiles);
    return needed.bytes();
  }
  template <class Given, class Launch>
  static const char *fits(const Given &given, Launch &launch) {
    using Problem = known<Given>;
    const Problem problem = with_known_iterators(given);
    if (problem.tiles() == 1) return "one tile has none to look ahead of";
    if (writes_over_keys(problem)) return "the results overwrite the keys";
    if (blocks_structs<Problem>::value && !structs_are_aligned(problem))
      return "an array of structs does not begin at a multiple of 16 bytes";
    return launch.template can_run<pipeline_block<Problem, Rows>>(pipeline_kernel<Problem, Rows>)
               ? nullptr
               : "no code for sm_80 or newer runs on the device, or its shared memory is too "
                 "small";
  }
  template <class Given, class Launch>
  static void run(const Given &given, temporary_memory &memory, Launch &launch) {
    using Problem = known<Given>;
    const Problem problem = with_known_iterators(given);
    const std::uint64_t tiles = problem.tiles(),
                        blocks = std::min(launch.multiprocessors(), participants_at_most);
    const pipeline_workspace<Problem> in(memory, tiles);
    const std::uint64_t tag = launch.tag();
    if (launch.is_captured()) // its graph repeats the launch with the same tag
      clear_words<Rows>(in.answers, in.words, launch); // mutant: captured-clear
    const auto kernel = pipeline_kernel<Problem, Rows>;
    tagged_state<typename Problem::accumulator> state;
    state.tile_aggregates = {in.tile_aggregates, nullptr, mark_by_tag{tag}};
    if constexpr (reads_groups<Problem>)
      state.group_aggregates = {in.group_aggregates, nullptr, mark_by_tag{tag}};
    launch(kernel, launch.template shape<pipeline_block<Problem, Rows>>(kernel),
           launch_grid{std::min(tiles, blocks)}, problem, state, roll_call<>(in.answers, tag));
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
