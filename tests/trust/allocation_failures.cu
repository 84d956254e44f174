// SPDX-License-Identifier: MIT
// Memory that is refused, at every allocation of every kind of call: the error at the door, nothing
// launched that waits for memory it has not got, nothing leaked, and the stream usable afterwards.
// (A pool without room: tests/doors/bad_input.cu.)
#include <lookback/lookback.cuh>

#include <support/allocator.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

#include <cstdio>
#include <exception>

namespace {

using word = std::uint32_t;
constexpr std::size_t many = std::size_t{1} << 20; // elements, enough for a workspace

/// Bytes of device memory in use by this process, once the device is idle and the doors have given
/// back what they keep.
std::size_t memory_in_use() {
  std::size_t available = 0, total = 0;
  REQUIRE_CUDA(lookback::release_workspace());
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
  return total - available;
}

/// Input, output and expected results of the calls below.
struct scans {
  template <class Random>
  explicit scans(Random &random)
      : in(test::random_values<word>(many, random)), keys(test::random_keys<word>(many, random)),
        device_in(in), device_keys(keys), out(many) {}

  /// `visit(name, expected, call)` with `call(policy)`.
  template <class Visit>
  void each(Visit visit) {
    const test::compose_words op{};
    const test::triple_plus_one<word> f{};
    const lookback::equal_to equal{}; // for device code, unlike std::equal_to
    const word *const x = device_in.data(), *const k = device_keys.data();
    word *const y = out.data();
    visit("inclusive", test::serial_inclusive(in, op),
          [=](const auto &policy) { thrust::inclusive_scan(policy, x, x + many, y, op); });
    visit("exclusive", test::serial_exclusive(in, op, word{3}),
          [=](const auto &policy) { thrust::exclusive_scan(policy, x, x + many, y, word{3}, op); });
    visit("transform", test::serial_inclusive(test::transformed<word>(in, f), op),
          [=](const auto &policy) {
            thrust::transform_inclusive_scan(policy, x, x + many, y, f, op);
          });
    visit("by key", test::serial_inclusive_by_key(keys, in, equal, op), [=](const auto &policy) {
      thrust::inclusive_scan_by_key(policy, k, k + many, x, y, equal, op);
    });
  }

  std::vector<word> in, keys;
  test::guarded_buffer<word> device_in, device_keys, out;
};

} // namespace

TEST_CASE("every call, every allocation refused in turn, by an exception and by a null pointer") {
  TEST_RANDOM(random);
  test::stream s;
  test::arena_allocator arena;
  scans all(random);
  int refused = 0;
  // A kernel's code is loaded at its first launch, and stays.
  all.each([&](const char *, const auto &, auto call) { call(lookback::par(arena).on(s)); });
  const std::size_t in_use = memory_in_use();
  for (const auto how :
       {test::arena_allocator::failure::throws, test::arena_allocator::failure::returns_null})
    all.each([&](const char *name, const std::vector<word> &expected, auto call) {
      const auto at_each_allocation = [&](const auto &policy) {
        for (int k = 0;; ++k) {
          INFO(std::string(name), ", allocation ", k,
               how == test::arena_allocator::failure::throws ? " throws" : " returns null");
          REQUIRE_LT(k, 100);
          arena.fail_from(k, how);
          const int before = arena.failures();
          bool thrown = false;
          try {
            call(policy);
          } catch (const std::exception &) {
            thrown = true;
          }
          CHECK_EQ(thrown, arena.failures() > before);
          CHECK_EQ(arena.outstanding(), 0u);
          arena.never_fail();
          // The next call on the same stream, with the same policy.
          all.out.poison();
          call(policy);
          REQUIRE_CUDA(cudaStreamSynchronize(s));
          CHECK_EQ(test::first_difference(all.out.download(), expected), test::nowhere);
          CHECK_CUDA(cudaGetLastError());
          if (!thrown) return;
          ++refused;
        }
      };
      at_each_allocation(lookback::par(arena).on(s));
      at_each_allocation(lookback::par_nosync(arena).on(s));
    });
  CHECK_GE(refused, 16);
  const std::size_t now_in_use = memory_in_use();
  CHECK_LE(now_in_use, in_use);
  std::printf("allocation failures: %d injected, %zu bytes leaked\n", refused,
              now_in_use > in_use ? now_in_use - in_use : 0);
}
