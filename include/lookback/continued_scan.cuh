// SPDX-License-Identifier: MIT
// Scans of a sequence that arrives in chunks, on the threads of the CPU or on a GPU.
#pragma once

#include <lookback/core/chunks.cuh>
#include <lookback/host/continued_tree.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/continued_device.cuh>
#endif

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
inline namespace LOOKBACK_DEFAULT_STREAM {

/// A template argument of functions that cannot be in this namespace themselves.
struct calling_unit {};

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail

/// A scan of a sequence that arrives in chunks, with the bits of one scan of the whole sequence.
///
/// @code
/// lookback::continued_scan<float> running;
/// while (read(chunk))
///   result = running.inclusive(policy, chunk.begin(), chunk.end(), result);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements of all chunks, in the order of
/// the calls; y(i) is the result of x(i). Without an initial value, the factor init is skipped.
///
/// - `policy`: lookback::host, or a CUDA policy without a strategy. A scan goes on where its first
///   element was scanned: on the CPU, or on the GPU that was current.
/// - *Chunks*: of any lengths. A chunk without elements (`last - first` zero or negative) changes
///   nothing. Inclusive and exclusive calls may be mixed: each continues the same scan, and selects
///   the results of its own chunk only.
/// - *Iterators*: random access, used where the policy runs; each call may have iterators of other
///   types. The value type of the input is T; that of the output has at most as many bytes, since
///   the larger of both shapes the tree. Both are checked at compile time. `result` may equal
///   `first`; any other overlap is undefined. No iterator is used after the call, or, with
///   lookback::par_nosync, after its work on the stream.
/// - *Operator*: as for @ref thrust_scans. The object keeps a copy, and every call uses copies of
///   that.
/// - *Return value*: the end of the results, `result + (last - first)`; of an empty chunk,
///   `result`.
/// - *Stream behaviour*: a chunk is scanned on the policy's stream. Its work begins after that of
///   the chunk before, on whatever streams of the GPU they are. With lookback::par_nosync, the host
///   does not wait. A call cannot be captured: a replay would not continue after the previous
///   chunk.
/// - *Device memory*: until it is destroyed, the object keeps at most about 512 KB of lookback's
///   pool, the elements of the tree's current group; of integer sums, two values. Each call has the
///   temporary memory of a scan of its chunk.
/// - *Errors*: `std::logic_error` if an exclusive result is asked for before the first element
///   without an initial value, if the scan began elsewhere, and by prefix(). The object is then
///   unchanged. Otherwise as for @ref thrust_scans. After an exception from the operator, an
///   iterator, a copy, an allocation or CUDA, the results of the chunk are partly written, and the
///   object may only be assigned to or destroyed.
/// - *Determinism*: the results are bit-identical to those of one lookback::inclusive_scan() or
///   lookback::exclusive_scan() of all elements that accumulates in T. They do not depend on how
///   the elements are divided into chunks (lookback::tree_shape).
/// - *Threads*: on the CPU as for @ref host, by the bytes of the whole groups of
///   lookback::tree_shape in the chunk (about 512 KB each). The elements before and after them, and
///   chunks of less than 4 MB, are scanned by the calling thread. One thread at a time may use an
///   object.
/// - *Complexity*: about 2 n applications of the operator for n elements in all. On the CPU, the
///   object keeps about 500 values. Chunks of a few thousand elements and more take nearly the time
///   of one scan, single elements about 20 times as long. On a GPU, the elements of the current
///   group are scanned again with every chunk, and a chunk that ends a group has about five small
///   kernels beside its scan. Integer sums have none of this.
///
/// An object can be moved, not copied; one that was moved from may only be assigned to or
/// destroyed. To start again, assign a new object. The destructor waits for the last chunk on the
/// GPU.
///
/// @tparam T         type of the elements and of the accumulator; needs a copy constructor only. On
///                   a GPU: trivially copyable, fewer than 512 bytes
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
  template <class Policy, class Input, class Output, class Unit = detail::calling_unit,
            detail::if_policy<Policy> = 0>
  Output inclusive(const Policy &policy, Input first, Input last, Output result) {
    return scan<true>(policy, first, last - first, result);
  }
  /// y(i) = init . x(0) . x(1) ... x(i - 1), for the next elements
  template <class Policy, class Input, class Output, class Unit = detail::calling_unit,
            detail::if_policy<Policy> = 0>
  Output exclusive(const Policy &policy, Input first, Input last, Output result) {
    if (last - first > 0 && position() == 0) static_cast<void>(prefix());
    return scan<false>(policy, first, last - first, result);
  }

  /// The number of elements so far: the index of the next one.
  std::int64_t position() const {
    return elsewhere_ != nullptr ? elsewhere_->position() : tree_->position();
  }
  /// The exclusive result of the next element, whether or not it ever arrives. Valid until the next
  /// call; throws `std::logic_error` where there is none, and after the first element on a GPU,
  /// which alone knows it.
  const T &prefix() const {
    if (position() > tree_->position())
      throw std::logic_error("lookback: the prefix of a continued scan on a GPU is not known to "
                             "the host");
    if (tree_->prefix() == nullptr)
      throw std::logic_error("lookback: the first exclusive result of a continued scan needs an "
                             "initial value");
    return *tree_->prefix();
  }

private:
  using tree = detail::continued_tree<T, Operator>;

  template <bool Inclusive, class Policy, class Input, class Output>
  Output scan([[maybe_unused]] const Policy &policy, Input first, std::int64_t n, Output result) {
    static_assert(std::is_same<detail::value_t<Input>, T>::value,
                  "lookback: the value type of a continued scan's input must be the scan's own");
    if (n <= 0) return result;
    constexpr bool on_gpu = detail::is_cuda_policy<Policy>::value;
    if (on_gpu ? tree_->position() > 0 : elsewhere_ != nullptr)
      throw std::logic_error("lookback: a continued scan goes on where it began: with "
                             "lookback::host, or with CUDA policies");
    if constexpr (!on_gpu)
      tree_->template scan<Inclusive>(detail::unwrap(first), n, detail::unwrap(result));
#if defined(__CUDACC__)
    else
      detail::continue_on_gpu<Inclusive, T>(policy, elsewhere_, tree_->op(), tree_->prefix(), first,
                                            n, result);
#endif
    return result + n;
  }

  std::unique_ptr<tree> tree_; // of a scan on a GPU, only the operator and the initial value
  std::unique_ptr<detail::continued_elsewhere> elsewhere_;
};

} // namespace LOOKBACK_ABI
} // namespace lookback
