// SPDX-License-Identifier: MIT
// Threads as ranks, and what became of their calls.
#pragma once

#include <lookback/distributed.cuh>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace test {

/// Calls `work(communicator)` in one thread for each rank. Returns the messages of their
/// exceptions: empty strings, where there was none.
template <class Work>
std::vector<std::string> on_all_ranks(lookback::distributed::threads &group, Work work) {
  std::vector<std::string> errors(static_cast<std::size_t>(group.size()));
  std::vector<std::thread> started;
  for (int rank = 0; rank < group.size(); ++rank)
    started.emplace_back([&, rank] {
      try {
        work(group.communicator(rank));
      } catch (const std::exception &error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (std::thread &each : started) each.join();
  return errors;
}

/// The ranks, with the lengths of all shards known: shard r is from cuts[r] to cuts[r + 1].
template <class Communicator>
lookback::distributed::known_shards<Communicator> known(const Communicator &ranks,
                                                        const std::vector<std::size_t> &cuts) {
  std::vector<std::int64_t> lengths;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r)
    lengths.push_back(static_cast<std::int64_t>(cuts[r + 1] - cuts[r]));
  return {ranks, lengths};
}

} // namespace test
