// SPDX-License-Identifier: MIT
// Scan after scan, of any type, length, path, alignment and stream, in place or not, with blocks
// that dawdle and a kernel that holds most of the GPU; every result checked on the device. Every
// ninth launch or so scans segments at random offsets. Few launches by default;
// LOOKBACK_SOAK_LAUNCHES says how many.
#include <lookback/device_scan.cuh>
#include <lookback/device_segmented_scan.cuh>

#include <support/buffers.cuh>
#include <support/operators.hpp>
#include <support/paths.cuh>
#include <support/random.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>

namespace {

namespace core = lookback::detail;
using test::path;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t largest = std::size_t{1} << 22, room_behind = 8; // elements
constexpr std::size_t most_segments = std::size_t{1} << 16;
constexpr int streams = 4, kinds = 7;        // of subjects, below
constexpr std::chrono::seconds patience{60}; // for a few hundred launches of a few microseconds

// ---- subjects: what the input is, and what its scan must be
// ------------------------------------------------------------ `result(first, i)` is result i of a
// scan that starts at input `first`.

/// Sums of integers; every value wraps many times.
template <class Integer>
struct integers {
  using T = Integer;
  static constexpr bool by_key = false;
  static const char *name() { return sizeof(T) == 1 ? "i8" : sizeof(T) == 4 ? "i32" : "i64"; }
  TEST_HOST_DEVICE static T input(std::uint64_t i) { return static_cast<T>(7 * i + 3); }
  TEST_HOST_DEVICE static T result(std::uint64_t first, std::uint64_t i) {
    return static_cast<T>((i + 1) * (7 * first + 3) + 7 * (i * (i + 1) / 2));
  }
  using op = test::plus<T>;
  static op dawdle(unsigned, unsigned, unsigned) { return {}; }
};

/// Sums that are exact.
struct floats {
  using T = float;
  static constexpr bool by_key = false;
  static const char *name() { return "f32"; }
  TEST_HOST_DEVICE static T input(std::uint64_t i) { return static_cast<T>(i % 2); }
  TEST_HOST_DEVICE static T result(std::uint64_t first, std::uint64_t i) {
    return static_cast<T>((first + i + 1) / 2 - first / 2);
  }
  using op = test::plus<T>;
  static op dawdle(unsigned, unsigned, unsigned) { return {}; }
};

/// Joins intervals, and holds up every `period`th block for `nanoseconds` at each application by
/// its first warp.
template <class T>
struct dawdling_join {
  unsigned period, offset, nanoseconds;
  TEST_HOST_DEVICE T operator()(const T &a, const T &b) const {
#if defined(__CUDA_ARCH__)
    if (nanoseconds != 0 && blockIdx.x % period == offset && threadIdx.x < 32)
      __nanosleep(nanoseconds);
#endif
    const test::interval joined = test::join_intervals{}({a.begin, a.end}, {b.begin, b.end});
    T result = a;
    result.begin = joined.begin, result.end = joined.end;
    return result;
  }
};
/// Intervals in 24 bytes, which have a flag beside their cell.
struct wide_interval {
  std::uint32_t begin, end;
  std::uint64_t rest[2];
};
TEST_HOST_DEVICE bool operator==(const wide_interval &a, const wide_interval &b) {
  return a.begin == b.begin && a.end == b.end;
}
template <class Interval>
struct intervals {
  using T = Interval;
  static constexpr bool by_key = false;
  static const char *name() { return sizeof(T) == 8 ? "interval" : "24-byte interval"; }
  TEST_HOST_DEVICE static T input(std::uint64_t i) { return make(i + 1, i + 2); }
  TEST_HOST_DEVICE static T result(std::uint64_t first, std::uint64_t i) {
    return make(first + 1, first + i + 2);
  }
  using op = dawdling_join<T>;
  static op dawdle(unsigned period, unsigned offset, unsigned nanoseconds) {
    return {period, offset, nanoseconds};
  }

private:
  TEST_HOST_DEVICE static T make(std::uint64_t begin, std::uint64_t end) {
    T made{};
    made.begin = static_cast<std::uint32_t>(begin), made.end = static_cast<std::uint32_t>(end);
    return made;
  }
};

/// Sums that start anew in every run; the values are their own keys, so that in place the results
/// go over the keys.
struct runs {
  using T = std::int32_t;
  static constexpr bool by_key = true;
  static const char *name() { return "i32 by key"; }
  static constexpr std::uint64_t length = 1000;
  TEST_HOST_DEVICE static T input(std::uint64_t i) { return static_cast<T>(i / length) + 1; }
  TEST_HOST_DEVICE static T result(std::uint64_t first, std::uint64_t i) {
    const std::uint64_t before = (first + i) % length;
    return input(first + i) * static_cast<T>((before < i ? before : i) + 1);
  }
  using op = test::plus<T>;
  static op dawdle(unsigned, unsigned, unsigned) { return {}; }
};

/// Whether segments of the subject are scanned, too: vectors of four items, of two, and of one.
template <class Subject>
constexpr bool has_segments = !Subject::by_key && sizeof(typename Subject::T) != 1 &&
                              !std::is_floating_point<typename Subject::T>::value &&
                              !std::is_same<typename Subject::T, std::int64_t>::value;

/// `count` segments of `n` elements: segment s begins somewhere between s * length and the next
/// multiple of length, the last is as long as it must be. One segment is an ordinary scan.
struct segmentation {
  std::uint64_t seed;
  std::size_t n, length, count;

