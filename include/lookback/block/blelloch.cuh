// SPDX-License-Identifier: MIT
// The work-efficient exclusive scan: sums go up a balanced tree, prefixes come down.
// G. E. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990, section 1.2; on a GPU,
// with padding against bank conflicts, M. Harris, S. Sengupta, J. D. Owens, GPU Gems 3, chapter 39,
// 2007.
//
//   additions   2 (n - 1) - ceil(log2 n): n - 1 on the way up; on the way down none along the left
//               edge, where nothing comes from the left
//   steps       2 ceil(log2 n)
//   memory      about 6 n accesses to shared memory, one barrier a step
//
// The identity at the root is "nothing", so any operator will do; parts of the tree beyond element
// n - 1 do not exist, so any n will do. Inclusive results are the exclusive ones read one place to
// the right, and the root's sum at the end.
#pragma once

#include <lookback/block/network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Whether lookback::blelloch pads shared memory, so that strides of powers of two use different
/// banks.
/// @ingroup block_scans
enum class bank_padding {
  off, ///< No padding.
  on   ///< One unused place after every 32.
};
/// Which two items thread i of lookback::blelloch loads.
/// @ingroup block_scans
enum class load_pairs {
  half_stride, ///< i and i + n / 2: neighbouring threads read neighbouring items.
  adjacent     ///< 2 i and 2 i + 1.
};

/// Blelloch's scan: sums go up a balanced tree, prefixes come down.
///
/// - `Padding`: against bank conflicts in shared memory.
/// - `Pairs`: which two items a thread loads.
/// - *Additions*: 2 (n - 1) - ceil(log2 n). No identity is used: the left edge of the tree has
///   none.
/// - *Steps*: 2 ceil(log2 n), one barrier each.
/// - *Memory*: about 6 n accesses to shared memory.
/// - *Source*: G. E. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990, section
///   1.2; M. Harris, S. Sengupta, J. D. Owens, GPU Gems 3, chapter 39, 2007.
/// @ingroup block_scans
template <bank_padding Padding = bank_padding::on, load_pairs Pairs = load_pairs::half_stride>
struct blelloch {
  static constexpr int default_items = 2;         ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
    static constexpr int capacity = detail::power_of_two_from(Threads * Items);
    static constexpr int banks = 32;
    LOOKBACK_DEVICE static constexpr int place(int i) {
      return i + (Padding == bank_padding::on ? i / banks : 0);
    }

  public:
    struct storage {
      detail::uninitialized_array<T,
                                  capacity + (Padding == bank_padding::on ? capacity / banks : 0)>
          tree;
      detail::uninitialized_array<T, 1> total;
    };
    LOOKBACK_DEVICE explicit block(storage &room) : room_(room) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      count_ = count;
      const int n = detail::power_of_two_from(count);
      const auto load = [&](int i) {
        if (i < count) detail::construct(node(i), x(i));
      };
      if (n == 1 && simt::thread_index() == 0) load(0);
      for (int i = simt::thread_index(); i < n / 2; i += Threads) {
        load(Pairs == load_pairs::adjacent ? 2 * i : i);
        load(Pairs == load_pairs::adjacent ? 2 * i + 1 : i + n / 2);
      }
      simt::synchronize_block();
      // A node of `width` leaves lies where its last leaf was; its left child is width / 2 places
      // before it.
      for (int width = 2; width <= n; width *= 2) {
        for_each_node(n, width, [&](int, int left, int right, bool has_right) {
          if (has_right)
            detail::construct(node(right), static_cast<T>(op(node(left), node(right))));
          else
            detail::construct(node(right), node(left));
        });
      }
      if (Inclusive && simt::thread_index() == 0) detail::construct(room_.total[0], node(n - 1));
      for (int width = n; width > 1; width /= 2) {
        for_each_node(n, width, [&](int first, int left, int right, bool has_right) {
          const T sum = node(left);
          if (first > 0) detail::construct(node(left), node(right));
          if (!has_right) return;
          if (first > 0)
            detail::construct(node(right), static_cast<T>(op(node(right), sum)));
          else
            detail::construct(node(right), sum);
        });
      }
      simt::synchronize_block(); // the total, should there be no step
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      if (!Inclusive) return room_.tree[place(i)];
      return i + 1 < count_ ? room_.tree[place(i + 1)] : room_.total[0];
    }

  private:
    LOOKBACK_DEVICE T &node(int i) { return room_.tree[place(i)]; }
    /// f(first leaf, left child, the node, whether a right child exists) for all nodes of one width
    /// that exist.
    template <class Function>
    LOOKBACK_DEVICE void for_each_node(int n, int width, Function f) {
      for (int first = simt::thread_index() * width; first < n && first < count_;
           first += Threads * width)
        f(first, first + width / 2 - 1, first + width - 1, first + width / 2 < count_);
      simt::synchronize_block();
    }
    storage &room_;
    int count_ = 0;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
