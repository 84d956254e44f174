// SPDX-License-Identifier: MIT
// Distributed scans whose ranks know the lengths of all shards: nothing has to be exchanged for
// them.
#pragma once

#include <lookback/distributed/call_record.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace distributed {

/// A communicator together with the lengths of the shards of all ranks. Calls with it skip the
/// exchange of lengths, for which the host waits otherwise, and the comparison of calls. On GPUs,
/// they can be captured into a graph if the communicator has `all_gather_on`.
///
/// @code
/// const lookback::distributed::nccl ranks(comm);
/// const lookback::distributed::known_shards shards(ranks, {n0, n1}); // the same on all ranks
/// lookback::distributed::inclusive_scan(shards, lookback::par_nosync.on(stream), first, last,
///                                       result);
/// @endcode
///
/// - *Collective*: as for @ref distributed_scans, but unchecked. If the calls or the lengths differ
///   between ranks, the results are undefined, and ranks may wait for one another: the host up to
///   the deadline of the communicator, enqueued work without limit.
/// - *Errors*: `std::invalid_argument` if the number of elements of a call is not the known length
///   of the rank. The communicator is then aborted, since the other ranks may wait for this one,
///   except in the first phase of DistributedScan.
/// - *Graphs*: each launch scans the current contents of the same memory. All ranks must launch
///   their graphs, in the same order.
/// - *Lifetime*: `ranks` must outlive this object and all graphs captured with it.
///
/// @ingroup distributed_scans
template <class Communicator>
class known_shards {
public:
  /// `lengths[r]` is the number of elements of the shard of rank r. Not collective. Throws
  /// `std::invalid_argument` unless there is one length for each rank, none of them negative.
  known_shards(const Communicator &ranks, const std::vector<std::int64_t> &lengths)
      : communicator_(&ranks) {
    if (lengths.size() != detail::checked_size(ranks))
      throw std::invalid_argument("lookback: known_shards has " + std::to_string(lengths.size()) +
                                  " lengths for " + std::to_string(ranks.size()) + " ranks");
    for (const std::int64_t length : lengths) {
      if (length < 0)
        throw std::invalid_argument("lookback: known_shards: the length of rank " +
                                    std::to_string(lengths_.size()) + " is negative");
      lengths_.push_back(static_cast<std::uint64_t>(length));
    }
  }
  known_shards(const Communicator &&, const std::vector<std::int64_t> &) = delete;

  /// The rank of the caller.
  int rank() const { return communicator_->rank(); }
  /// The number of ranks.
  int size() const { return communicator_->size(); }
  /// Ends the calls of all ranks with an error.
  void abort() const noexcept { communicator_->abort(); }

  /// The communicator.
  const Communicator &communicator() const { return *communicator_; }
  /// The lengths of all shards.
  const std::vector<std::uint64_t> &lengths() const { return lengths_; }

private:
  const Communicator *communicator_;
  std::vector<std::uint64_t> lengths_;
};

} // namespace distributed

namespace detail {

/// Whether the ranks of a communicator know the lengths of all shards.
template <class Communicator>
inline constexpr bool knows_lengths = false;
template <class Communicator>
inline constexpr bool knows_lengths<distributed::known_shards<Communicator>> = true;

/// The communicator that performs the exchanges.
template <class Communicator>
const Communicator &exchanging(const Communicator &ranks) {
  return ranks;
}
template <class Communicator>
const Communicator &exchanging(const distributed::known_shards<Communicator> &ranks) {
  return ranks.communicator();
}

/// The lengths of all shards, of which the own one must be n.
template <class Communicator>
const std::vector<std::uint64_t> &
known_lengths(const distributed::known_shards<Communicator> &ranks, std::int64_t n) {
  const std::uint64_t known = ranks.lengths()[static_cast<std::size_t>(ranks.rank())];
  const std::uint64_t given = n > 0 ? static_cast<std::uint64_t>(n) : 0;
  if (given != known)
    throw std::invalid_argument("lookback: known_shards: rank " + std::to_string(ranks.rank()) +
                                " passes " + std::to_string(given) +
                                " elements, but its length is " + std::to_string(known));
  return ranks.lengths();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
