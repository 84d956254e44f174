// SPDX-License-Identifier: MIT
// An initial value that may lie in the output is read before the scan writes anything:
//
//   one tile                   by one thread, before a barrier of the block
//   a cluster, a wave          by one thread of each block, before the barrier of all blocks
//   the pipeline               by one thread of each block, before the block answers that it takes
//                              part (carry/participants.cuh)
//   look-back, textbook scans  by the previous kernel, which saves it in the temporary storage
#pragma once

#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether code of the initial value's own type converts it to an accumulator, as with a future
/// value: that code may read memory, and the memory may be the output. Numbers and accumulators are
/// values already.
template <class Problem, class Initial = typename Problem::initial_type>
inline constexpr bool reads_initial = false;
template <class Problem, class Value>
inline constexpr bool reads_initial<Problem, initial_value<Value>> =
    std::is_class<Value>::value && !std::is_same<Value, typename Problem::accumulator>::value;

/// Constructs at `place` an initial value that must be read early; does nothing for others.
LOOKBACK_NO_EXECUTION_CHECK
template <class Problem, class T = typename Problem::accumulator>
LOOKBACK_DEVICE void read_initial([[maybe_unused]] const Problem &problem,
                                  [[maybe_unused]] T &place) {
  if constexpr (reads_initial<Problem>) construct(place, static_cast<T>(problem.initial.value));
}
/// The initial value of a problem that has one: `early` if it must be read early. Otherwise `early`
/// is not read.
template <class Problem, class T = typename Problem::accumulator>
LOOKBACK_DEVICE T initial_of(const Problem &problem, const T &early) {
  if constexpr (reads_initial<Problem>) // mutant: early-initial
    return early;
  else
    return static_cast<T>(problem.initial.value);
}

/// Saves an initial value at `place`, in a kernel before the scan.
template <class T, class Value>
struct initial_to_save {
  Value value;
  T *place;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void save() const { construct(*place, static_cast<T>(value)); }
};
template <class Saved>
inline constexpr bool is_initial_to_save = false;
template <class T, class Value>
inline constexpr bool is_initial_to_save<initial_to_save<T, Value>> = true;

template <class Problem>
auto initial_to_save_at(typename Problem::accumulator *place, const Problem &problem) {
  return initial_to_save<typename Problem::accumulator, decltype(problem.initial.value)>{
      problem.initial.value, place};
}

/// The same problem with the initial value that was saved at `place`.
template <bool Inclusive, class T, class Input, class Operator, class Initial, class Sink,
          class Extent>
auto with_initial_at(
    const T *place,
    const scan_problem<Inclusive, T, Input, Operator, Initial, Sink, Extent> &problem) {
  using saved = FutureValue<T, const T *>;
  return scan_problem<Inclusive, T, Input, Operator, initial_value<saved>, Sink, Extent>(
      problem.input, problem.op, {saved(place)}, problem.sink, problem.extent);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
