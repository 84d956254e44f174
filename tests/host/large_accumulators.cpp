// SPDX-License-Identifier: MIT
// Accumulators much larger than the elements, on a thread whose stack has 256 KB. A stack overflow
// ends the program.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>

#include <pthread.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <vector>

namespace {

using byte = std::uint8_t;
using bytes = std::vector<byte>;

/// An affine map of a byte, first and last in `Bytes` bytes. Not valid, and never again, if one of
/// them is lost.
template <std::size_t Bytes>
struct padded {
  padded(byte map) : first(map), last(map) {}
  operator byte() const { return first == last ? first : 0; }
  byte first, between[Bytes - 2], last;
};
/// The same with a copy of its own.
struct copied : padded<4096> {
  copied(byte map) : padded(map) {}
  copied(const copied &other) : padded(static_cast<byte>(other)) {}
};
struct compose_padded {
  template <class T>
  T operator()(const T &f, const T &g) const {
    return T(test::compose_packed(static_cast<byte>(f), static_cast<byte>(g)));
  }
  template <class T>
  T operator()(const T &f, byte g) const {
    return T(test::compose_packed(static_cast<byte>(f), g));
  }
};

/// Calls `work` on a thread with a stack of 256 KB. Throws what it threw.
void on_a_small_stack(std::function<void()> work) {
  struct call {
    std::function<void()> work;
    std::exception_ptr thrown;
  } one{std::move(work), nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE_EQ(pthread_attr_init(&attributes), 0);
  REQUIRE_EQ(pthread_attr_setstacksize(&attributes, std::size_t{256} << 10), 0);
  const auto enter = [](void *argument) -> void * {
    call &one = *static_cast<call *>(argument);
    try {
      one.work();
    } catch (...) {
      one.thrown = std::current_exception();
    }
    return nullptr;
  };
  REQUIRE_EQ(pthread_create(&thread, &attributes, enter, &one), 0);
  REQUIRE_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  if (one.thrown != nullptr) std::rethrow_exception(one.thrown);
}

byte compose_bytes(byte f, byte g) { return test::compose_packed(f, g); }

/// Scans of bytes from an initial value of type T, in which they then accumulate.
template <class T>
void check(const char *name) {
  TEST_RANDOM(random);
  const T init(3);
  const compose_padded op{};
  const std::equal_to<byte> equal{};
  // A vector, a row, a tile in part, the edge of one, some tiles.
  for (const std::size_t n : {std::size_t{1}, std::size_t{16}, std::size_t{40}, std::size_t{513},
                              std::size_t{1000}, std::size_t{16385}, 35000 + random() % 1000}) {
    INFO(doctest::String(name), ", n = ", n);
    const auto in = test::random_values<byte>(n, random), keys = test::random_keys<byte>(n, random);
    const std::deque<byte> computed(in.begin(), in.end());
    const auto exclusive = test::serial_exclusive<byte>(in, compose_bytes, 3);
    bytes out(n);
    std::deque<byte> deque_out(n);

    on_a_small_stack([&] {
      thrust::exclusive_scan(lookback::host, in.data(), in.data() + n, out.data(), init, op);
    });
    CHECK_EQ(test::first_difference(out, exclusive), test::nowhere);
    on_a_small_stack([&] {
      thrust::inclusive_scan(lookback::host, in.data(), in.data() + n, out.data(), init, op);
    });
    CHECK_EQ(test::first_difference(out, test::serial_inclusive<byte>(in, compose_bytes, 3)),
             test::nowhere);
    on_a_small_stack([&] {
      thrust::exclusive_scan(lookback::host, computed.begin(), computed.end(), deque_out.begin(),
                             init, op);
    });
    CHECK_EQ(test::first_difference({deque_out.begin(), deque_out.end()}, exclusive),
             test::nowhere);
    on_a_small_stack([&] {
      thrust::exclusive_scan_by_key(lookback::host, keys.data(), keys.data() + n, in.data(),
                                    out.data(), init, equal, op);
    });
    CHECK_EQ(test::first_difference(
                 out, test::serial_exclusive_by_key<byte>(keys, in, equal, compose_bytes, 3)),
             test::nowhere);
  }
}

} // namespace

TEST_CASE("lookback::host: accumulators of 64 to 4,096 bytes over bytes, on a small stack") {
  check<padded<64>>("64 bytes");
  check<padded<256>>("256 bytes");
  check<padded<512>>("512 bytes");
  check<padded<4096>>("4 KB");
  check<copied>("objects of 4 KB");
}

TEST_CASE("lookback::host: accumulators of 4,096 bytes over bytes, on several threads") {
  TEST_RANDOM(random);
  const std::size_t n = 40000 + random() % 20000;
  const auto in = test::random_values<byte>(n, random);
  bytes out(n);
  using T = padded<4096>;
  const auto problem = lookback::detail::make_problem<false, T>(
      in.data(), out.data(), compose_padded{}, lookback::detail::initial_value<T>{T(3)});
  using scan = lookback::detail::threaded_scan<std::decay_t<decltype(problem)>>;
  on_a_small_stack([&] { scan(problem.over({n})).run(3); });
  CHECK_EQ(test::first_difference(out, test::serial_exclusive<byte>(in, compose_bytes, 3)),
           test::nowhere);
}
