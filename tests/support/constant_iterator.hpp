// SPDX-License-Identifier: MIT
// The same value everywhere. (thrust::constant_iterator is deprecated from CCCL 3.5 on, and 3.0 has
// no other.)
#pragma once

#include <support/host_device.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>

namespace test {

template <class T>
struct always {
  T value;
  TEST_HOST_DEVICE T operator()(std::int64_t) const { return value; }
};

/// An iterator whose every element is `value`.
template <class T>
auto constant_iterator(T value) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                         always<T>{value});
}

} // namespace test
