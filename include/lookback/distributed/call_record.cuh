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

/// A rank's description of its call for the others. All but the number of items must agree.
struct call_record {
  static constexpr int traits = 7;
  static constexpr const char *names[traits] = {
      "the version of the reduction tree",
      "inclusive or exclusive",
      "the initial value's existence",
      "the type of the accumulator",
      "the size of an element",
      "the type of the operator",
      "the types of keys and comparison, on GPUs the type of an element, or the processor"};

  std::uint64_t items;
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

/// `Others`: a type made of all other types that must be equal.
template <class Problem, class Others = typename comparison_of<typename Problem::input_type>::type>
call_record record_of_call(std::uint64_t items) {
  return {items,
          {static_cast<std::uint64_t>(tree_version), Problem::inclusive,
           Problem::initial_type::exists, type_hash<typename Problem::accumulator>(),
           Problem::shape::element_bytes, type_hash<decltype(Problem::op)>(), type_hash<Others>()}};
}

template <class Communicator>
std::vector<call_record> gather_calls(const Communicator &ranks, const call_record &own) {
  std::vector<call_record> calls(static_cast<std::size_t>(ranks.size()));
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

/// Throws, on every rank alike, if the calls differ.
inline void check_calls(const std::vector<call_record> &calls) {
  std::string difference;
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
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
