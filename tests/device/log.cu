// SPDX-License-Identifier: MIT
// LOOKBACK_LOG=1: a line for every call, with the strategy that ran; none for a size.
#include <lookback/catalogue.cuh>
#include <lookback/device_scan.cuh>

#include <support/buffers.cuh>
#include <support/log.hpp>

namespace {

/// What one call over `n` ones prints, and its size query.
template <class... Algorithm>
std::string log_of(std::size_t n, Algorithm... algorithm) {
  const test::guarded_buffer<int> ones(std::vector<int>(n, 1)), out(n);
  std::size_t bytes = 0;
  const auto scan = [&](void *temporary) {
    REQUIRE_CUDA(lookback::DeviceScan::InclusiveScan(
        temporary, bytes, static_cast<const int *>(ones.data()), out.data(), lookback::plus{}, n,
        nullptr, algorithm...));
  };
  CHECK_EQ(test::printed_by([&] { scan(nullptr); }), "");
  const test::guarded_buffer<unsigned char> temporary(bytes);
  const std::string text = test::printed_by([&] { scan(temporary.data()); });
  CHECK_EQ(out.download().back(), static_cast<int>(n));
  CHECK_EQ(text.find("lookback: n = " + std::to_string(n) + ": "), 0);
  CHECK_EQ(text.find('\n'), text.size() - 1);
  return text;
}

} // namespace

TEST_CASE("LOOKBACK_LOG: the strategy of a call, and why others did not run") {
  int major = 0;
  REQUIRE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  const std::string one = log_of(1000), many = log_of(50'000'000);
  INFO(one, many);
  CHECK_NE(one.find(": one_tile, tuned for the H200"), std::string::npos);
  CHECK_NE(many.find(major >= 8 ? ": pipeline," : ": tree_look_back,"), std::string::npos);
  CHECK_NE(many.find("; not one_tile: more than one tile; not cluster: more than 16 tiles; "
                     "not wave: more tiles than are resident at once"),
           std::string::npos);
  CHECK_NE(
      log_of(100000, lookback::chained<>{}).find(": chained, tuned for its template arguments"),
      std::string::npos);
}
