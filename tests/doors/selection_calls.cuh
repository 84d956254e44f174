// SPDX-License-Identifier: MIT
// Selections of Thrust by every policy: the results are those of lookback::host, bit for bit, and
// what is not a result stays as it was.
#pragma once

#include <lookback/execution_policy.cuh>

#include <support/policies.cuh>
#include <support/random.hpp>

#include <cstdint>
#include <cstring>

namespace test {

using word = std::uint32_t;

/// What a call may use, in device memory or on the host. `kept`, `rejected` and `sums` are outputs;
/// the calls in place write to `x` and `values`, too.
struct selection_arrays {
  word *x, *stencil;
  float *values;
  word *kept, *rejected;
  float *sums;
  std::ptrdiff_t n;
  __host__ __device__ word *end() const { return x + n; }
};
/// How many results a call has written, to one output or two.
struct counts {
  std::ptrdiff_t first, second = 0;
};
inline bool operator==(counts a, counts b) { return a.first == b.first && a.second == b.second; }

/// About half of all numbers.
struct is_marked {
  __host__ __device__ bool operator()(word x) const { return (x * 0x9E3779B1u >> 31) != 0; }
};
struct same_quotient {
  __host__ __device__ bool operator()(word a, word b) const { return a / 4 == b / 4; }
};

/// The same arrays on the host.
struct host_arrays {
  std::vector<word> x, stencil, kept, rejected;
  std::vector<float> values, sums;

  template <class Random>
  host_arrays(std::size_t n, Random &random) : kept(n, 7), rejected(n, 8), sums(n, 9.0f) {
    std::uniform_real_distribution<float> any(-1, 1);
    for (std::size_t left = 0, i = 0; i < n; ++i, --left) {
      if (left == 0) left = 1 + random() % (random() % 50 == 0 ? 3000 : 6);
      const bool begins = i == 0 || left == 1;
      x.push_back(begins ? static_cast<word>(random() % 1000) : x.back());
      stencil.push_back(static_cast<word>(random()));
      values.push_back(any(random));
    }
  }
  selection_arrays pointers() {
    return {x.data(),
            stencil.data(),
            values.data(),
            kept.data(),
            rejected.data(),
            sums.data(),
            static_cast<std::ptrdiff_t>(x.size())};
  }
};
struct device_arrays {
  guarded_buffer<word> x, stencil, kept, rejected;
  guarded_buffer<float> values, sums;

  explicit device_arrays(const host_arrays &from)
      : x(from.x), stencil(from.stencil), kept(from.kept), rejected(from.rejected),
        values(from.values), sums(from.sums) {}
  selection_arrays pointers() const {
    return {x.data(),
            stencil.data(),
            values.data(),
            kept.data(),
            rejected.data(),
            sums.data(),
            static_cast<std::ptrdiff_t>(x.size())};
  }
  void check(const host_arrays &expected) const {
    CHECK_EQ(first_difference(x.download(), expected.x), nowhere);
    CHECK_EQ(first_difference(stencil.download(), expected.stencil), nowhere);
    CHECK_EQ(first_difference(values.download(), expected.values), nowhere);
    CHECK_EQ(first_difference(kept.download(), expected.kept), nowhere);
    CHECK_EQ(first_difference(rejected.download(), expected.rejected), nowhere);
    CHECK_EQ(first_difference(sums.download(), expected.sums), nowhere);
    for (const auto *words : {&x, &stencil, &kept, &rejected}) CHECK(words->guards_intact());
    for (const auto *floats : {&values, &sums}) CHECK(floats->guards_intact());
  }
};

/// `call(policy, arrays)` with every policy, over lengths at which every strategy has its turn.
template <class Call>
void check_selection_call(const char *name, Call call) {
  TEST_RANDOM(random);
  for (const std::size_t n :
       to_try({0, 1, 2 + random() % 5000, 60000 + random() % 100000, 3000000 + random() % 1000000},
              random)) {
    INFO("call ", name, ", n = ", n);
    const host_arrays given(n, random);
    host_arrays expected = given;
    const counts wanted = call(lookback::host, expected.pointers());
    const auto check = [&](const char *policy_name, const auto &policy, cudaStream_t stream,
                           bool synchronises, arena_allocator *allocator) {
      INFO("policy ", policy_name);
      const device_arrays on_device(given);
      const int allocations = allocator != nullptr ? allocator->allocations() : 0;
      CHECK(call(policy, on_device.pointers()) == wanted);
      if (synchronises) CHECK_EQ(cudaStreamQuery(stream), cudaSuccess);
      if (allocator != nullptr) CHECK_EQ(allocator->allocations(), allocations + 1);
      on_device.check(expected);
    };
    if (n > 5000 && n < 1000000) {
      for_each_policy(check);
      check("par.with(look_ahead)", lookback::par.with(lookback::look_ahead{}), default_stream(),
            true, nullptr);
    } else {
      check("par", lookback::par, default_stream(), true, nullptr);
    }
  }
}

} // namespace test
