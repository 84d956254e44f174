// SPDX-License-Identifier: MIT
// A small wave and a cluster share one kernel, since every kernel adds compile time and code size
// to a program. The launch decides which of them it is.
#pragma once

#include <lookback/carry/cluster_carry.cuh>
#include <lookback/carry/wave_carry.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail::carry {

/// A tile of a cluster if the kernel is launched as one. Otherwise, or if aggregates cannot be
/// sent, a tile of a wave. A cluster has no waiting warp.
struct cluster_or_wave {
  static constexpr bool is_alone = false, draws_tile = false;
  static constexpr int waiting_warps = 1; // at most

  static LOOKBACK_DEVICE void leave() {
    simt::cluster_blocks() > 1 ? cluster::leave() : wave::leave();
  }

  template <class Problem, int Warps>
  class either {
    using T = typename Problem::accumulator;
    using of_wave = wave::of_tile<Problem, Warps>;
    using of_cluster = cluster::of_tile<Problem, Warps>;

  public:
    struct storage {
      typename of_wave::storage wave;
      typename of_cluster::storage cluster;
    };

    LOOKBACK_DEVICE either(const Problem &problem, const scan_state<T> &state, unsigned tile,
                           bool is_last, storage &shared)
        : wave_(problem, state, tile, is_last, shared.wave),
          cluster_(problem, state, tile, is_last, shared.cluster),
          is_cluster_(simt::cluster_blocks() > 1) {}

    LOOKBACK_DEVICE void read_initial() const {
      is_cluster_ ? cluster_.read_initial() : wave_.read_initial();
    }
    template <bool Ordered>
    LOOKBACK_DEVICE void arrive() const {
      is_cluster_ ? cluster_.template arrive<Ordered>() : wave_.template arrive<Ordered>();
    }
    template <class Operator>
    LOOKBACK_DEVICE maybe<T> prefix(const maybe<T> &aggregate, Operator &op,
                                    lane_exchange<T> &exchange) const {
      return is_cluster_ ? cluster_.prefix(aggregate, op, exchange)
                         : wave_.prefix(aggregate, op, exchange);
    }

  private:
    const of_wave wave_;
    const of_cluster cluster_;
    const bool is_cluster_;
  };
  template <class Problem, int Warps>
  using of_tile = std::conditional_t<can_send<typename Problem::accumulator>,
                                     either<Problem, Warps>, wave::of_tile<Problem, Warps>>;
};

} // namespace detail::carry
} // namespace LOOKBACK_ABI
} // namespace lookback
