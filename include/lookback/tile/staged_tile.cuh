// SPDX-License-Identifier: MIT
// The input of a tile in shared memory, byte for byte as in global memory: how it is copied there,
// and how lanes read their elements from it.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/block/blocked_items.cuh>
#include <lookback/block/staged_runs.cuh>
#include <lookback/block/staged_selection.cuh>
#include <lookback/tile/valid_items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether results of the pipeline pass through shared memory on their way to the output, because
/// the output is not memory: adjacent lanes then write adjacent results.
template <class Problem>
inline constexpr bool results_pass_stage = !is_memory<typename Problem::output_type>;
/// Whether threads write results of any kind to a stage.
template <class Problem>
inline constexpr bool writes_stage =
    adds_blocked<Problem> || results_pass_stage<Problem> || selects<Problem>;

/// Stands for an array that does not exist.
inline constexpr int no_array = -1;

/// Arrays of a staged input that are copied from memory. The others have a bit for each element.
template <class Staged, class = void>
inline constexpr int copied_arrays = Staged::arrays;
template <class Staged>
inline constexpr int copied_arrays<Staged, std::void_t<decltype(Staged::copied_arrays)>> =
    Staged::copied_arrays;

/// The bytes of a tile's arrays, one array after the other. Each keeps its address modulo 16, as
/// bulk copies require. Neighbouring bytes up to the next multiple of 16 are copied with them, and
/// so are the elements before and behind the tile where an element depends on its neighbours.
/// Memory that is scanned from its end keeps its order here, so that the last row comes first.
/// Array `Apart`, if there is one, is in a room of its own (with_apart()), which the first pass
/// frees. `KeepsLines`: the arrays may begin anywhere in a line of 128 bytes, and keep their
/// address modulo 128.
template <class Problem, int Warps, bool Shifts, int Apart = no_array, bool KeepsLines = false>
class staged_tile {
  using input = typename Problem::input_type;
  using staged = staged_input<input>;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements;
  static constexpr unsigned granule = 16;
  static constexpr bool from_end = counts_from_end<input>;
  template <int A>
  static constexpr unsigned element_bytes = sizeof(typename staged::template element<A>);
  template <int A>
  static constexpr unsigned lead = staged::reads_before &&A == staged::arrays - 1 ? granule : 0;
  /// Bytes of the array behind the tile that are needed, too.
  template <int A>
  static constexpr unsigned tail =
      staged::reads_after &&A == staged::arrays - 1 ? element_bytes<A> : 0;
  // Each array gets whole lines of 128 bytes, so that a cache line of memory is copied to one line
  // of shared memory: bulk copies to other offsets are slower (545 against 525 us for 2^28 i32 on
  // an H200).
  static constexpr unsigned line = 128;
  template <int A>
  static constexpr unsigned lead_room = lead<A> > 0 ? line : 0;
  template <int A>
  static constexpr int share = shape::tile_elements /
                               Warps *static_cast<int>(element_bytes<A>); // bytes a warp
  template <int A>
  static constexpr unsigned row_bytes = shape::row_elements *element_bytes<A> /
                                        (A < copied_arrays<staged> ? 1 : 8);
  template <int A>
  static constexpr unsigned room = (lead_room<A> + shape::tile_rows * row_bytes<A> + tail<A> +
                                    granule + (KeepsLines ? line : 0) + line - 1) &
                                   ~(line - 1);

  /// A range of bytes of an array, counted from the array's first byte.
  struct piece {
    std::uint64_t begin, end;
    LOOKBACK_DEVICE unsigned bytes() const {
      return end > begin ? static_cast<unsigned>(end - begin) : 0;
    }
  };

public:
  using first_type = typename staged::template element<0>;
  template <int A>
  using element = typename staged::template element<A>;
  static constexpr bool shifts = Shifts;
  static constexpr int arrays = staged::arrays, from_memory = copied_arrays<staged>;
  /// Whether a warp needs only its own rows, and these share no 16-byte unit with those of others
  /// if the arrays are aligned.
  static constexpr bool own_rows = !staged::reads_before && !staged::reads_after && !from_end;
  static constexpr bool splits = Apart != no_array;
  static constexpr unsigned apart_bytes = !splits ? 0 : Apart == 0 ? room<0> : room<arrays - 1>;
  static constexpr unsigned bytes = room<0> + (arrays == 2 ? room<arrays - 1> : 0) - apart_bytes;
  static constexpr unsigned alignment = granule;
  using elements = typename staged::template vector<E, Shifts>;