  TEST_HOST_DEVICE std::size_t begin(std::size_t s) const {
    if (s == 0 || s == count) return s == 0 ? 0 : n;
    std::uint64_t bits = (seed + s) * 0x9e3779b97f4a7c15u;
    bits ^= bits >> 32;
    const std::size_t at = s * length + bits * 0xd6e8feb86659fd93u % length;
    return at < n ? at : n;
  }
  /// Where the segment of element i begins.
  TEST_HOST_DEVICE std::size_t begin_of(std::size_t i) const {
    const std::size_t s = i / length < count ? i / length : count - 1, at = begin(s);
    return at <= i ? at : begin(s - 1);
  }
};

// ---- on the device ------------------------------------------------------------------------------

struct tally {
  unsigned long long mismatches,
      first_launch; // the first launch that had one, counted from 1; 0: none
};

template <class T>
TEST_HOST_DEVICE T poison() {
  T value{};
  for (std::size_t b = 0; b < sizeof(T); ++b) reinterpret_cast<unsigned char *>(&value)[b] = 0xa5;
  return value;
}
template <class T>
TEST_HOST_DEVICE bool is_poison(const T &value) {
  for (std::size_t b = 0; b < sizeof(T); ++b)
    if (reinterpret_cast<const unsigned char *>(&value)[b] != 0xa5) return false;
  return true;
}

/// `count` elements of the input, and the poisoned output.
template <class Subject>
__global__ void fill(typename Subject::T *in, typename Subject::T *out, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    in[i] = Subject::input(i), out[i] = poison<typename Subject::T>();
}

__global__ void write_offsets(segmentation segments, std::int64_t *offsets) {
  for (std::size_t s = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; s <= segments.count;
       s += std::size_t{gridDim.x} * blockDim.x)
    offsets[s] = static_cast<std::int64_t>(segments.begin(s));
}

/// Counts results that are wrong, and the element behind them if it was written; then all is as
/// before the scan.
template <class Subject>
__global__ void check(typename Subject::T *results, std::size_t first, segmentation segments,
                      bool in_place, unsigned long long launch, tally *found) {
  using T = typename Subject::T;
  const std::size_t n = segments.n;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i <= n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const T result = results[i];
    const std::size_t begin = i < n ? segments.begin_of(i) : 0;
    const bool right = i < n      ? result == Subject::result(first + begin, i - begin)
                       : in_place ? result == Subject::input(first + i)
                                  : is_poison(result);
    if (!right) {
      atomicAdd(&found->mismatches, 1ull);
      atomicCAS(&found->first_launch, 0ull, launch + 1);
    }
    results[i] = in_place ? Subject::input(first + i) : poison<T>();
  }
}

/// Holds its multiprocessor, by taking all of the shared memory, for a while.
__global__ void occupy(unsigned nanoseconds) {
  extern __shared__ unsigned char memory[];
  for (unsigned slept = 0; slept < nanoseconds; slept += 1000) __nanosleep(1000);
  memory[threadIdx.x] = 0;
}

/// Temporary storage as it comes, so that compute-sanitizer's initcheck sees a cell that is read
/// before it is written.
struct raw_memory {
  static constexpr std::size_t bytes = std::size_t{32} << 20;
  raw_memory() { REQUIRE_CUDA(cudaMalloc(&address, bytes)); }
  raw_memory(const raw_memory &) = delete;
  raw_memory &operator=(const raw_memory &) = delete;
  ~raw_memory() { cudaFree(address); }
  void *address = nullptr;
};

// ---- launches -----------------------------------------------------------------------------------

