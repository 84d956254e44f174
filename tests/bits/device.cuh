// SPDX-License-Identifier: MIT
// The GPU against the literal tree, against lookback::host, and against itself: runs, grids, paths,
// alignments, places and streams. Large results stay on the device and are compared there.
#pragma once

#include <bits/device_kernels.cuh>
#include <bits/host.hpp>

#include <lookback/device_scan.cuh>

#include <support/paths.cuh>

#include <algorithm>
#include <array>

namespace bits {

template <class Kind>
class device_comparison {
  using T = typename Kind::type;
  using problem_type =
      decltype(Kind::problem(static_cast<const T *>(nullptr), static_cast<T *>(nullptr)));
  using shape = typename problem_type::shape;
  using path = test::path;
  static constexpr std::size_t slack = 64; // bytes, for shifted output

public:
  explicit device_comparison(std::uint64_t seed)
      : most_((std::size_t{1} << largest_exponent()) + 1), in_(most_ * sizeof(T) + slack),
        out_(most_ * sizeof(T) + slack), expected_(most_ * sizeof(T)),
        storage_bytes_(bytes_for(most_)), storage_(storage_bytes_),
        count_(std::vector<unsigned long long>{0}) {
    REQUIRE_CUDA(cudaGetDeviceProperties(&device_, 0));
    fill<Kind><<<1024, 256>>>(input(), most_, seed);
    CHECK_CUDA(cudaGetLastError());
    run_scan(input(), expected_.template as<T>(), most_);
  }

  template <class Random>
  void run(Random &random) {
    compare_with_literal_tree(random);
    compare_with_host(random);
    // From here on against the results of one run by the default path over the longest input: the
    // results for n elements are its first n.
    compare_runs(random);
    compare_grids(random);
    compare_paths(random);
    compare_alignments(random);
    compare_in_place(random);
    compare_streams(random);
  }

private:
  /// 2^30 elements in three arrays, or as many as there is room for; 2^22 for short runs.
  static int largest_exponent() {
    std::size_t available = 0, total = 0;
    REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
    int exponent = 30;
    if (test::runs_short()) return 22;
    while (exponent > 27 && 4 * ((std::size_t{1} << exponent) * sizeof(T)) > available) --exponent;
    return exponent;
  }
  static std::size_t bytes_for(std::size_t n) {
    std::size_t bytes = 0;
    const T *const in = nullptr;
    REQUIRE_CUDA(test::scan_by(path::fastest, nullptr, bytes,
                               Kind::problem(in, static_cast<T *>(nullptr)),
                               static_cast<std::int64_t>(n), nullptr));
    return bytes;
  }
  /// Of `sizes`, those that there is room for, as many as are to be tried.
  template <class Random>
  std::vector<std::size_t> to_try(std::vector<std::size_t> sizes, Random &random) const {
    sizes.erase(
        std::remove_if(sizes.begin(), sizes.end(), [this](std::size_t n) { return n > most_; }),
        sizes.end());
    return test::to_try(sizes, random);
  }
  T *input() const { return in_.template as<T>(); }
  T *output(std::size_t bytes_off = 0) const { return out_.template as<T>(bytes_off); }
  const T *expected() const { return expected_.template as<T>(); }

  /// Results that were there before must not pass for new ones.
  static void poison(T *out, std::size_t n, cudaStream_t stream = nullptr) {
    REQUIRE_CUDA(cudaMemsetAsync(static_cast<void *>(out), 0x5a, n * sizeof(T), stream));
  }
  cudaError_t scan(const T *in, T *out, std::size_t n, path by = path::fastest) {
    std::size_t bytes = storage_bytes_;
    return test::scan_by(by, storage_.template as<void>(), bytes, Kind::problem(in, out),
                         static_cast<std::int64_t>(n), nullptr);
  }
  void run_scan(const T *in, T *out, std::size_t n) {
    poison(out, n);
    REQUIRE_CUDA(scan(in, out, n));
  }