  LOOKBACK_DEVICE explicit staged_tile(const Problem &problem)
      : input_(problem.input), n_(problem.extent.items) {
    begin_at<0>();
    if constexpr (from_memory == 2) begin_at<1>();
  }

  /// The same tile, whose array apart is in the room `apart`, behind the other one's, `stage`.
  LOOKBACK_DEVICE staged_tile with_apart(const unsigned char *apart,
                                         const unsigned char *stage) const {
    static_assert(splits, "an array must have a room of its own");
    staged_tile tile = *this;
    tile.apart_ = static_cast<unsigned>(apart - stage);
    return tile;
  }

  /// Whether all arrays begin at multiples of 16 bytes; end there, if they count from the end.
  LOOKBACK_DEVICE bool aligned() const { return skip_[0] == 0 && skip_[arrays - 1] == 0; }

  /// Starts to copy a tile of `valid` items, which is complete after finish(). Called by all
  /// threads of the first `Warps` warps.
  template <bool KnownAligned>
  LOOKBACK_DEVICE void fetch(unsigned char *stage, unsigned tile, int valid) const {
    // The element before a tile is in one granule.
    constexpr bool leads_fit = !staged::reads_before || element_bytes<arrays - 1> <= granule;
    fetch_share<KnownAligned && !from_end && leads_fit>(stage, tile, valid, simt::warp_index());
  }
  LOOKBACK_DEVICE void finish() const {
    simt::wait_for_copies();    // mutant: copies-wait
    if (own_rows && aligned())  // rows share no 16-byte unit
      simt::synchronize_warp(); // mutant: fetch-warp
    else
      simt::synchronize_warps<Warps>(); // mutant: fetch-block
  }
  /// Prefetches a full tile to the L2 cache. Called by the same threads.
  LOOKBACK_DEVICE void prefetch(unsigned tile) const {
    prefetch_array<0>(tile);
    if constexpr (arrays == 2) prefetch_array<1>(tile);
  }

#if LOOKBACK_TARGETS_SM_80
  /// Starts the copies of warp `share` of `Warps`. When they are complete, every lane of these
  /// warps has arrived at `copied`.
  LOOKBACK_DEVICE void load(unsigned char *stage, unsigned tile, const valid_items<shape> &valid,
                            int share, simt::barrier &copied, simt::cache_policy policy) const {
    bool by_copies = true; // and none of its bytes by ordinary writes
    if (own_rows && LOOKBACK_LIKELY(aligned() && valid.fill_tile())) {
      copy_share<0>(stage, tile, share, policy);
      if constexpr (from_memory == 2) copy_share<1>(stage, tile, share, policy);
    } else {
      fetch_share<false>(stage, tile, valid.of_tile, share);
      by_copies =
          copies_have<0>(tile, valid.of_tile) && copies_have<arrays - 1>(tile, valid.of_tile);
    }
    if (LOOKBACK_LIKELY(by_copies)) {
      simt::arrive_when_copied(copied); // mutant: load-copies
    } else {
      simt::wait_for_copies(); // mutant: load-rest
      simt::arrive(copied);
    }
  }
#endif

#if LOOKBACK_TARGETS_SM_90
  /// The bytes of a tile of `valid` items that bulk copies transfer; `is_whole`: all of them.
  struct plan {
    piece arrays[from_memory];
    unsigned bytes;
    bool is_whole;
  };
  /// The plan of a full tile takes few instructions, if the arrays are aligned and no element
  /// depends on its neighbours: the first copies of a kernel wait for their plans.
  LOOKBACK_DEVICE plan plan_of(unsigned tile, int valid) const {
    plan result;
    result.is_whole = own_rows && aligned() && valid == shape::tile_elements; // mutant: whole-tile
    if (result.is_whole) {
      result.arrays[0] = bytes_of<0>(tile, shape::tile_elements);
      if constexpr (from_memory == 2) result.arrays[1] = bytes_of<1>(tile, shape::tile_elements);
      result.bytes = shape::tile_elements *
                     (element_bytes<0> + (from_memory == 2 ? element_bytes<arrays - 1> : 0));
      return result;
    }
    result.arrays[0] = bulk_of<0>(tile, valid);
    result.bytes = result.arrays[0].bytes();
    if constexpr (from_memory == 2) {
      result.arrays[1] = bulk_of<1>(tile, valid);
      result.bytes += result.arrays[1].bytes();
    }
    return result;
  }
  /// Starts these copies, which complete on `copied`. Called by one thread, which itself copies the
  /// bytes that they leave out: the first and the last few of the arrays.
  LOOKBACK_DEVICE void fill(unsigned char *stage, unsigned tile, int valid, const plan &bulk,
                            simt::barrier &copied, simt::cache_policy policy) const {
    if (!bulk.is_whole) {
      copy_rest<0>(stage, tile, valid, bulk.arrays[0], 0, 1);
      if constexpr (from_memory == 2) copy_rest<1>(stage, tile, valid, bulk.arrays[1], 0, 1);
    }
    if (writes_stage<Problem> || !aligned())
      // Orders bytes that threads have written to this stage, now or in an earlier round, before
      // the bulk copies.
      simt::fence_before_bulk_copy();
    simt::arrive_and_expect(copied, bulk.bytes); // mutant: copy-bytes
    copy_bulk<0>(stage, tile, bulk.arrays[0], copied, policy);
    if constexpr (from_memory == 2) copy_bulk<1>(stage, tile, bulk.arrays[1], copied, policy);
  }
#endif

