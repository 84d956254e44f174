// SPDX-License-Identifier: MIT
// Where does every vertex's row start in the compressed sparse rows of a graph whose edges are
// spread over several ranks? Each rank has the edges of a range of vertices and counts them; one
// distributed scan of the degrees gives each rank the offsets of its own rows.
//
//   distributed_offsets [RANKS]                      a thread for each rank; with NCCL on GPUs
//   distributed_offsets --process RANK RANKS FILE    one rank of several processes, on GPUs only
//
// Every rank checks its offsets against a serial pass over all edges and prints where its rows
// begin. By default there are 4 ranks, or 2 on GPUs, each with a GPU of its own. With --process,
// rank 0 writes NCCL's unique identifier to FILE, which must not exist before. All processes run on
// one machine.
#include "example.cuh"

#include <lookback/distributed.cuh>

#include <thrust/copy.h>

#include <chrono>
#include <exception>
#include <random>
#include <thread>

#if defined(__CUDACC__)
#include <lookback/distributed/nccl_communicator.cuh>
#endif

namespace {

constexpr std::uint64_t vertices = 1 << 16, edges = 1'000'000;

/// The number of edges of each vertex from `first` up to `last`. A rank would read its own edges;
/// here it draws all of them and leaves out those of other vertices.
std::vector<std::uint32_t> count_edges(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint32_t> degrees(last - first);
  std::mt19937_64 random(2718);
  for (std::uint64_t edge = 0; edge < edges; ++edge) {
    const std::uint64_t source = (random() >> 56) * (random() >> 56); // uneven degrees
    if (source >= first && source < last) ++degrees[source - first];
  }
  return degrees;
}

/// Throws where a serial pass over all edges finds other offsets from vertex `first` on.
void check(std::uint64_t first, const std::vector<std::uint64_t> &offsets) {
  const std::vector<std::uint32_t> degrees = count_edges(0, vertices);
  std::uint64_t expected = 0;
  for (std::uint64_t v = 0; v < first + offsets.size(); expected += degrees[v++])
    if (v >= first && offsets[v - first] != expected)
      throw std::runtime_error("the offset of vertex " + std::to_string(v) + " is " +
                               std::to_string(offsets[v - first]) + " by the scan and " +
                               std::to_string(expected) + " by a serial pass");
}

/// The work of one rank. Offsets have 64 bits, as their accumulator has the initial value's type.
template <class Communicator>
void find_offsets(const Communicator &ranks) {
  const auto rank = std::uint64_t(ranks.rank()), size = std::uint64_t(ranks.size());
  const std::uint64_t first = vertices * rank / size, last = vertices * (rank + 1) / size;
  const std::vector<std::uint32_t> counted = count_edges(first, last);
  const example::vector<std::uint32_t> degrees(counted.begin(), counted.end());
  example::vector<std::uint64_t> offsets(degrees.size());

  lookback::distributed::exclusive_scan(ranks, example::policy, degrees.begin(), degrees.end(),
                                        offsets.begin(), std::uint64_t{0});

  std::vector<std::uint64_t> found(offsets.size());
  thrust::copy(offsets.begin(), offsets.end(), found.begin());
  check(first, found);
  std::printf("rank %d  vertices %zu to %zu, their rows begin at %zu\n", ranks.rank(),
              std::size_t(first), std::size_t(last - 1), std::size_t(found[0]));
}

/// Calls `work(rank)` in a thread for each rank.
template <class Work>
void on_threads(int ranks, Work work) {
  std::vector<std::exception_ptr> failures(std::size_t(ranks), nullptr);
  std::vector<std::thread> started;
  for (int rank = 0; rank < ranks; ++rank)
    started.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (...) {
        failures[std::size_t(rank)] = std::current_exception();
      }
    });
  for (std::thread &each : started) each.join();
  for (const std::exception_ptr &failure : failures)
    if (failure) std::rethrow_exception(failure);
}

constexpr std::chrono::minutes deadline(1); // of a rank's wait for the others

#if defined(__CUDACC__)

constexpr int default_ranks = 2;

void check(ncclResult_t status) {
  if (status != ncclSuccess) throw std::runtime_error(ncclGetErrorString(status));
}

void require_gpus(int ranks) {
  example::require_processor();
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  if (gpus < ranks) throw example::no_gpu("skipped: fewer GPUs than ranks");
}

/// Destroys the communicator, unless it has failed: then the program ends.
void find_offsets(ncclComm_t comm) {
  find_offsets(lookback::distributed::nccl(comm, deadline));
  check(ncclCommDestroy(comm));
}

void with_threads(int ranks) {
  require_gpus(ranks);
  std::vector<ncclComm_t> comms(std::size_t(ranks), nullptr);
  check(ncclCommInitAll(comms.data(), ranks, nullptr));
  on_threads(ranks, [&](int rank) {
    cudaSetDevice(rank);
    find_offsets(comms[std::size_t(rank)]);
  });
}

/// Rank 0 makes the identifier and writes it to a file that it then renames to `path`, so the
/// others, which wait for it, find it complete.
ncclUniqueId share_id(int rank, const std::string &path) {
  ncclUniqueId id;
  if (rank == 0) {
    check(ncclGetUniqueId(&id));
    const std::string part = path + ".part";
    if (!std::ofstream(part, std::ios::binary).write(id.internal, sizeof(id.internal)).flush() ||
        std::rename(part.c_str(), path.c_str()) != 0)
      throw example::bad_input("cannot write '" + path + "': " + std::strerror(errno));
    return id;
  }
  for (const double begin = example::now(); example::now() - begin < 60;) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof(id.internal))) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw example::bad_input("no identifier in '" + path + "' after a minute: start rank 0, too");
}

void as_process(int rank, int ranks, const std::string &path) {
  require_gpus(ranks);
  cudaSetDevice(rank);
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, ranks, share_id(rank, path), rank));
  if (rank == 0) std::remove(path.c_str()); // all have read it
  find_offsets(comm);
}

#else

constexpr int default_ranks = 4;

void with_threads(int ranks) {
  lookback::distributed::threads group(ranks, deadline);
  on_threads(ranks, [&](int rank) { find_offsets(group.communicator(rank)); });
}

void as_process(int, int, const std::string &) {
  throw example::bad_input("--process needs GPUs: without them, ranks are threads");
}

#endif

void distributed_offsets(const std::vector<std::string> &arguments) {
  const auto number = [&](std::size_t at, const char *name, std::uint64_t first, int last) {
    return int(example::number(arguments[at], name, first, std::uint64_t(last)));
  };
  const bool is_process = !arguments.empty() && arguments[0] == "--process";
  if (arguments.size() > 1 ? !is_process || arguments.size() != 4 : is_process)
    throw example::bad_input("usage: distributed_offsets [RANKS | --process RANK RANKS FILE]");
  std::printf("graph   %zu vertices, %zu edges\n", std::size_t(vertices), std::size_t(edges));
  if (is_process) {
    const int ranks = number(2, "RANKS", 1, 64);
    as_process(number(1, "RANK", 0, ranks - 1), ranks, arguments[3]);
  } else {
    with_threads(arguments.empty() ? default_ranks : number(0, "RANKS", 1, 64));
  }
  std::puts("serial  the same offsets");
}

} // namespace

int main(int argc, char **argv) { return example::run(argc, argv, distributed_offsets); }