/// Everything about launch number `number`, which it is drawn from.
struct launch {
  launch(std::uint64_t seed, std::uint64_t number_) : number(number_) {
    std::mt19937_64 random(seed + number);
    subject = random() % kinds;
    stream = static_cast<int>(random() % streams);
    constexpr path any[] = {path::fastest, path::cluster, path::wave, path::look_back,
                            path::look_ahead};
    by = any[random() % 5];
    dawdles = random() % 16 == 0;
    // Any order of magnitude; those that dawdle are short, and few are long.
    const auto bits = random() % (dawdles ? 15 : random() % 64 == 0 ? 23 : 18);
    n = (std::size_t{1} << bits) + random() % (std::size_t{1} << bits);
    if (n > largest) n = largest;
    in_shift = random() % 4 == 0 ? random() % room_behind : 0;
    out_shift = random() % 4 == 0 ? random() % room_behind : 0;
    n -= n > 16 ? 16 : 0; // room for the shifts, and for the element behind
    in_place = random() % 4 == 0;
    period = 1 + random() % 16;
    offset = random() % period;
    nanoseconds = dawdles ? 1 + random() % 2000 : 0;
    occupies = random() % 256 == 0;
    occupied_nanoseconds = 1000 + random() % 500000;
    segments = {seed + number, n, n, 1};
    if (random() % 3 == 0) { // of any length on average; a few of them leave a long last one
      segments.length = std::size_t{1} << random() % (bits + 1);
      segments.count = std::min(most_segments, n / segments.length + 1);
      if (random() % 4 == 0) segments.count = 1 + random() % segments.count;
    }
  }
  std::string description(const char *type) const {
    return "launch " + std::to_string(number) + ": " + type + ", n = " + std::to_string(n) +
           ", path " + std::to_string(static_cast<int>(by)) + ", stream " + std::to_string(stream) +
           ", shifts " + std::to_string(in_shift) + " and " + std::to_string(out_shift) +
           (in_place ? ", in place" : "") + (dawdles ? ", dawdling" : "") + ", segments " +
           std::to_string(segments.count) + " of " + std::to_string(segments.length);
  }

  std::uint64_t number;
  std::uint64_t subject;
  int stream;
  path by;
  std::size_t n, in_shift, out_shift;
  bool in_place, dawdles, occupies;
  unsigned period, offset, nanoseconds, occupied_nanoseconds;
  segmentation segments; // for the subjects that have segments
};

/// Input and output of one subject on one stream.
template <class Subject>
class memory_of {
public:
  using T = typename Subject::T;
  memory_of() : in_(largest + room_behind), out_(largest + room_behind) {
    fill<Subject><<<1024, 256>>>(in_.data(), out_.data(), in_.size());
    REQUIRE_CUDA(cudaGetLastError());
  }

  /// Scans by the path that was drawn or, where that cannot take the call, by the fastest; or the
  /// segments that were drawn; and checks. Returns whether it was segments.
  bool run(const launch &one, cudaStream_t s, void *temporary, std::size_t temporary_bytes,
           std::int64_t *offsets, tally *found) const {
    segmentation segments{0, one.n, one.n, 1};
    if constexpr (has_segments<Subject>) segments = one.segments;
    T *const in = in_.data() + one.in_shift;
    T *const out = one.in_place ? in : out_.data() + one.out_shift;
    const auto op = Subject::dawdle(one.period, one.offset, one.nanoseconds);
    const auto scan = [&](auto problem) {
      const auto by = [&](path which) {
        std::size_t bytes = temporary_bytes;
        return test::scan_by(which, temporary, bytes, problem, static_cast<std::int64_t>(one.n),
                             core::launcher(s));
      };
      const cudaError_t status = by(one.by);
      REQUIRE_CUDA(status == cudaErrorNotSupported ? by(path::fastest) : status);
    };
    const T *const input = in;
    if constexpr (has_segments<Subject>) {
      if (segments.count > 1) {
        write_offsets<<<64, 256, 0, s>>>(segments, offsets);
        REQUIRE_CUDA(cudaGetLastError());
        const std::int64_t *const begins = offsets;
        std::size_t bytes = temporary_bytes;
        REQUIRE_CUDA(lookback::DeviceSegmentedScan::InclusiveSegmentedScan(
            temporary, bytes, input, out, begins, begins + 1,
            static_cast<std::int64_t>(segments.count), op, s));
      }
    }
    if constexpr (Subject::by_key)
      scan(core::make_inclusive_by_key<T>(input, input, out, lookback::equal_to{}, op));
    else if (segments.count == 1)
      scan(core::make_problem<true, T>(input, out, op, core::no_initial{}));
    const unsigned blocks = static_cast<unsigned>(std::min<std::size_t>(one.n / 1024 + 1, 264));
    check<Subject>
        <<<blocks, 256, 0, s>>>(out, one.in_shift, segments, one.in_place, one.number, found);
    REQUIRE_CUDA(cudaGetLastError());
    return segments.count > 1;
  }

private:
  test::guarded_buffer<T> in_, out_;
};

