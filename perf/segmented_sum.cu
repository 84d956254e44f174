// SPDX-License-Identifier: MIT
#include "segment_device.cuh"

#include <lookback/device_segmented_scan.cuh>

namespace {

constexpr long long elements = 1LL << 27; // of all segments

/// Consecutive segments of all elements: a first one, and others of one length.
struct segmentation {
  std::string name;
  long long first, length; // both 0: random lengths by a power law
  long long count;
};

/// 0, and where each segment of random length ends. Lengths are 8 / u for a uniform u in (0, 1]:
/// 7 and more, 110 on average.
const std::vector<long long> &power_law_offsets() {
  static const std::vector<long long> all = [] {
    std::vector<long long> offsets{0};
    std::uint64_t x = 88172645463325252u; // xorshift64
    while (offsets.back() < elements) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      const double uniform = static_cast<double>(x >> 11) * 0x1p-53;
      const auto length = static_cast<long long>(8 / (uniform + 1e-6));
      offsets.push_back(std::min(elements, offsets.back() + length));
    }
    return offsets;
  }();
  return all;
}

std::vector<segmentation> segmentations() {
  std::vector<segmentation> all;
  for (const int exponent : {2, 4, 6, 8, 10, 12, 16, 20, 27}) {
    const long long length = 1LL << exponent;
    all.push_back({"segmented_sum_" + std::to_string(length), length, length, elements / length});
  }
  all.push_back({"segmented_sum_half_in_one", elements / 2, 16, 1 + elements / 2 / 16});
  all.push_back(
      {"segmented_sum_power_law", 0, 0, static_cast<long long>(power_law_offsets().size()) - 1});
  return all;
}

__global__ void write_offsets(long long *offsets, long long segments, long long first,
                              long long length) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long s = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; s <= segments;
       s += stride)
    offsets[s] = s == 0 ? 0 : first + (s - 1) * length;
}

template <class T>
perf::operands_of<perf::segmented_sum<T>> prepare(const segmentation &segments) {
  auto o = perf::prepare_lines<perf::segmented_sum<T>>(elements, elements, 1);
  const std::size_t bytes = static_cast<std::size_t>(segments.count + 1) * sizeof(long long);
  const perf::places seconds(static_cast<long long>(bytes));
  auto *const offsets = static_cast<long long *>(perf::memory().second.reserve(seconds.bytes()));
  for (int p = 0; p < seconds.count(); ++p) {
    long long *const here = seconds.of_run(offsets, p);
    if (segments.length != 0)
      write_offsets<<<1024, 256>>>(here, segments.count, segments.first, segments.length);
    else
      perf::check(cudaMemcpy(here, power_law_offsets().data(), bytes, cudaMemcpyHostToDevice));
    perf::check(cudaGetLastError());
  }
  for (int p = 0; p < o.inputs.count(); ++p) {
    T *const values = o.inputs.of_run(const_cast<T *>(o.in), p);
    perf::begin_lines<<<1024, 256>>>(values, offsets, segments.count, perf::seed());
    perf::check(cudaGetLastError());
  }
  o.second = offsets;
  o.seconds = seconds;
  o.segments = segments.count;
  return o;
}

template <class T>
void add_type(std::vector<perf::cell> &cells, const segmentation &segments) {
  using sum = perf::segmented_sum<T>;
  const long long bytes = 2 * elements * static_cast<long long>(sizeof(T)) +
                          (segments.count + 1) * static_cast<long long>(sizeof(long long));
  perf::add_lines<sum>(cells, segments.name, elements, bytes,
                       sum::template invoke<lookback::DeviceSegmentedScan>, true,
                       [segments] { return prepare<T>(segments); });
}

} // namespace

void perf::add_segmented_sum(std::vector<cell> &cells) {
  for (const segmentation &segments : segmentations()) {
    add_type<int>(cells, segments);
    add_type<float>(cells, segments);
    add_type<double>(cells, segments);
  }
}
