// SPDX-License-Identifier: MIT
// Scans of a sequence that arrives in chunks, on the threads of the CPU.
#pragma once

#include <lookback/host/continued_tree.cuh>
#include <lookback/scan.cuh>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// A scan of a sequence that arrives in chunks, with the bits of one scan of the whole sequence.
///
/// @code
/// lookback::continued_scan<float> running;
/// while (read(chunk))
///   result = running.inclusive(lookback::host, chunk.begin(), chunk.end(), result);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements of all chunks, in the order of
/// the calls; y(i) is the result of x(i). Without an initial value, the factor init is skipped.
///
/// - `policy`: lookback::host, or a policy derived from lookback::host_execution_policy.
/// - *Chunks*: of any lengths. A chunk without elements (`last - first` zero or negative) changes
///   nothing. Inclusive and exclusive calls may be mixed: each continues the same scan, and selects
///   the results of its own chunk only.
/// - *Iterators*: random access; each call may have iterators of other types. The value type of the
///   input is T; that of the output has at most as many bytes, since the larger of both shapes the
///   tree. Both are checked at compile time. `result` may equal `first`; any other overlap is
///   undefined. No iterator is used after the call.
/// - *Operator*: as for @ref thrust_scans. The object keeps a copy, and every call uses copies of
///   that.
/// - *Return value*: the end of the results, `result + (last - first)`; of an empty chunk,
///   `result`.
/// - *Errors*: `std::logic_error` if an exclusive result is asked for before the first element,
///   without an initial value; the object is then unchanged. Otherwise as for @ref thrust_scans.
///   After an exception from the operator, an iterator, a copy or an allocation, the results of the
///   chunk are partly written, and the object may only be assigned to or destroyed.
/// - *Determinism*: the results are bit-identical to those of one lookback::inclusive_scan() or
///   lookback::exclusive_scan() of all elements that accumulates in T. They do not depend on how
///   the elements are divided into chunks (lookback::tree_shape).
/// - *Threads*: as for @ref host, by the bytes of the whole groups of lookback::tree_shape in the
///   chunk (about 512 KB each). The elements before and after them, and chunks of less than 4 MB,
///   are scanned by the calling thread. One thread at a time may use an object.
/// - *Complexity*: about 2 n applications of the operator for n elements in all. The object keeps
///   about 500 values. Chunks of a few thousand elements and more take nearly the time of one scan,
///   single elements about 20 times as long.
///
/// An object can be moved, not copied; one that was moved from may only be assigned to or
/// destroyed. To start again, assign a new object.
///
/// @tparam T         type of the elements and of the accumulator; needs a copy constructor only
/// @tparam Operator  associative; `op(a, b)` converts to T
/// @ingroup continued_scans
template <class T, class Operator = plus>
class continued_scan {
public:
  /// The type of the elements.
  using value_type = T;

  /// A scan without an initial value.
  explicit continued_scan(Operator op = {}) : tree_(std::make_unique<tree>(op)) {}
  /// A scan with an initial value.
  continued_scan(Operator op, const T &init) : tree_(std::make_unique<tree>(op, init)) {}

  /// y(i) = init . x(0) . x(1) ... x(i), for the next elements
  template <class Policy, class Input, class Output, detail::if_on_host<Policy> = 0>
  Output inclusive(const Policy &, Input first, Input last, Output result) {
    return scan<true>(first, last - first, result);
  }
  /// y(i) = init . x(0) . x(1) ... x(i - 1), for the next elements
  template <class Policy, class Input, class Output, detail::if_on_host<Policy> = 0>
  Output exclusive(const Policy &, Input first, Input last, Output result) {
    if (last - first > 0) static_cast<void>(prefix());
    return scan<false>(first, last - first, result);
  }

  /// The number of elements so far: the index of the next one.
  std::int64_t position() const { return tree_->position(); }
  /// The exclusive result of the next element, whether or not it ever arrives. Valid until the next
  /// call; throws `std::logic_error` where there is none.
  const T &prefix() const {
    if (tree_->prefix() == nullptr)
      throw std::logic_error("lookback: the first exclusive result of a continued scan needs an "
                             "initial value");
    return *tree_->prefix();
  }

private:
  using tree = detail::continued_tree<T, Operator>;

  template <bool Inclusive, class Input, class Output>
  Output scan(Input first, std::int64_t n, Output result) {
    static_assert(std::is_same<detail::value_t<Input>, T>::value,
                  "lookback: the value type of a continued scan's input must be the scan's own");
    if (n <= 0) return result;
    tree_->template scan<Inclusive>(detail::unwrap(first), n, detail::unwrap(result));
    return result + n;
  }

  std::unique_ptr<tree> tree_;
};

} // namespace LOOKBACK_ABI
} // namespace lookback