  /// This lane's elements of row `row`, of which `count` are valid.
  template <bool KnownAligned>
  LOOKBACK_DEVICE elements read(const unsigned char *stage, unsigned tile, int row,
                                int count) const {
    const unsigned char *rows[arrays];
    bool aligned[arrays];
    rows[0] = stage + place<0, KnownAligned>(row), aligned[0] = KnownAligned || skip_[0] == 0;
    if constexpr (arrays == 2)
      rows[1] = stage + place<1, KnownAligned>(row), aligned[1] = KnownAligned || skip_[1] == 0;
    return elements(input_, rows, aligned, tile, row, count);
  }

  /// This lane's vector of row `row` of array A.
  template <bool KnownAligned, int A>
  LOOKBACK_DEVICE lane_vector<element<A>, E> read_array(const unsigned char *stage, int row) const {
    return staged_vector<Shifts, E, element<A>>(stage + place<A, KnownAligned>(row),
                                                KnownAligned || skip_[A] == 0);
  }

  /// Element `i` of a tile whose vectors are single elements of one array, which is always aligned.
  /// It is read as this lane's element of a row that starts `lane` elements before it.
  LOOKBACK_DEVICE elements read_element(const unsigned char *stage, int i) const {
    static_assert(arrays == 1 && E == 1 && alignof(first_type) == granule,
                  "every element must be one aligned vector of a single array");
    constexpr bool aligned = true;
    const unsigned char *const row = stage + (i - simt::lane_index()) * int{sizeof(first_type)};
    return elements(input_, &row, &aligned, 0, 0, 1);
  }

