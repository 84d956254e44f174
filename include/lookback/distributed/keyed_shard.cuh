// SPDX-License-Identifier: MIT
// The elements of a shard, or of a part of one, with keys. Whether a segment starts with the first
// of them depends on the key before it, which another rank may have.
#pragma once

#include <lookback/core/segments.cuh>

#include <cstddef>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The elements of `Keyed`, a keyed_input. Whether element 0 starts a segment is given.
template <class Keyed>
class keyed_shard : public Keyed {
public:
  using typename Keyed::difference_type;
  using typename Keyed::value_type;
  keyed_shard(const Keyed &elements, bool first_is_head)
      : keyed_shard(elements, first_is_head, 0) {}

  keyed_shard operator+(difference_type distance) const {
    return {Keyed::operator+(distance), first_is_head_, position_ + distance};
  }
  value_type operator[](difference_type distance) const {
    const auto memory = this->fetch(distance);
    return position_ + distance == 0 ? this->element(memory.value, first_is_head_)
                                     : this->finish(memory, distance);
  }

private:
  keyed_shard(const Keyed &elements, bool first_is_head, difference_type position)
      : Keyed(elements), first_is_head_(first_is_head), position_(position) {}
  bool first_is_head_;
  difference_type position_;
};

template <class Keyed>
struct boundary_of<keyed_shard<Keyed>> : boundary_of<Keyed> {};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