  static void enqueue_count(const T *a, const T *b, std::size_t n, unsigned long long *count,
                            cudaStream_t stream) {
    using word = word_of<alignof(T) < sizeof(T) ? alignof(T) : sizeof(T)>;
    count_differing<sizeof(T) / sizeof(word)><<<1024, 256, 0, stream>>>(
        reinterpret_cast<const word *>(a), reinterpret_cast<const word *>(b), n, count);
    CHECK_CUDA(cudaGetLastError());
  }
  std::uint64_t device_differing(const T *a, const T *b, std::size_t n) {
    REQUIRE_CUDA(cudaMemset(count_.data(), 0, sizeof(unsigned long long)));
    enqueue_count(a, b, n, count_.data(), nullptr);
    return count_.download()[0];
  }

  template <class Random>
  void compare_with_literal_tree(Random &random) {
    line<Kind> compared("GPU, literal tree");
    if (!Kind::same_everywhere) return compared.skip("the operator's library function differs");
    const std::size_t literal_most = std::min((std::size_t{1} << 24) + 1, most_);
    std::vector<T> in(literal_most);
    REQUIRE_CUDA(cudaMemcpy(in.data(), input(), literal_most * sizeof(T), cudaMemcpyDeviceToHost));
    const auto literal = literal_tree<Kind>(in);
    const device_room on_device(literal_most * sizeof(T));
    REQUIRE_CUDA(cudaMemcpy(on_device.as<T>(), literal.data(), literal_most * sizeof(T),
                            cudaMemcpyHostToDevice));
    for (const std::size_t n : to_try(lengths<Kind>(1000, {20, 24}, random), random)) {
      run_scan(input(), output(), n);
      compared.add(n, device_differing(output(), on_device.as<T>(), n));
    }
    compared.finish();
  }