  /// The bits of the tile, if there is an array of these.
  LOOKBACK_DEVICE static std::uint32_t *bits_in(unsigned char *stage) {
    static_assert(!splits && from_memory == 1 && arrays == 2, "the last array must be one of bits");
    return reinterpret_cast<std::uint32_t *>(stage + room<0>);
  }
  /// Address of row `row` of an array, the first unless named.
  template <bool KnownAligned = false, int A = 0>
  LOOKBACK_DEVICE auto row_of(unsigned char *stage, int row) const {
    return reinterpret_cast<element<A> *>(stage + place<A, KnownAligned>(row));
  }

private:
  /// `ByRows`: the arrays are aligned, so the rows of different warps share no 16-byte unit.
  template <bool ByRows>
  LOOKBACK_DEVICE void fetch_share(unsigned char *stage, unsigned tile, int valid, int warp) const {
    if constexpr (ByRows) {
      fetch_rows_of<0>(stage, tile, valid, warp);
      if constexpr (arrays == 2) fetch_rows_of<1>(stage, tile, valid, warp);
    } else {
      fetch_array<0>(stage, tile, valid, warp);
      if constexpr (arrays == 2) fetch_array<1>(stage, tile, valid, warp);
    }
  }
  /// Offset in the stage of the room of array A, or, with KeepsLines, of the granule in which the
  /// array begins.
  template <int A>
  LOOKBACK_DEVICE unsigned before() const {
    return (A == Apart ? apart_ : A == 0 || splits ? 0 : room<0>)+(KeepsLines ? line_skip_[A] : 0);
  }
  /// Offset of row `row` of array A in the stage.
  template <int A, bool KnownAligned = false>
  LOOKBACK_DEVICE unsigned place(int row) const {
    const int at = from_end ? shape::tile_rows - 1 - row : row; // mutant: mirrored-row
    return before<A>() + lead_room<A> + (KnownAligned ? 0 : skip_[A]) + at * row_bytes<A>;
  }
  template <int A>
  LOOKBACK_DEVICE const unsigned char *address() const {
    const auto *const array = staged::template array<A>(input_);
    return reinterpret_cast<const unsigned char *>(from_end ? array - n_ : array);
  }
  template <int A>
  LOOKBACK_DEVICE void begin_at() {
    const auto in_line = static_cast<unsigned>(
        reinterpret_cast<std::uintptr_t>(staged::template array<A>(input_)) % line);
    skip_[A] = in_line % granule;
    line_skip_[A] = in_line - skip_[A];
  }
  /// Byte of the array at which the tile would begin if it were full. For a partial tile from the
  /// end it is before the array: modulo 2^64.
  template <int A>
  LOOKBACK_DEVICE std::uint64_t origin_of(unsigned tile) const {
    constexpr std::uint64_t bytes = shape::tile_elements * element_bytes<A>;
    return from_end ? n_ * element_bytes<A> - (tile + std::uint64_t{1}) * bytes : tile * bytes;
  }
  template <int A>
  LOOKBACK_DEVICE piece bytes_of(unsigned tile, int valid) const {
    const unsigned bytes = static_cast<unsigned>(valid) * element_bytes<A>;
    const std::uint64_t begin =
        origin_of<A>(tile) + (from_end ? shape::tile_elements * element_bytes<A> - bytes : 0);
    return {begin, begin + bytes};
  }
  /// The same, and the element behind the tile where that is needed and exists.
  template <int A>
  LOOKBACK_DEVICE piece needed_of(unsigned tile, int valid) const {
    piece own = bytes_of<A>(tile, valid);
    if (tail < A >> 0 && own.end < n_ * element_bytes<A>) own.end += tail<A>; // mutant: staged-tail
    return own;
  }
  /// Address of byte `at` of the array in the stage of `tile`.
  template <int A>
  LOOKBACK_DEVICE unsigned char *place_of(unsigned char *stage, unsigned tile,
                                          std::uint64_t at) const {
    return stage + before<A>() + lead_room<A> + skip_[A] +
           static_cast<std::int64_t>(at - origin_of<A>(tile));
  }

