// SPDX-License-Identifier: MIT
// The CPU policy. Needs CCCL's headers, but neither a CUDA compiler nor the CUDA toolkit's headers.
#pragma once

#include <lookback/core/config.cuh>

#include <thrust/detail/config.h>
// The policy's base class. The header of an algorithm includes its code for Thrust's host system.
// Only if that is not the C++ system are all algorithms of the C++ system included here: 10,000
// lines.
#if THRUST_HOST_SYSTEM == THRUST_HOST_SYSTEM_CPP
#include <thrust/system/cpp/detail/execution_policy.h>
#else
#include <thrust/system/cpp/execution_policy.h>
#endif

#include <cstdint>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Base of lookback's CPU policies; a program may derive its own policies from it.
///
/// It derives from Thrust's C++ system, so every algorithm that is neither a scan nor a selection
/// runs there. For these, lookback's overloads are a better match than Thrust's.
/// @ingroup host
template <class Derived>
struct host_execution_policy : thrust::cpp::execution_policy<Derived> {};

/// The type of lookback::host.
/// @ingroup host
struct host_t : host_execution_policy<host_t> {};

/// Thrust policy: scans and selections run on lookback on the threads of the CPU, every other
/// algorithm on Thrust's C++ system.
///
/// @code
/// thrust::inclusive_scan(lookback::host, values.begin(), values.end(), sums.begin());
/// @endcode
///
/// The calls are @ref thrust_scans and @ref thrust_selections. No CUDA compiler is needed. A call
/// returns when its results are written.
///
/// - *Threads*: from 4 MB on, one thread for each 2 MB, at most one a core. All threads use the
///   iterators, and each calls a copy of the operator. The calling thread alone computes results
///   that are written through a proxy that may be a bit of a word: that of `std::vector<bool>`, and
///   every proxy of a type that lookback does not know.
/// - *Errors*: the first exception of an iterator or operator is rethrown after all threads have
///   ended; the results are then partly written.
/// - *Determinism*: the bits of the GPU (lookback::tree_shape), for any number of threads.
/// @ingroup host
inline const host_t host{};

namespace detail {

template <class Policy>
using is_host_policy = std::is_base_of<host_execution_policy<Policy>, Policy>;
/// Selects functions that have no other policies.
template <class Policy>
using if_on_host = std::enable_if_t<is_host_policy<Policy>::value, int>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