  template <class Random>
  void compare_with_host(Random &random) {
    line<Kind> compared("GPU, host");
    if (!Kind::same_everywhere) return compared.skip("the operator's library function differs");
    const pinned_elements<T> in(most_), out(most_);
    REQUIRE_CUDA(cudaMemcpy(in.data(), input(), most_ * sizeof(T), cudaMemcpyDeviceToHost));
    auto sizes = lengths<Kind>(100, {20, 24}, random);
    sizes.push_back(std::size_t{1} << 28);
    sizes.push_back(most_);
    for (const std::size_t n : to_try(sizes, random)) {
      std::memset(static_cast<void *>(out.data()), 0x5a, n * sizeof(T));
      scan_on_host<Kind>(in.data(), out.data(), n);
      run_scan(input(), output(), n);
      // The input is on the host already: its place on the device serves the host's results for a
      // while.
      REQUIRE_CUDA(cudaMemcpy(input(), out.data(), n * sizeof(T), cudaMemcpyHostToDevice));
      compared.add(n, device_differing(output(), input(), n));
      REQUIRE_CUDA(cudaMemcpy(input(), in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    compared.finish();
  }

  /// Lengths for one block, a cluster, a wave, the look-back, the pipeline; and the longest.
  template <class Random>
  std::vector<std::size_t> one_of_each(Random &random) const {
    const std::size_t tile = shape::tile_elements;
    std::vector<std::size_t> sizes{tile / 2, 5 * tile + random() % tile,
                                   100 * tile + random() % tile};
    for (const int e : {20, 22, 24, 26, 28})
      if ((std::size_t{1} << e) + tile < most_)
        sizes.push_back((std::size_t{1} << e) + random() % tile);
    return sizes;
  }

  template <class Random>
  void compare_runs(Random &random) {
    line<Kind> compared("GPU, 100 runs each of 8 lengths");
    for (const std::size_t n : to_try(one_of_each(random), random))
      for (std::size_t again = 0; again < test::trials(100); ++again) {
        run_scan(input(), output(), n);
        compared.add(n, device_differing(output(), expected(), n), "run " + std::to_string(again));
      }
    compared.finish();
    line<Kind> longest("GPU, every edge of the tree, the longest");
    auto sizes = lengths<Kind>(0, {20, 24}, random);
    for (const int e : {28, 30})
      for (const std::size_t n :
           {(std::size_t{1} << e) - 1, std::size_t{1} << e, (std::size_t{1} << e) + 1})
        sizes.push_back(n);
    for (const std::size_t n : to_try(sizes, random)) {
      run_scan(input(), output(), n);
      longest.add(n, device_differing(output(), expected(), n));
    }
    longest.finish();
  }

  /// A device with fewer multiprocessors.
  struct narrow_launcher : lookback::detail::launcher {
    explicit narrow_launcher(int blocks_)
        : lookback::detail::launcher(nullptr), blocks(static_cast<unsigned>(blocks_)) {}
    unsigned multiprocessors() const { return blocks; }
    unsigned blocks;
  };
  /// The pipeline as on a GPU with `blocks` multiprocessors.
  cudaError_t scan_by_blocks(const T *in, T *out, std::size_t n, int blocks) {
    std::size_t bytes = storage_bytes_;
    return lookback::detail::strategies<lookback::look_ahead>::scan(
        storage_.template as<void>(), bytes, Kind::problem(in, out), static_cast<std::int64_t>(n),
        narrow_launcher(blocks));
  }

  /// A wave and the look-back launch a block a tile, so that their grid is given; the pipeline's is
  /// the number of multiprocessors.
  template <class Random>
  void compare_grids(Random &random) {
    line<Kind> compared("GPU, grids of 1 to all multiprocessors");
    if (device_.major < 9) return compared.skip("no pipeline on this GPU");
    const int all = device_.multiProcessorCount;
    const std::vector<int> grids{1, 7, 16, 32, 33, 46, 66, 78, 98, 114, all - 1, all};
    for (const int blocks : test::to_try(grids, random)) {
      if (blocks > all) continue;
      for (const std::size_t n : to_try({33 * std::size_t{shape::tile_elements} + 1,
                                         (std::size_t{1} << 22) - 1, (std::size_t{1} << 26) + 5},
                                        random)) {
        poison(output(), n);
        REQUIRE_CUDA(scan_by_blocks(input(), output(), n, blocks));
        compared.add(n, device_differing(output(), expected(), n),
                     std::to_string(blocks) + " blocks");
      }
    }
    compared.finish();
  }

  /// Every path at the same lengths, also where it would not be chosen.
  template <class Random>
  void compare_paths(Random &random) {
    struct {
      path by;
      const char *name;
    } const paths[] = {{path::cluster, "GPU, by one cluster"},
                       {path::wave, "GPU, by one wave"},
                       {path::look_back, "GPU, by look-back"},
                       {path::look_ahead, "GPU, by the look-ahead pipeline"}};
    auto sizes = one_of_each(random);
    for (int i = 0; i < 20; ++i) sizes.push_back(1 + random() % 70000);
    sizes.push_back(most_);
    const std::size_t wave = test::largest_wave(
        Kind::problem(static_cast<const T *>(nullptr), static_cast<T *>(nullptr)));
    for (const std::size_t n : {wave * shape::tile_elements, wave * shape::tile_elements + 1})
      if (wave != 0) sizes.push_back(n);
    for (const auto &one : paths) {
      line<Kind> compared(one.name);
      // Clusters need sm_90. Other GPUs than those of sm_90 to sm_103 run the pipeline for some
      // problems only, or not at all.
      const bool may_refuse =
          device_.major < 9 || (one.by == path::look_ahead && device_.major >= 12);
      const bool may_lack =
          one.by == path::wave ? wave == 0 : one.by != path::look_back && may_refuse;
      bool runs = false;
      std::vector<std::size_t> possible;
      for (const std::size_t n : sizes) {
        const std::size_t tiles = shape::tiles(n);
        if (one.by == path::cluster && tiles > 8)
          continue; // 16 where the GPU has room for so large a cluster
        if (one.by == path::wave && tiles > wave && tiles > 1) continue;
        possible.push_back(n);
      }
      for (const std::size_t n : to_try(possible, random)) {
        poison(output(), n);
        const cudaError_t status = scan(input(), output(), n, one.by);
        if (status == cudaErrorNotSupported && may_refuse) continue;
        REQUIRE_CUDA(status);
        runs = true;
        compared.add(n, device_differing(output(), expected(), n));
      }
      if (may_lack && !runs)
        compared.skip("no such path on this GPU");
      else
        compared.finish();
    }
  }

  template <class Random>
  void compare_alignments(Random &random) {
    line<Kind> compared("GPU, every alignment of input and output");
    const std::size_t aligned_most = std::min((std::size_t{1} << 26) + 64, most_);
    const device_room shifted(aligned_most * sizeof(T) + slack);
    std::vector<std::size_t> alignments;
    for (std::size_t byte = 0; byte < 16; byte += alignof(T)) alignments.push_back(byte);
    for (const std::size_t from : test::to_try(alignments, random)) {
      T *const in = shifted.as<T>(from);
      REQUIRE_CUDA(cudaMemcpy(in, input(), aligned_most * sizeof(T), cudaMemcpyDeviceToDevice));
      for (const std::size_t to : test::to_try(alignments, random))
        for (const std::size_t n :
             to_try({1 + random() % 70000, (std::size_t{1} << 22) + random() % 4096,
                     aligned_most - random() % 4096},
                    random)) {
          run_scan(in, output(to), n);
          compared.add(n, device_differing(output(to), expected(), n),
                       "from byte " + std::to_string(from) + " to byte " + std::to_string(to));
        }
    }
    compared.finish();
  }

  template <class Random>
  void compare_in_place(Random &random) {
    line<Kind> compared("GPU, in place");
    auto sizes = one_of_each(random);
    for (int i = 0; i < 50; ++i) sizes.push_back(1 + random() % 70000);
    sizes.push_back(most_);
    for (const std::size_t n : to_try(sizes, random)) {
      const std::size_t off = n == most_ ? 0 : random() % (16 / alignof(T)) * alignof(T);
      REQUIRE_CUDA(cudaMemcpy(output(off), input(), n * sizeof(T), cudaMemcpyDeviceToDevice));
      REQUIRE_CUDA(scan(output(off), output(off), n));
      compared.add(n, device_differing(output(off), expected(), n), "byte " + std::to_string(off));
    }
    compared.finish();
  }

  /// Scans on several streams at the same time, each into its own room, beside copies and a kernel
  /// that never rests.
  template <class Random>
  void compare_streams(Random &random) {
    constexpr std::size_t streams = 4, room = std::size_t{1} << 25;
    const std::size_t longest = std::min(room, most_);
    struct lane {
      test::stream stream;
      device_room out{room * sizeof(T)}, storage{bytes_for(room)};
    };
    std::array<lane, streams> lanes;
    const test::stream copying, busy;
    std::vector<std::size_t> sizes(streams * test::trials(25));
    for (std::size_t &n : sizes)
      n = random() % 3 == 0 ? longest - random() % 4096
                            : 1 + random() % (random() % 2 == 0 ? 70000 : longest / 4);
    const test::guarded_buffer<unsigned long long> counts(
        std::vector<unsigned long long>(sizes.size(), 0));
    std::size_t bytes = bytes_for(longest);
    unsigned *stop = nullptr; // seen by both
    REQUIRE_CUDA(cudaHostAlloc(&stop, sizeof(unsigned), cudaHostAllocMapped));
    *stop = 0;
    keep_busy<<<device_.multiProcessorCount / 2, 64, 0, busy>>>(stop);
    CHECK_CUDA(cudaGetLastError());
    for (std::size_t run = 0; run < sizes.size(); ++run) {
      if (run % streams == 0)
        CHECK_CUDA(cudaMemcpyAsync(output(), input(), most_ / 8 * sizeof(T),
                                   cudaMemcpyDeviceToDevice, copying));
      const lane &on = lanes[run % streams];
      T *const out = on.out.template as<T>();
      poison(out, sizes[run], on.stream);
      CHECK_CUDA(test::scan_by(path::fastest, on.storage.template as<void>(), bytes,
                               Kind::problem(static_cast<const T *>(input()), out),
                               static_cast<std::int64_t>(sizes[run]),
                               lookback::detail::launcher(on.stream)));
      enqueue_count(out, expected(), sizes[run], counts.data() + run, on.stream);
    }
    for (const lane &one : lanes) CHECK_CUDA(cudaStreamSynchronize(one.stream));
    *stop = 1;
    const auto different = counts.download();
    REQUIRE_CUDA(cudaFreeHost(stop));
    line<Kind> compared("GPU, 4 streams under load");
    for (std::size_t run = 0; run < sizes.size(); ++run)
      compared.add(sizes[run], different[run], "run " + std::to_string(run));
    compared.finish();
  }

  const std::size_t most_; // elements
  device_room in_, out_, expected_;
  const std::size_t storage_bytes_;
  device_room storage_;
  test::guarded_buffer<unsigned long long> count_;
  cudaDeviceProp device_{};
};

} // namespace bits
