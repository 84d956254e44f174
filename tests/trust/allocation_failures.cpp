// SPDX-License-Identifier: MIT
// lookback::host with a heap that fails at the k-th allocation, for every k: std::bad_alloc,
// nothing leaked, and the next call is right.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/copy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/unique.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <string>

namespace {

constexpr long never = std::numeric_limits<long>::max();
std::atomic<long> allocations_before_failure{never}, live{0}, failures{0};

void *allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_before_failure.load() != never && allocations_before_failure.fetch_sub(1) <= 0) {
    ++failures;
    throw std::bad_alloc();
  }
  void *const memory =
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}
void deallocate(void *memory) {
  if (memory != nullptr) --live;
  std::free(memory);
}

} // namespace

void *operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void *operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void *operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void *operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void *memory) noexcept { deallocate(memory); }
void operator delete[](void *memory) noexcept { deallocate(memory); }
void operator delete(void *memory, std::size_t) noexcept { deallocate(memory); }
void operator delete[](void *memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }

namespace {

struct first_of_two {
  template <class T>
  T operator()(const T &a, const T &) const {
    return a;
  }
};

/// Calls `scan` until no allocation of it fails, with the k-th failing in turn. `expected` is what
/// it writes to `out`.
template <class T, class Scan>
void at_every_allocation(const char *name, std::vector<T> &out, const std::vector<T> &expected,
                         Scan scan) {
  INFO(doctest::String(name), ", n = ", expected.size());
  long most = -1, leaked = 0;
  for (long k = 0; most < 0; ++k) {
    const long live_before = live, failures_before = failures;
    bool thrown = false;
    allocations_before_failure = k;
    try {
      scan();
    } catch (const std::bad_alloc &) {
      thrown = true;
    }
    allocations_before_failure = never;
    const bool failed = failures != failures_before;
    leaked += live - live_before;
    CHECK_EQ(leaked, 0);
    CHECK_EQ(thrown, failed);
    if (!failed) most = k;
    REQUIRE_LT(k, 1000);
  }
  CHECK_EQ(test::first_difference(out, expected), test::nowhere);
  std::printf("host allocation failures: %s, n = %zu: %ld injected, %ld leaked\n", name,
              expected.size(), most, leaked);
}

template <class T, class Operator>
void at_every_size(const char *name, Operator op) {
  TEST_RANDOM(random);
  const std::size_t tile = 16384 / sizeof(T);
  // A row, a tile, tiles on one thread, more than a group of them on several.
  for (const std::size_t n :
       {std::size_t{40}, tile - 1, 5 * tile, (std::size_t{4} << 20) / sizeof(T)}) {
    const auto in = test::random_values<T>(n, random);
    const auto keys = test::random_keys<std::uint32_t>(n, random);
    std::vector<T> out(in);
    at_every_allocation(name, out, test::serial_inclusive(in, op), [&] {
      thrust::inclusive_scan(lookback::host, in.data(), in.data() + n, out.data(), op);
    });
    at_every_allocation(
        name, out, test::serial_inclusive_by_key(keys, in, std::equal_to<std::uint32_t>{}, op),
        [&] {
          thrust::inclusive_scan_by_key(lookback::host, keys.data(), keys.data() + n, in.data(),
                                        out.data(), std::equal_to<std::uint32_t>{}, op);
        });
  }
}

/// Selections with as many results as items. If `T` owns memory, `a` and `b` own equally much.
template <class T>
void selections(const char *name, std::size_t n, const T &a, const T &b) {
  std::vector<T> in, out(n, a), parted;
  for (std::size_t i = 0; i < n; ++i) in.push_back(i % 3 == 0 ? a : b);
  const auto is_a = [&](const T &x) { return x == a; };
  std::copy_if(in.begin(), in.end(), std::back_inserter(parted), is_a);
  std::remove_copy_if(in.begin(), in.end(), std::back_inserter(parted), is_a);
  at_every_allocation(name, out, in, [&] {
    thrust::copy_if(lookback::host, in.data(), in.data() + n, out.data(),
                    [](const T &) { return true; });
  });
  at_every_allocation(name, out, parted, [&] {
    std::copy(in.begin(), in.end(), out.begin());
    thrust::partition(lookback::host, out.data(), out.data() + n, is_a);
  });
  at_every_allocation(name, out, in, [&] {
    thrust::unique_copy(lookback::host, in.data(), in.data() + n, out.data(),
                        [](const T &, const T &) { return false; });
  });
  std::vector<T> heads(n, a);
  at_every_allocation(name, out, in, [&] {
    thrust::reduce_by_key(
        lookback::host, in.data(), in.data() + n, in.data(), heads.data(), out.data(),
        [](const T &, const T &) { return false; }, first_of_two{});
  });
}

} // namespace

TEST_CASE("selections by lookback::host: an allocation that fails, each in turn") {
  for (const std::size_t n : {1, 5000, 700000}) selections<std::uint64_t>("words", n, 1, 2);
  for (const std::size_t n : {1, 30})
    selections<std::string>("strings", n, "a string of another allocation",
                            "a string of its own allocation");
}

TEST_CASE("lookback::host: an allocation that fails, each in turn") {
  at_every_size<std::uint32_t>("words", test::compose_words{});
  at_every_size<test::self_copied>("objects", test::compose{});
  at_every_size<test::sized<1024>>("values whose tiles are on the heap", test::compose{});
}
