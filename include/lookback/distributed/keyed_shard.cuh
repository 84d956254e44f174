// SPDX-License-Identifier: MIT
// The elements of a shard, or of a part of one, with keys. Whether a segment starts with the first
// of them depends on the key before it, which another rank may have.
#pragma once

#include <lookback/core/segments.cuh>

#include <cstddef>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether a segment starts with element 0: known on the host.
struct known_head {
  bool is_head;
  template <class Keyed, class Key>
  bool operator()(const Keyed &, const Key &) const {
    return is_head;
  }
};
/// The same, by the key before element 0, which only the device knows; null if there is none.
template <class Key>
struct head_after_key {
  const Key *before;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Keyed>
  LOOKBACK_HOST_DEVICE bool operator()(const Keyed &elements, const Key &own) const {
    return before == nullptr || elements.is_head(*before, own);
  }
};

/// The elements of `Keyed`, a keyed_input. `First` tells whether element 0 starts a segment.
template <class Keyed, class First>
class keyed_shard : public Keyed {
public:
  using typename Keyed::difference_type;
  using typename Keyed::fetched;
  using typename Keyed::key;
  using typename Keyed::value_type;
  LOOKBACK_NO_EXECUTION_CHECK
  keyed_shard(const Keyed &elements, const First &first) : keyed_shard(elements, first, 0) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed_shard operator+(difference_type distance) const {
    return {Keyed::operator+(distance), first_, position_ + distance};
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE value_type finish(const fetched &memory, difference_type distance) const {
    if (position_ + distance != 0) return Keyed::finish(memory, distance);
    return this->element(memory.value, first_is_head(memory.own)); // mutant: shard-element
  }
  LOOKBACK_HOST_DEVICE value_type operator[](difference_type distance) const {
    return finish(this->fetch(distance), distance);
  }
  /// Whether a segment starts with element 0, whose key is `own`.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE bool first_is_head(const key &own) const { return first_(*this, own); }

private:
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed_shard(const Keyed &elements, const First &first,
                                   difference_type position)
      : Keyed(elements), first_(first), position_(position) {}
  First first_;
  difference_type position_;
};

template <class Keyed, class First>
struct boundary_of<keyed_shard<Keyed, First>> : boundary_of<Keyed> {};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
