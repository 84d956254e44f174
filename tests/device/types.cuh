// SPDX-License-Identifier: MIT
// One element type through the general path: every edge of its tree, shifted in and out against
// each other.
#pragma once

#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

namespace test {

/// The largest length is a few groups, but no more than 8 MiB of elements.
template <class T>
std::size_t largest_of_type() {
  return std::min(2 * tree_sizes(sizeof(T), sizeof(T)).group + 1,
                  (std::size_t{8} << 20) / sizeof(T));
}

/// Poison for a type that may be overwritten without being there; an object, worthless, for one
/// that may not.
template <class T>
void prepare_output(guarded_buffer<T> &out) {
  out.poison();
  if constexpr (!std::is_trivially_copyable<T>::value)
    out.upload(std::vector<T>(out.size(), T(0xdead)));
}

template <class T>
void check_type(const char *name) {
  TEST_RANDOM(random);
  const compose op{};
  for (std::size_t n :
       to_try(edge_sizes(sizeof(T), sizeof(T), largest_of_type<T>(), random), random)) {
    const std::size_t shift_in = random() % 17, shift_out = random() % 17;
    INFO(doctest::String(name), ", n = ", n, ", shifted in by ", shift_in, ", out by ", shift_out);
    const std::vector<T> in = random_values<T>(n, random);
    const T init = random_value<T>::make(random);
    const guarded_buffer<T> device_in(in, shift_in);
    guarded_buffer<T> out(n, shift_out);

    prepare_output(out);
    two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return lookback::DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out.data(),
                                                     op, n);
        },
        random() % 256);
    CHECK_EQ(first_difference(out.download(), serial_inclusive(in, op)), nowhere);
    CHECK(out.guards_intact());

    prepare_output(out);
    two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return lookback::DeviceScan::ExclusiveScan(temporary, bytes, device_in.data(), out.data(),
                                                     op, init, n);
        },
        random() % 256);
    CHECK_EQ(first_difference(out.download(), serial_exclusive(in, op, init)), nowhere);
    CHECK(out.guards_intact());
    CHECK_EQ(first_difference(device_in.download(), in), nowhere);
    CHECK(device_in.guards_intact());
  }
}

} // namespace test
