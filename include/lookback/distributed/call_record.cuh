// SPDX-License-Identifier: MIT
// The first exchange of a distributed scan: the shards' lengths, and whether all ranks make the
// same call.
#pragma once

#include <lookback/core/segments.cuh>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The type that stands for the keys of an input and their comparison; void, without keys.
template <class Input>
struct comparison_of {
  using type = void;
};
template <class T, class Keys, class Values, class Equal, class Operator, class Initial,
          int TileElements>
struct comparison_of<keyed_input<T, Keys, Values, Equal, Operator, Initial, TileElements>> {
  using type = bool(value_t<Keys>, Equal);
};

/// Why a rank cannot take part in a call.
enum class refused_call : std::uint64_t { captured, negative };

/// A rank's description of its call for the others. All but the number of items must agree.
struct call_record {
  static constexpr int traits = 7;
  static constexpr const char *names[traits] = {
      "the version of the reduction tree or the number of ranks",
      "inclusive or exclusive",
      "the initial value's existence",
      "the type of the accumulator",
      "the size of an element",
      "the type of the operator",
      "the types of keys and comparison, on GPUs the type of an element, the processor, or the "
      "phase"};
  static constexpr const char *reasons[] = {"its stream is being captured",
                                            "its number of items is negative"};
  static constexpr std::uint64_t refuses = std::uint64_t{1} << 63;

  std::uint64_t items; // or refuses | refused_call
  std::uint64_t values[traits];
};

/// Equal for the same type in different processes of one program.
template <class T>
std::uint64_t type_hash() {
  std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (const char *name = typeid(T).name(); *name != '\0'; ++name)
    hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return hash;
}

/// `Others`: a type made of all other types that must be equal. `phase`: of a call in two phases.
template <class Problem, class Others = typename comparison_of<typename Problem::input_type>::type>
call_record record_of_call(int ranks, std::int64_t n, std::uint64_t phase = 0) {
  return {static_cast<std::uint64_t>(n > 0 ? n : 0),
          {static_cast<std::uint64_t>(tree_version) | static_cast<std::uint64_t>(ranks) << 32,
           Problem::inclusive, Problem::initial_type::exists,
           type_hash<typename Problem::accumulator>(), Problem::shape::element_bytes,
           type_hash<decltype(Problem::op)>(), type_hash<Others>() ^ phase}};
}

/// The number of ranks. Throws unless the caller's rank is below it, and not negative.
template <class Communicator>
std::size_t checked_size(const Communicator &ranks) {
  const int rank = ranks.rank(), size = ranks.size();
  if (rank < 0 || rank >= size)
    throw std::invalid_argument("lookback: the communicator of a distributed scan says that it has "
                                "rank " +
                                std::to_string(rank) + " of " + std::to_string(size) + " ranks");
  return static_cast<std::size_t>(size);
}
template <class Communicator>
std::vector<call_record> gather_calls(const Communicator &ranks, const call_record &own) {
  std::vector<call_record> calls(checked_size(ranks));
  ranks.all_gather(&own, sizeof own, calls.data());
  return calls;
}

/// Calls `work()`. If it throws, the calls of the other ranks end, too.
template <class Communicator, class Work>
auto for_all_ranks(const Communicator &ranks, Work work) {
  try {
    return work();
  } catch (...) {
    ranks.abort();
    throw;
  }
}

/// The lengths of all shards. Throws, on every rank alike, if the calls differ or a rank refuses.
inline std::vector<std::uint64_t> lengths_of(const std::vector<call_record> &calls) {
  std::string difference;
  std::vector<std::uint64_t> lengths;
  for (const call_record &call : calls) {
    if ((call.items & call_record::refuses) != 0)
      throw std::invalid_argument("lookback: rank " + std::to_string(lengths.size()) +
                                  " of a distributed scan cannot take part: " +
                                  call_record::reasons[call.items & ~call_record::refuses]);
    lengths.push_back(call.items);
  }
  for (std::size_t rank = 1; rank < calls.size() && difference.empty(); ++rank)
    for (int i = 0; i < call_record::traits; ++i)
      if (calls[rank].values[i] != calls[0].values[i])
        difference +=
            (difference.empty() ? "rank " + std::to_string(rank) + " and rank 0 differ in "
                                : std::string(", ")) +
            call_record::names[i];
  if (!difference.empty())
    throw std::invalid_argument("lookback: the ranks of a distributed scan make different calls: " +
                                difference);
  return lengths;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