template <class... Subjects>
struct subjects {
  static_assert(sizeof...(Subjects) == kinds, "");
  std::tuple<memory_of<Subjects>...> memory;

  template <class Use>
  void with(std::size_t which, Use use) const {
    std::size_t i = 0;
    std::apply([&](const auto &...each) { ((i++ == which ? use(each) : void()), ...); }, memory);
  }
  static const char *name(std::size_t which) {
    constexpr const char *(*names[])() = {&Subjects::name...};
    return names[which]();
  }
};
using all_subjects = subjects<integers<std::int8_t>, integers<std::int32_t>, integers<std::int64_t>,
                              floats, intervals<test::interval>, intervals<wide_interval>, runs>;

/// Whether the stream's work ends in time. Nothing else ends a kernel that hangs.
bool ends_in_time(cudaStream_t s) {
  const auto begin = clock_type::now();
  for (;;) {
    const cudaError_t status = cudaStreamQuery(s);
    if (status != cudaErrorNotReady) {
      REQUIRE_CUDA(status);
      return true;
    }
    if (clock_type::now() - begin > patience) return false;
  }
}

/// Prints the launches since the last wait, and ends the program: nothing that waits for the device
/// would return.
[[noreturn]] void exit_with_hang(std::uint64_t seed, std::uint64_t last) {
  std::printf("soak: launches %llu, hangs 1; LOOKBACK_TEST_SEED=%llu, since\n",
              static_cast<unsigned long long>(last + 1), static_cast<unsigned long long>(seed));
  for (std::uint64_t k = last / 512 * 512; k <= last; ++k) {
    const launch one(seed, k);
    std::printf("  %s\n", one.description(all_subjects::name(one.subject)).c_str());
  }
  std::fflush(stdout);
  std::_Exit(1);
}

} // namespace

TEST_CASE("soak") {
  TEST_RANDOM(random);
  (void)random;
  const char *const given = std::getenv("LOOKBACK_SOAK_LAUNCHES");
  const std::uint64_t launches = given != nullptr ? std::strtoull(given, nullptr, 0) : 2000,
                      seed = test::run_seed();
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const int shared = static_cast<int>(device.sharedMemPerBlockOptin);
  REQUIRE_CUDA(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));

  struct lane {
    test::stream stream;
    all_subjects data;
    raw_memory temporary;
    test::guarded_buffer<std::int64_t> offsets{most_segments + 1};
  };
  std::vector<std::unique_ptr<lane>> lanes;
  for (int i = 0; i < streams; ++i) lanes.push_back(std::make_unique<lane>());
  const test::stream competitor;
  const test::guarded_buffer<tally> found(std::vector<tally>{{0, 0}});
  REQUIRE_CUDA(cudaDeviceSynchronize());

  const auto begin = clock_type::now();
  std::uint64_t done = 0, occupations = 0, segmentations = 0;
  for (; done < launches; ++done) {
    const launch one(seed, done);
    const lane &on = *lanes[one.stream];
    if (one.occupies) {
      const int multiprocessors = device.multiProcessorCount - 1 - static_cast<int>(one.offset % 8);
      occupy<<<multiprocessors, 32, shared, competitor>>>(one.occupied_nanoseconds);
      REQUIRE_CUDA(cudaGetLastError());
      ++occupations;
    }
    INFO(one.description(all_subjects::name(one.subject)));
    on.data.with(one.subject, [&](const auto &memory) {
      segmentations += memory.run(one, on.stream, on.temporary.address, raw_memory::bytes,
                                  on.offsets.data(), found.data());
    });
    if (done % 512 != 511 && done + 1 != launches) continue;
    for (const auto &each : lanes)
      if (!ends_in_time(each->stream)) exit_with_hang(seed, done);
  }
  const tally result = found.download()[0];
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  std::printf("soak: launches %llu, hangs 0, mismatches %llu, segmentations %llu, beside %llu "
              "kernels that held most of the GPU, %.0f s\n",
              static_cast<unsigned long long>(done), result.mismatches,
              static_cast<unsigned long long>(segmentations),
              static_cast<unsigned long long>(occupations), seconds);
  if (result.first_launch != 0) {
    const launch bad(seed, result.first_launch - 1);
    FAIL_CHECK(bad.description(all_subjects::name(bad.subject)));
  }
  CHECK_EQ(result.mismatches, 0);
}
