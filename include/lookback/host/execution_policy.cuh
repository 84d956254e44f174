// SPDX-License-Identifier: MIT
// The CPU policy. Compiles without a CUDA compiler and without the CUDA toolkit's headers, given CCCL's.
#pragma once

#include <thrust/detail/config.h>
// The policy's base class. An algorithm's own header brings its code for Thrust's host system; only
// where that is not the C++ system do all of the C++ system's algorithms come along, 10,000 lines.
#if THRUST_HOST_SYSTEM == THRUST_HOST_SYSTEM_CPP
#include <thrust/system/cpp/detail/execution_policy.h>
#else
#include <thrust/system/cpp/execution_policy.h>
#endif

#include <cstdint>
#include <type_traits>

namespace lookback {

/// Base of lookback's CPU policies. It derives from Thrust's C++ system, so every algorithm that is not a scan runs
/// there; for the scans lookback's overloads name the policy exactly, and win.
template <class Derived>
struct host_execution_policy : thrust::cpp::execution_policy<Derived> {};

/// The type of lookback::host.
struct host_t : host_execution_policy<host_t> {};

/// Scans by lookback on the threads of the CPU, everything else by Thrust's C++ system. A call
/// returns when its results are there. From 4 MB on it starts threads, one for 2 MB and at most as
/// many as the process has cores, and operators and iterators are called on all of them, each with
/// a copy of the operator. The first exception that one of them throws is rethrown to the caller,
/// when all threads have ended; the results are then written in part. Results behind a proxy that
/// may stand for a bit of a word, that of std::vector<bool> or one that is not known
/// (host/separate_results.cuh), are computed by the calling thread alone. The bits are those of
/// the GPU (core/tree.cuh), whatever the number of threads.
inline const host_t host{};

namespace detail {

template <class Policy>
using is_host_policy = std::is_base_of<host_execution_policy<Policy>, Policy>;

} // namespace detail
} // namespace lookback
