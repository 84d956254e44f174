// SPDX-License-Identifier: MIT
// The dispatch: a call is run by the first strategy of a list that can take it.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/device_count.cuh>
#include <lookback/dispatch/log.cuh>
#include <lookback/strategy/strategy.cuh>
#include <lookback/tile/actual_count.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Why a call is refused. The launcher turns it into its own status.
enum class refusal { invalid_value, not_supported };

/// Bytes of storage of a strategy, 0 if it does not support the problem.
template <class Strategy, class Problem>
std::size_t storage_of(const Problem &problem) {
  if constexpr (Strategy::template supports<Problem>)
    return Strategy::storage(problem);
  else
    return 0;
}

/// Writes the total of no items.
template <class Problem>
LOOKBACK_KERNEL(simt::warp_threads, 1)
no_items_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem) {
  if (simt::thread_index() == 0) set_total_of_nothing(problem);
}

/// Strategies, the preferred first.
template <class... Strategies>
struct first_of {
  /// Runs `given` over n elements, a 64-bit integer or a device_count, by the first strategy that
  /// takes it, in the two phases of CUB.
  /// If `storage` is null, only writes to `bytes` the size of storage that is enough for every
  /// strategy.
  ///
  /// If the launch of a strategy is refused, the next one is tried. From then on, strategies whose
  /// blocks must be resident together are skipped, too, since the caller may use fewer
  /// multiprocessors than the device has. The call neither allocates nor synchronises.
  ///
  /// Refused with refusal::invalid_value for n < 0, too many tiles, and storage smaller than
  /// reported, whatever its alignment. Refused with refusal::not_supported if no strategy takes the
  /// call.
  template <class Given, class Count, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes, const Given &given,
                                           const Count &n, Launch launch) {
    if (bound_of(n) < 0) return launch.refuse(refusal::invalid_value);
    const auto problem = over_items(given, n);
    using Problem = std::decay_t<decltype(problem)>;
    std::size_t needed = 0;
    const auto need = [&](std::size_t more) { needed = more > needed ? more : needed; };
    if (problem.tiles() > 0) (need(storage_of<Strategies>(problem)), ...);
    if (needed == too_many_tiles) return launch.refuse(refusal::invalid_value);
    needed = temporary_memory::bytes_for(needed);
    if (storage == nullptr) bytes = needed;
    if (bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage == nullptr) return launch.status();
    if (problem.tiles() == 0) {
      if constexpr (Problem::sink_type::wants_total)
        launch(no_items_kernel<Problem>, block_shape{simt::warp_threads, 0}, launch_grid{1},
               problem);
      return launch.status();
    }

    log_entry entries[sizeof...(Strategies)];
    std::size_t tried = 0;
    const char *tuning = nullptr;
    const auto runs = [&](auto strategy) {
      using S = typename decltype(strategy)::type;
      log_entry &entry = entries[tried++] = {S::name, "does not support the problem"};
      if constexpr (S::template supports<Problem>) {
        entry.why_not = S::needs_residency && launch.refused() ? "an earlier launch was refused"
                                                               : S::fits(problem, launch);
        if (entry.why_not != nullptr) return false;
        if (launch.refused()) launch.forgive();
        temporary_memory memory(storage);
        S::run(problem, memory, launch);
        if (launch.refused()) entry.why_not = "its launch was refused";
        if (!launch.refused()) tuning = S::tuned_for(launch.latest().architecture);
      }
      return entry.why_not == nullptr;
    };
    if (!(runs(type_of<Strategies>{}) || ...)) launch.refuse(refusal::not_supported);
    if (logs_calls()) log_call(problem.extent.items, tuning, launch.latest(), entries, tried);
    return launch.status();
  }

private:
  template <class Strategy>
  struct type_of {
    using type = Strategy;
  };
};

/// `Strategy`, if the launch of an earlier one was refused.
template <class Strategy>
struct when_refused : Strategy {
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    return launch.refused() ? Strategy::fits(problem, launch) : "no launch was refused";
  }
};
/// `Strategy`, if there is one tile.
template <class Strategy>
struct when_one_tile : Strategy {
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    return problem.tiles() == 1 ? Strategy::fits(problem, launch) : "more than one tile";
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