  /// The bytes that a bulk copy transfers: between two multiples of 16, and none outside the array.
  template <int A>
  LOOKBACK_DEVICE piece bulk_of(unsigned tile, int valid) const {
    const piece own = needed_of<A>(tile, valid);
    const std::uint64_t all = n_ * element_bytes<A>;
    if constexpr (from_end) {
      // Addresses modulo 16: of the end, skip_; of the begin, `lead`.
      const std::uint64_t lead = (skip_[A] - all) % granule, first = (granule - lead) % granule,
                          begin = own.begin - (own.begin + lead) % granule, last = all - skip_[A],
                          end = own.end + (granule - skip_[A]) % granule;
      return {own.begin < first ? first : begin, end < last ? end : last};
    }
    const std::uint64_t last = all - (all + skip_[A]) % granule;
    const std::uint64_t wanted = own.end + (granule - (own.end + skip_[A]) % granule) % granule;
    return {tile == 0 ? (granule - skip_[A]) % granule : own.begin - skip_[A] - lead<A>,
            wanted < last ? wanted : last};
  }
#if LOOKBACK_TARGETS_SM_80
  /// Whether copies of 16 bytes transfer all bytes of array A that the tile needs. The first and
  /// the last few bytes of an array are in no such copy.
  template <int A>
  LOOKBACK_DEVICE bool copies_have(unsigned tile, int valid) const {
    const piece bulk = bulk_of<A>(tile, valid);
    piece needed = needed_of<A>(tile, valid);
    if (lead < A >> 0 && tile > 0) needed.begin -= element_bytes<A>;
    return bulk.begin <= needed.begin && bulk.end >= needed.end;
  }
  /// Starts to copy the rows of `warp` of a full tile, from lines with this policy.
  template <int A>
  LOOKBACK_DEVICE void copy_share(unsigned char *stage, unsigned tile, int warp,
                                  simt::cache_policy policy) const {
    constexpr int step = simt::warp_threads * granule;
    const int first = simt::lane_index() * int{granule}, before = warp * share<A> + first;
    unsigned char *const to = simt::address_of_lane(stage + place<A, true>(0) + before);
    const unsigned char *const from = address<A>() + origin_of<A>(tile) + before;
    LOOKBACK_UNROLL
    for (int i = 0; i < share<A>; i += step)
      if (i + first < share<A>) simt::copy_vector_async(to + i, from + i, policy);
  }
#endif
#if LOOKBACK_TARGETS_SM_90
  template <int A>
  LOOKBACK_DEVICE void copy_bulk(unsigned char *stage, unsigned tile, const piece &bulk,
                                 simt::barrier &copied, simt::cache_policy policy) const {
    if (bulk.bytes() > 0)
      simt::bulk_copy(place_of<A>(stage, tile, bulk.begin), address<A>() + bulk.begin, bulk.bytes(),
                      copied, policy);
  }
#endif
  /// Copies the bytes of the tile to the left and to the right of `bulk`, at most 30, as lane
  /// `lane` of `lanes`: all of them, or only those in the rows of `warp`.
  static constexpr int all_warps = -1;
  template <int A>
  LOOKBACK_DEVICE void copy_rest(unsigned char *stage, unsigned tile, int valid, const piece &bulk,
                                 int lane, int lanes, int warp = all_warps) const {
    piece own = needed_of<A>(tile, valid);
    if (lead < A >> 0 && tile > 0) own.begin -= element_bytes<A>;
    const bool some = bulk.bytes() > 0;
    const std::uint64_t left = !some ? own.end : bulk.begin < own.end ? bulk.begin : own.end;
    const std::uint64_t right = !some ? own.end : bulk.end > own.begin ? bulk.end : own.begin;
    const auto copy_byte = [&](std::uint64_t at) {
      const auto inside = static_cast<int>(static_cast<std::int64_t>(at - origin_of<A>(tile)));
      const int owner = inside < 0 ? 0 : inside / share<A>;
      if (warp == all_warps || (tail < A >> 0 && owner == Warps ? Warps - 1 : owner) == warp)
        *place_of<A>(stage, tile, at) = address<A>()[at];
    };
    LOOKBACK_ROLLED
    for (std::uint64_t at = own.begin + lane; at < left; at += lanes) copy_byte(at);
    LOOKBACK_ROLLED
    for (std::uint64_t at = right + lane; at < own.end; at += lanes) copy_byte(at);
  }
  /// fetch_array() for warps whose rows share no 16-byte unit: only the necessary code, because a
  /// scan of one tile waits for it.
  template <int A>
  LOOKBACK_DEVICE void fetch_rows_of(unsigned char *stage, unsigned tile, int valid,
                                     int warp) const {
    constexpr int step = simt::warp_threads * granule, tile_bytes = Warps * share<A>;
    const int lane = simt::lane_index(), valid_bytes = valid * int{element_bytes<A>},
              rest = valid_bytes % int{granule};
    unsigned char *const to = stage + place<A, true>(0);
    const unsigned char *const from = address<A>() + origin_of<A>(tile);
    LOOKBACK_UNROLL
    for (int i = 0; i < (share<A> + step - 1) / step; ++i) {
      const int inside = i * step + lane * int{granule}, at = warp * share<A> + inside;
      if (LOOKBACK_LIKELY(inside < share<A> && at + int{granule} <= valid_bytes))
        simt::copy_vector_async(to + at, from + at);
    }
    // The unit with the element before the tile, and the bytes of the element behind it.
    if (lead < A >> 0 && tile > 0 && warp == 0 && lane == 0)
      simt::copy_vector_async(to - granule, from - granule); // mutant: rows-lead
    if (tail < A >> 0 && warp == Warps - 1 && lane < int{tail<A>} &&
        (tile + std::uint64_t{1}) * shape::tile_elements < n_)
      to[tile_bytes + lane] = from[tile_bytes + lane]; // mutant: rows-tail
    if (LOOKBACK_LIKELY(rest == 0)) return;
    // The last bytes are fewer than a vector. They belong to the warp in whose rows they begin.
    const int at = valid_bytes - rest + lane;
    const bool mine = (valid_bytes - rest) / share<A> == warp; // mutant: fetch-tail
    if (mine && at < valid_bytes) to[at] = from[at];
  }
  /// Each warp copies the 16-byte units that begin in its own rows.
  template <int A>
  LOOKBACK_DEVICE void fetch_array(unsigned char *stage, unsigned tile, int valid, int warp) const {
    constexpr int step = simt::warp_threads * granule;
    const piece bulk = bulk_of<A>(tile, valid);
    // Negative if threads copy the first bytes, or if a partial tile from the end has none there.
    const int lead_bytes = static_cast<int>(origin_of<A>(tile) - bulk.begin);
    const int first = warp * share<A> + lead_bytes - lead_bytes % int{granule};
    const int begin = warp == 0 || (from_end && first < 0) ? 0 : first;
    const int all = static_cast<int>(bulk.bytes());
    const int next = (warp + 1) * share<A> + lead_bytes - lead_bytes % int{granule};
    const int end = warp + 1 < Warps && next < all ? next : all;
    unsigned char *const to = place_of<A>(stage, tile, bulk.begin);
    const unsigned char *const from = address<A>() + bulk.begin;
    LOOKBACK_ROLLED
    for (int at = begin + simt::lane_index() * int{granule}; at < end; at += step)
      simt::copy_vector_async(to + at, from + at);
    copy_rest<A>(stage, tile, valid, bulk, simt::lane_index(), simt::warp_threads, warp);
  }
  template <int A>
  LOOKBACK_DEVICE void prefetch_array(unsigned tile) const {
    constexpr int tile_bytes = shape::tile_elements * element_bytes<A>;
    const unsigned char *const first = address<A>() + origin_of<A>(tile);
    for (int at = simt::thread_index() * int{line}; at < tile_bytes;
         at += Warps * simt::warp_threads * int{line})
      simt::prefetch(first + at);
  }

  const input &input_;
  const std::uint64_t n_;
  unsigned skip_[arrays] = {};      // bytes from a multiple of 16 to the array
  unsigned line_skip_[arrays] = {}; // bytes from a multiple of 128 to that multiple of 16
  unsigned apart_ = 0;              // offset of the room of the array apart
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
