// SPDX-License-Identifier: MIT
// A captured scan in a graph: its temporary storage is the graph's, for as long as anything of it
// can run.
#include <lookback/execution_policy.cuh>

#include <support/allocator.cuh>
#include <support/buffers.cuh>
#include <support/capture.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>

#include <memory>
#include <vector>

namespace {

using word = std::uint32_t;
constexpr std::size_t many = std::size_t{1} << 20; // elements, enough for a workspace

/// A scan of its own numbers, captured with some policy.
class captured_scan {
public:
  template <class Scan>
  captured_scan(std::vector<word> in, cudaStream_t s, Scan scan)
      : in_(in), out_(in.size()), expected_(test::serial_inclusive(in, test::plus<word>{})),
        graph_(s, [&] { scan(in_.data(), in_.data() + in.size(), out_.data()); }) {}

  cudaGraph_t graph() const { return graph_.graph(); }
  test::captured &captured() { return graph_; }
  void poison() { out_.poison(); }
  void check() const {
    CHECK_EQ(test::first_difference(out_.download(), expected_), test::nowhere);
  }

private:
  test::guarded_buffer<word> in_, out_;
  std::vector<word> expected_;
  test::captured graph_;
};

/// A graph that can be launched, independent of the graph it is made from.
class executable {
public:
  explicit executable(cudaGraph_t graph) {
    REQUIRE_CUDA(cudaGraphInstantiate(&executable_, graph, 0));
  }
  executable(const executable &) = delete;
  executable &operator=(const executable &) = delete;
  ~executable() { cudaGraphExecDestroy(executable_); }
  void launch(cudaStream_t s) { REQUIRE_CUDA(cudaGraphLaunch(executable_, s)); }

private:
  cudaGraphExec_t executable_ = nullptr;
};

/// A graph whose nodes are children.
class parent {
public:
  parent() { REQUIRE_CUDA(cudaGraphCreate(&graph_, 0)); }
  parent(const parent &) = delete;
  parent &operator=(const parent &) = delete;
  ~parent() { cudaGraphDestroy(graph_); }
  /// Adds a copy of `child` behind the last one.
  cudaError_t add(cudaGraph_t child) {
    cudaGraphNode_t node{};
    const cudaError_t status =
        cudaGraphAddChildGraphNode(&node, graph_, last_ ? &last_ : nullptr, last_ ? 1 : 0, child);
    if (status == cudaSuccess) last_ = node;
    return status;
  }
  cudaGraph_t graph() const { return graph_; }

private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t last_ = nullptr;
};

template <class Policy>
auto scan_with(const Policy &policy) {
  return [&policy](const word *first, const word *last, word *result) {
    thrust::inclusive_scan(policy, first, last, result);
  };
}

template <class Policy>
void check_as_child(const char *name, test::stream &s, const Policy &policy) {
  INFO("policy ", name);
  TEST_RANDOM(random);
  captured_scan scan(test::random_values<word>(many, random), s, scan_with(policy));
  parent graph;
  for (int copy = 0; copy < 2; ++copy) CHECK_CUDA(graph.add(scan.graph()));
  executable executable(graph.graph());
  for (int replay = 0; replay < 3; ++replay) {
    scan.poison();
    executable.launch(s);
    scan.check();
  }
}

std::size_t memory_in_use() {
  std::size_t available = 0, total = 0;
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
  return total - available;
}

} // namespace

TEST_CASE("a captured scan can be a child of other graphs") {
  test::stream s;
  check_as_child("par.on(s)", s, lookback::par.on(s));
  check_as_child("par_nosync.on(s)", s, lookback::par_nosync.on(s));
  test::arena_allocator arena;
  check_as_child("par(allocator).on(s)", s, lookback::par(arena).on(s));
  CHECK_GT(arena.allocations(), 0);

  TEST_RANDOM(random);
  captured_scan scan(test::random_values<word>(many, random), s,
                     [&](const word *first, const word *last, word *result) {
                       lookback::inclusive_scan(thrust::cuda::par.on(s), first, last, result);
                     });
  parent graph;
  CHECK_CUDA(graph.add(scan.graph()));
  executable(graph.graph()).launch(s);
  scan.check();
}

TEST_CASE("a captured scan allocates nothing when it runs, and waits for nothing") {
  test::stream s;
  TEST_RANDOM(random);
  captured_scan scan(test::random_values<word>(many, random), s, scan_with(lookback::par.on(s)));
  for (const cudaGraphNodeType type : scan.captured().node_types())
    CHECK((type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset));
}

TEST_CASE("a captured scan can be instantiated more than once") {
  test::stream s;
  TEST_RANDOM(random);
  captured_scan scan(test::random_values<word>(many, random), s, scan_with(lookback::par.on(s)));
  executable one(scan.graph()), other(scan.graph());
  for (executable *each : {&one, &other, &one}) {
    scan.poison();
    each->launch(s);
    scan.check();
  }
}

TEST_CASE("captured scans run at the same time, each in storage of its own") {
  test::stream s, streams[4];
  TEST_RANDOM(random);
  std::vector<std::unique_ptr<captured_scan>> scans;
  std::vector<std::unique_ptr<executable>> executables;
  for (int i = 0; i < 4; ++i) {
    scans.push_back(std::make_unique<captured_scan>(test::random_values<word>(many, random), s,
                                                    scan_with(lookback::par.on(s))));
    executables.push_back(std::make_unique<executable>(scans.back()->graph()));
    // What was instantiated keeps the storage: the next scan must not be given it.
    if (i % 2 == 0) scans.back()->captured().destroy_graph();
  }
  for (std::size_t round = 0; round < test::trials(50); ++round) {
    for (auto &scan : scans) scan->poison();
    for (int i = 0; i < 4; ++i) executables[i]->launch(streams[i]);
    for (auto &scan : scans) scan->check();
  }
}

TEST_CASE("a thousand captures use no more memory than some, and give it back") {
  test::stream s;
  // 256-byte elements and their aggregates: a workspace of more than 1 MB.
  using wide = test::sized<256>;
  const std::size_t n = std::size_t{1} << 18;
  const test::guarded_buffer<wide> data(n);
  const auto capture = [&] {
    test::captured graph(s, [&] {
      thrust::inclusive_scan(lookback::par_nosync.on(s), data.data(), data.data() + n, data.data(),
                             test::compose{});
    });
    CHECK(!graph.kernels().empty());
  };
  capture();
  REQUIRE_CUDA(lookback::release_workspace());
  const std::size_t in_use = memory_in_use();
  for (std::size_t i = 0; i < test::trials(1000); ++i) capture();
  // CUDA says on a thread of its own that a graph is gone; a few may be on their way.
  CHECK_LE(memory_in_use(), in_use + (std::size_t{100} << 20));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  for (int attempt = 0; attempt < 1000 && memory_in_use() > in_use; ++attempt)
    REQUIRE_CUDA(lookback::release_workspace());
  CHECK_LE(memory_in_use(), in_use);
}
