// SPDX-License-Identifier: MIT
// The only macros of lookback: how a function is marked for the compiler at hand.
#pragma once

/// A function of the host whose code its callers need where they are; and one that they are better off without.
#if defined(_MSC_VER) && !defined(__clang__)
#define LOOKBACK_HOST_INLINE __forceinline
#define LOOKBACK_HOST_NOINLINE __declspec(noinline)
#else
#define LOOKBACK_HOST_INLINE inline __attribute__((always_inline))
#define LOOKBACK_HOST_NOINLINE __attribute__((noinline))
#endif

#if defined(__CUDACC__)
/// A function for both processors.
#define LOOKBACK_HOST_DEVICE __host__ __device__
/// A function of a kernel. Inlined always: a look-back that calls through a frame spills its registers.
#define LOOKBACK_DEVICE __device__ __forceinline__
/// The same for a function that the host calls too.
#define LOOKBACK_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
/// The entry of a kernel; threads a block, and blocks that a multiprocessor must have room for: the budget of registers.
#define LOOKBACK_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
/// A kernel parameter that stays in constant memory and is never copied to the stack.
#define LOOKBACK_KERNEL_PARAMETER const __grid_constant__
/// Put before a template that calls a user's operator: the operator decides where it can run, not we.
#define LOOKBACK_NO_EXECUTION_CHECK _Pragma("nv_exec_check_disable")
#else
#define LOOKBACK_HOST_DEVICE
#define LOOKBACK_DEVICE inline
#define LOOKBACK_HOST_DEVICE_INLINE inline
#define LOOKBACK_KERNEL(threads, blocks) void
#define LOOKBACK_KERNEL_PARAMETER const
#define LOOKBACK_NO_EXECUTION_CHECK
#endif

/// Whether this is nvcc's pass for device code, which also reads what the host calls.
#if defined(__CUDA_ARCH__)
#define LOOKBACK_IN_DEVICE_CODE 1
#else
#define LOOKBACK_IN_DEVICE_CODE 0
#endif
/// A constant of namespace scope for the host and for kernels.
#if LOOKBACK_IN_DEVICE_CODE
#define LOOKBACK_GLOBAL_CONSTANT __device__ constexpr
#else
#define LOOKBACK_GLOBAL_CONSTANT inline constexpr
#endif

/// The inline namespace of what depends on the default stream at the Thrust door. nvcc's option
/// --default-stream chooses that stream for one translation unit. Units that differ in it must have
/// functions and types of their own: of two that share a name, the linker keeps one. (The CUB door
/// passes stream 0 on, as CUB does, and whose stream that is the linker decides.)
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define LOOKBACK_DEFAULT_STREAM per_thread_default_stream
#else
#define LOOKBACK_DEFAULT_STREAM legacy_default_stream
#endif

/// A loop that must be unrolled in a kernel, since it indexes registers; and one that must not be: a few iterations that few calls
/// need, which the compiler would write out four times wherever they stand.
#if defined(__CUDA_ARCH__)
#define LOOKBACK_UNROLL _Pragma("unroll")
#define LOOKBACK_ROLLED _Pragma("unroll 1")
#else
#define LOOKBACK_UNROLL
#define LOOKBACK_ROLLED
#endif

/// What is so in the case that is measured: its code comes next, without a jump to where nothing has been fetched yet.
#if defined(__GNUC__)
#define LOOKBACK_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), true)
#else
#define LOOKBACK_LIKELY(condition) static_cast<bool>(condition)
#endif

/// Put before a loop whose iterations touch different elements, so that g++ need not look whether the output overlaps the
/// input: it does where both are the same.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define LOOKBACK_INDEPENDENT _Pragma("GCC ivdep")
/// A loop over the lanes of a row, on the host.
#define LOOKBACK_HOST_UNROLL _Pragma("GCC unroll 32")
#else
#define LOOKBACK_INDEPENDENT
#define LOOKBACK_HOST_UNROLL
#endif

/// A function compiled for AVX in a program that is not, to be called where the CPU has it; defined where compilers can.
#if defined(__x86_64__) && defined(__SSE2__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define LOOKBACK_AVX __attribute__((target("avx")))
#endif
#endif

/// Whether the host does not know what a function object of type T returns: an extended
/// `__device__` lambda without a trailing return type.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
#define LOOKBACK_HIDES_RETURN_TYPE(T)                                                              \
  (__nv_is_extended_device_lambda_closure_type(T) &&                                               \
   !__nv_is_extended_device_lambda_with_preserved_return_type(T))
#else
#define LOOKBACK_HIDES_RETURN_TYPE(T) false
#endif

/// Whether this compilation pass may use what came with sm_90. (The host pass of nvcc parses everything.)
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define LOOKBACK_TARGETS_SM_90 1
#else
#define LOOKBACK_TARGETS_SM_90 0
#endif

/// Whether kernels bound their waits, so that a lock-up is reported: with LOOKBACK_DEBUG defined, or in device code built for
/// debugging (nvcc -G). Off otherwise, with or without NDEBUG: it costs up to 7 % of a scan's time.
#if defined(LOOKBACK_DEBUG) || defined(__CUDACC_DEBUG__)
#define LOOKBACK_BOUNDS_SPINS 1
#else
#define LOOKBACK_BOUNDS_SPINS 0
#endif

// Thrust's device system is CUDA unless told otherwise, and then its headers need those of the CUDA runtime.
#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM) && !__has_include(<cuda_runtime_api.h>)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
