// SPDX-License-Identifier: MIT
// Where does every vertex's row start in the compressed sparse rows of a graph? A histogram of the
// edges' sources gives the degrees, and the degrees give the row offsets.
//
//   csr_offsets FILE [VERTEX]   edges from a text file
//   csr_offsets --random SEED   a million random edges between 2^16 vertices
//   csr_offsets                 the same with a fresh seed
//
// prints the number of vertices and edges, the largest degree, and the offset of vertex VERTEX (the
// middle one by default). Vertices count from 0; the largest number in the file is the last vertex.
// A line of the file is "source target"; further columns, such as a weight, are ignored, and '#'
// starts a comment.
#include "example.cuh"

#include <thrust/copy.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>
#include <thrust/sort.h>

#include <algorithm>
#include <random>
#include <sstream>

namespace {

struct graph {
  std::uint64_t vertices = 0;
  std::vector<std::uint32_t> sources; // one per edge
};

graph read_graph(const std::string &path) {
  std::ifstream file = example::open(path);
  graph g;
  std::uint64_t line_number = 0;
  errno = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string source, target;
    if (!(words >> source)) continue;
    words >> target;
    const std::string vertex = "'" + path + "' line " + std::to_string(line_number) + ": a vertex";
    const std::uint64_t from = example::number(source, vertex.c_str(), 0, UINT32_MAX);
    const std::uint64_t to = example::number(target, vertex.c_str(), 0, UINT32_MAX);
    g.sources.push_back(std::uint32_t(from));
    g.vertices = std::max({g.vertices, from + 1, to + 1});
  }
  if (file.bad()) throw example::bad_input("cannot read '" + path + "': " + std::strerror(errno));
  return g;
}

graph random_graph(std::uint64_t seed) {
  graph g{1 << 16, std::vector<std::uint32_t>(1'000'000)};
  std::mt19937_64 random(seed);
  // The product of two numbers favours the low vertices, as the degrees of real graphs are uneven.
  for (std::uint32_t &source : g.sources)
    source = std::uint32_t((random() >> 56) * (random() >> 56));
  std::printf("random  seed %zu\n", std::size_t(seed));
  return g;
}

/// offsets[v] is the number of edges whose source is below v; the last offset is the number of
/// edges.
struct csr {
  example::vector<std::uint64_t> degrees, offsets; // (vertices), (vertices + 1)
};

csr row_offsets(const graph &g) {
  csr rows{example::vector<std::uint64_t>(g.vertices),
           example::vector<std::uint64_t>(g.vertices + 1)};

  // Histogram: equal sources side by side, then the length of every run.
  example::vector<std::uint32_t> sources(g.sources.begin(), g.sources.end()),
      present(sources.size());
  example::vector<std::uint64_t> ones(sources.size(), 1), counts(sources.size());
  thrust::sort(example::policy, sources.begin(), sources.end());
  const auto runs = thrust::reduce_by_key(example::policy, sources.begin(), sources.end(),
                                          ones.begin(), present.begin(), counts.begin());
  thrust::scatter(example::policy, counts.begin(), runs.second, present.begin(),
                  rows.degrees.begin());

  lookback::offsets_from_counts(example::policy, rows.degrees.begin(), rows.degrees.end(),
                                rows.offsets.begin());
  return rows;
}

/// Throws where a serial pass over the edges finds other offsets.
void check(const graph &g, const std::vector<std::uint64_t> &offsets) {
  std::vector<std::uint64_t> expected(g.vertices + 1);
  for (const std::uint32_t source : g.sources) ++expected[source + std::size_t(1)];
  for (std::size_t v = 0; v < g.vertices; ++v) expected[v + 1] += expected[v];
  const auto wrong =
      std::mismatch(expected.begin(), expected.end(), offsets.begin(), offsets.end());
  if (wrong.first != expected.end())
    throw std::runtime_error("the offset of vertex " +
                             std::to_string(wrong.first - expected.begin()) + " is " +
                             std::to_string(*wrong.second) + " by the scan and " +
                             std::to_string(*wrong.first) + " by a serial pass");
}

void csr_offsets(const std::vector<std::string> &arguments) {
  const std::size_t count = arguments.size();
  const bool seeded = count > 0 && arguments[0] == "--random";
  if (count > 2 || (seeded && count == 1))
    throw example::bad_input("usage: csr_offsets [FILE [VERTEX] | --random SEED]");
  const graph g = count == 0 ? random_graph(std::random_device{}())
                  : seeded   ? random_graph(example::number(arguments[1], "SEED", 0, UINT64_MAX))
                             : read_graph(arguments[0]);
  std::uint64_t vertex = g.vertices / 2;
  if (count == 2 && !seeded) {
    vertex = example::number(arguments[1], "VERTEX", 0, UINT32_MAX);
    if (vertex >= g.vertices)
      throw example::bad_input("there is no vertex " + arguments[1] + ": '" + arguments[0] +
                               "' has " + std::to_string(g.vertices) + " vertices");
  }
  example::require_processor();

  const csr rows = row_offsets(g);
  std::vector<std::uint64_t> offsets(rows.offsets.size());
  thrust::copy(rows.offsets.begin(), rows.offsets.end(), offsets.begin());
  check(g, offsets);

  std::printf("graph   %zu vertices, %zu edges\nserial  the same offsets\n",
              std::size_t(g.vertices), g.sources.size());
  if (g.vertices == 0) return;
  const auto largest =
      thrust::max_element(example::policy, rows.degrees.begin(), rows.degrees.end());
  std::printf("degree  vertex %zu has the largest, %zu\n",
              std::size_t(largest - rows.degrees.begin()), std::size_t(*largest));
  std::printf("offset  the edges of vertex %zu start at %zu\n", std::size_t(vertex),
              std::size_t(offsets[vertex]));
}

} // namespace

int main(int argc, char **argv) { return example::run(argc, argv, csr_offsets); }
