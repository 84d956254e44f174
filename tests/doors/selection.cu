// SPDX-License-Identifier: MIT
#include <doors/selection_calls.cuh>

#include <thrust/copy.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/system_error.h>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>

using test::check_selection_call;
using test::counts;
using test::is_marked;

TEST_CASE("lookback's policies: copies of kept elements") {
  check_selection_call("copy_if", [](const auto &policy, auto a) -> counts {
    return {thrust::copy_if(policy, a.x, a.end(), a.kept, is_marked{}) - a.kept};
  });
  check_selection_call("copy_if(stencil)", [](const auto &policy, auto a) -> counts {
    return {thrust::copy_if(policy, a.x, a.end(), a.stencil, a.kept, is_marked{}) - a.kept};
  });
  check_selection_call("remove_copy", [](const auto &policy, auto a) -> counts {
    return {thrust::remove_copy(policy, a.x, a.end(), a.kept, a.n > 0 ? 3 : 4) - a.kept};
  });
  check_selection_call("remove_copy_if", [](const auto &policy, auto a) -> counts {
    return {thrust::remove_copy_if(policy, a.x, a.end(), a.kept, is_marked{}) - a.kept};
  });
  check_selection_call("remove_copy_if(stencil)", [](const auto &policy, auto a) -> counts {
    return {thrust::remove_copy_if(policy, a.x, a.end(), a.stencil, a.kept, is_marked{}) - a.kept};
  });
}

TEST_CASE("lookback's policies: removal in place") {
  check_selection_call("remove", [](const auto &policy, auto a) -> counts {
    return {thrust::remove(policy, a.x, a.end(), test::word{5}) - a.x};
  });
  check_selection_call("remove_if", [](const auto &policy, auto a) -> counts {
    return {thrust::remove_if(policy, a.x, a.end(), is_marked{}) - a.x};
  });
  check_selection_call("remove_if(stencil)", [](const auto &policy, auto a) -> counts {
    return {thrust::remove_if(policy, a.x, a.end(), a.stencil, is_marked{}) - a.x};
  });
}

TEST_CASE("lookback's policies: partitions") {
  const auto both = [](const auto &ends, const auto &a) -> counts {
    return {ends.first - a.kept, ends.second - a.rejected};
  };
  check_selection_call("partition_copy", [=](const auto &policy, auto a) {
    return both(thrust::partition_copy(policy, a.x, a.end(), a.kept, a.rejected, is_marked{}), a);
  });
  check_selection_call("partition_copy(stencil)", [=](const auto &policy, auto a) {
    return both(
        thrust::partition_copy(policy, a.x, a.end(), a.stencil, a.kept, a.rejected, is_marked{}),
        a);
  });
  check_selection_call("stable_partition_copy", [=](const auto &policy, auto a) {
    return both(
        thrust::stable_partition_copy(policy, a.x, a.end(), a.kept, a.rejected, is_marked{}), a);
  });
  check_selection_call("stable_partition_copy(stencil)", [=](const auto &policy, auto a) {
    return both(thrust::stable_partition_copy(policy, a.x, a.end(), a.stencil, a.kept, a.rejected,
                                              is_marked{}),
                a);
  });
  check_selection_call("partition", [](const auto &policy, auto a) -> counts {
    return {thrust::partition(policy, a.x, a.end(), is_marked{}) - a.x};
  });
  check_selection_call("partition(stencil)", [](const auto &policy, auto a) -> counts {
    return {thrust::partition(policy, a.x, a.end(), a.stencil, is_marked{}) - a.x};
  });
  check_selection_call("stable_partition", [](const auto &policy, auto a) -> counts {
    return {thrust::stable_partition(policy, a.x, a.end(), is_marked{}) - a.x};
  });
  check_selection_call("stable_partition(stencil)", [](const auto &policy, auto a) -> counts {
    return {thrust::stable_partition(policy, a.x, a.end(), a.stencil, is_marked{}) - a.x};
  });
}

namespace {
/// Of pairs, by their first parts.
struct first_is_marked {
  template <class Pair>
  __host__ __device__ bool operator()(const Pair &pair) const {
    return is_marked{}(thrust::get<0>(pair));
  }
};
} // namespace

TEST_CASE("lookback's policies: selections through iterators") {
  check_selection_call("copy_if(indices)", [](const auto &policy, auto a) -> counts {
    const auto indices = thrust::make_counting_iterator<test::word>(0);
    return {thrust::copy_if(policy, indices, indices + a.n, a.x, a.kept, is_marked{}) - a.kept};
  });
  check_selection_call("partition(zip)", [](const auto &policy, auto a) -> counts {
    const auto pairs = thrust::make_zip_iterator(a.x, a.stencil);
    return {thrust::partition(policy, pairs, pairs + a.n, first_is_marked{}) - pairs};
  });
}

TEST_CASE("a selection that would have to wait for a captured stream is refused") {
  const test::guarded_buffer<test::word> x(1000);
  const test::stream stream;
  const test::captured graph(stream, [&] {
    try {
      thrust::copy_if(lookback::par_nosync.on(stream), x.data(), x.data() + 1000, x.data(),
                      is_marked{});
      FAIL("no exception");
    } catch (const thrust::system_error &error) {
      CHECK_EQ(error.code().value(), static_cast<int>(cudaErrorStreamCaptureUnsupported));
      CHECK(std::strstr(error.what(), "lookback::DeviceSelect") != nullptr);
    }
  });
  CHECK_EQ(graph.nodes(), 0u);
}
