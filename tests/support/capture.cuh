// SPDX-License-Identifier: MIT
// Stream capture as a witness: a graph says by name which kernels a call launches, and what else it
// asks for.
#pragma once

#include <support/buffers.cuh>

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace test {

/// What `work` puts into `stream`. Under the global capture mode every synchronisation is an error
/// that also invalidates the capture, and so is cudaMalloc in a thread that has not allowed itself
/// unsafe calls: a graph that exists proves that neither was called.
class captured {
public:
  template <class Work>
  captured(cudaStream_t stream, Work work) {
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    try {
      work();
    } catch (...) {
      if (cudaStreamEndCapture(stream, &graph_) == cudaSuccess) cudaGraphDestroy(graph_);
      cudaGetLastError();
      throw;
    }
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph_));
  }
  captured(const captured &) = delete;
  captured &operator=(const captured &) = delete;
  ~captured() {
    if (executable_) cudaGraphExecDestroy(executable_);
    if (graph_) cudaGraphDestroy(graph_);
  }

  cudaGraph_t graph() const { return graph_; }
  /// What was instantiated from it remains.
  void destroy_graph() {
    REQUIRE_CUDA(cudaGraphDestroy(graph_));
    graph_ = nullptr;
  }

  std::size_t nodes() const {
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
    return count;
  }

  std::vector<cudaGraphNodeType> node_types() const {
    std::vector<cudaGraphNode_t> all(nodes());
    std::size_t count = all.size();
    if (count != 0) REQUIRE_CUDA(cudaGraphGetNodes(graph_, all.data(), &count));
    std::vector<cudaGraphNodeType> types(count);
    for (std::size_t i = 0; i < count; ++i) REQUIRE_CUDA(cudaGraphNodeGetType(all[i], &types[i]));
    return types;
  }

  /// Mangled names of the kernels in the graph.
  std::vector<std::string> kernels() const {
    std::vector<cudaGraphNode_t> all(nodes());
    std::size_t count = all.size();
    if (count != 0) REQUIRE_CUDA(cudaGraphGetNodes(graph_, all.data(), &count));
    std::vector<std::string> names;
    for (cudaGraphNode_t node : all) {
      cudaGraphNodeType type;
      REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
      if (type != cudaGraphNodeTypeKernel) continue;
      cudaKernelNodeParams parameters{};
      REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &parameters));
      const char *name = nullptr;
      REQUIRE_CUDA(cudaFuncGetName(&name, parameters.func));
      names.emplace_back(name);
    }
    return names;
  }

  /// How many kernels of the graph are launched cooperatively.
  int cooperative_launches() const {
    std::vector<cudaGraphNode_t> all(nodes());
    std::size_t count = all.size();
    REQUIRE_CUDA(cudaGraphGetNodes(graph_, all.data(), &count));
    int cooperative = 0;
    for (cudaGraphNode_t node : all) {
      cudaGraphNodeType type;
      REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
      if (type != cudaGraphNodeTypeKernel) continue;
      cudaLaunchAttributeValue value{};
      REQUIRE_CUDA(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
      cooperative += value.cooperative;
    }
    return cooperative;
  }

  void launch(cudaStream_t stream) {
    if (!executable_) REQUIRE_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
    REQUIRE_CUDA(cudaGraphLaunch(executable_, stream));
  }

private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// A call in two phases, `call(temporary, bytes, stream)`, that is captured once and can be run any
/// number of times.
class replayed_call {
public:
  template <class Call>
  explicit replayed_call(Call call)
      : temporary_(size_of(call)), graph_(stream_, [&] {
          std::size_t bytes = temporary_.size();
          status_ = call(temporary_.data(), bytes, stream_);
        }) {}

  /// What the captured call returned.
  cudaError_t status() const { return status_; }
  void run() { graph_.launch(stream_); }
  bool guards_intact() const { return temporary_.guards_intact(); }

private:
  template <class Call>
  std::size_t size_of(Call call) const {
    std::size_t bytes = 0;
    REQUIRE_CUDA(call(nullptr, bytes, stream_));
    return bytes;
  }

  const stream stream_;
  const guarded_buffer<unsigned char> temporary_;
  cudaError_t status_ = cudaSuccess;
  captured graph_;
};

/// Whether the kernel itself, not just one of its template arguments, is lookback's.
inline bool is_lookback_kernel(const std::string &mangled_name) {
  return mangled_name.rfind("_ZN8lookback", 0) == 0;
}

} // namespace test
