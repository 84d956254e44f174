// SPDX-License-Identifier: MIT
// Selections whose items, and stencils or keys, wait in shared memory as the bytes they are in
// memory. What is kept of a lane's items is asked for once, by kept().
#pragma once

#include <lookback/block/staged.cuh>
#include <lookback/core/candidates.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Bit k: which(k) is true, for k < count.
template <int E, class Which>
LOOKBACK_DEVICE unsigned bits_of(int count, Which which) {
  unsigned bits = 0;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k)
    if (k < count && which(k)) bits |= 1u << k;
  return bits;
}

/// Items alone.
template <class T, class Predicate, bool Wanted, bool Halves>
struct staged_input<selectable<T *, by_predicate<Predicate, Wanted>, Halves>, void> {
  using input_type = selectable<T *, by_predicate<Predicate, Wanted>, Halves>;
  using item = std::remove_cv_t<T>;
  template <int E>
  static constexpr bool possible = is_staged_as_bytes<item>;
  static constexpr int arrays = 1;
  static constexpr bool reads_before = false, reads_after = false;
  template <int>
  using element = item;
  template <int>
  LOOKBACK_DEVICE static const item *array(const input_type &input) {
    return input.items();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned, int, int)
        : input_(input), items_(staged_vector<Shifts, E, item>(rows[0], aligned[0])) {}
    LOOKBACK_DEVICE item get(int k) const { return items_.get(k); }
    LOOKBACK_DEVICE unsigned kept(int count) const {
      auto which = input_.which();
      return bits_of<E>(count, [&](int k) {
        item x = items_.get(k);
        return which(0, x);
      });
    }

  private:
    const input_type &input_;
    lane_vector<item, E> items_;
  };
};

/// Items and their stencil.
template <class T, class S, class Predicate, bool Wanted, bool Halves>
struct staged_input<selectable<T *, by_stencil<S *, Predicate, Wanted>, Halves>, void> {
  using input_type = selectable<T *, by_stencil<S *, Predicate, Wanted>, Halves>;
  using item = std::remove_cv_t<T>;
  using flag = std::remove_cv_t<S>;
  template <int E>
  static constexpr bool possible = is_staged_as_bytes<item> &&is_staged_as_bytes<flag>;
  static constexpr int arrays = 2;
  static constexpr bool reads_before = false, reads_after = false;
  template <int A>
  using element = std::conditional_t<A == 0, item, flag>;
  template <int A>
  LOOKBACK_DEVICE static const element<A> *array(const input_type &input) {
    if constexpr (A == 0)
      return input.items();
    else
      return input.which().stencil;
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned, int, int)
        : input_(input), items_(staged_vector<Shifts, E, item>(rows[0], aligned[0])),
          stencil_(staged_vector<Shifts, E, flag>(rows[1], aligned[1])) {}
    LOOKBACK_DEVICE item get(int k) const { return items_.get(k); }
    LOOKBACK_DEVICE unsigned kept(int count) const {
      auto predicate = input_.which().predicate;
      return bits_of<E>(count, [&](int k) {
        flag s = stencil_.get(k);
        return static_cast<bool>(predicate(s)) == Wanted;
      });
    }

  private:
    const input_type &input_;
    lane_vector<item, E> items_;
    lane_vector<flag, E> stencil_;
  };
};

/// Items that are compared with the one before them.
template <class T, class Equal>
struct staged_input<selectable<T *, by_run<T *, Equal, true>>, void> {
  using input_type = selectable<T *, by_run<T *, Equal, true>>;
  using item = std::remove_cv_t<T>;
  template <int E>
  static constexpr bool possible = is_staged_as_bytes<item>;
  static constexpr int arrays = 1;
  static constexpr bool reads_before = true, reads_after = false;
  template <int>
  using element = item;
  template <int>
  LOOKBACK_DEVICE static const item *array(const input_type &input) {
    return input.items();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned tile, int row, int)
        : input_(input), items_(staged_vector<Shifts, E, item>(rows[0], aligned[0])),
          row_(reinterpret_cast<const item *>(rows[0])), begins_(row == 0 && tile == 0) {}
    LOOKBACK_DEVICE item get(int k) const { return items_.get(k); }
    /// Called by all lanes of the warp, before any of them writes to the stage.
    LOOKBACK_DEVICE unsigned kept(int count) const {
      auto which = input_.which();
      item left = *(row_ - (begins_ ? 0 : 1));
      return run_heads(
          items_, left, begins_ && simt::lane_index() == 0, count,
          [&](const item &before, const item &own) { return which.begins(before, own); });
    }

  private:
    const input_type &input_;
    lane_vector<item, E> items_;
    const item *const row_;
    const bool begins_;
  };
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
