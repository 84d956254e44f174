// SPDX-License-Identifier: MIT
// All macros of lookback: compiler attributes, pragmas, and properties of the compilation.
#pragma once

/// Always-inline and never-inline, for host functions; always-inline after a lambda's parameters.
#if defined(_MSC_VER) && !defined(__clang__)
#define LOOKBACK_HOST_INLINE __forceinline
#define LOOKBACK_HOST_NOINLINE __declspec(noinline)
#define LOOKBACK_INLINE_LAMBDA
#else
#define LOOKBACK_HOST_INLINE inline __attribute__((always_inline))
#define LOOKBACK_HOST_NOINLINE __attribute__((noinline))
#define LOOKBACK_INLINE_LAMBDA __attribute__((always_inline))
#endif

#if defined(__CUDACC__)
/// A function for host and device.
#define LOOKBACK_HOST_DEVICE __host__ __device__
/// A device function. Always inlined: a look-back with a call frame spills its registers.
#define LOOKBACK_DEVICE __device__ __forceinline__
/// The same for host and device.
#define LOOKBACK_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
/// A kernel. The threads of a block and the blocks that a multiprocessor must hold at once
/// determine its register budget.
#define LOOKBACK_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
/// A kernel parameter that stays in constant memory and is never copied to the stack.
#define LOOKBACK_KERNEL_PARAMETER const __grid_constant__
/// Placed before a template that calls a user's operator: nvcc then does not require that the
/// operator can be called on both host and device.
#define LOOKBACK_NO_EXECUTION_CHECK _Pragma("nv_exec_check_disable")
#else
#define LOOKBACK_HOST_DEVICE
#define LOOKBACK_DEVICE inline
#define LOOKBACK_HOST_DEVICE_INLINE inline
#define LOOKBACK_KERNEL(threads, blocks) void
#define LOOKBACK_KERNEL_PARAMETER const
#define LOOKBACK_NO_EXECUTION_CHECK
#endif

/// Whether this is nvcc's pass for device code, which also parses host functions.
#if defined(__CUDA_ARCH__)
#define LOOKBACK_IN_DEVICE_CODE 1
#else
#define LOOKBACK_IN_DEVICE_CODE 0
#endif
/// A namespace-scope constant for the host and for kernels.
#if LOOKBACK_IN_DEVICE_CODE
#define LOOKBACK_GLOBAL_CONSTANT __device__ constexpr
#else
#define LOOKBACK_GLOBAL_CONSTANT inline constexpr
#endif

/// The version: CMakeLists.txt reads it here.
#define LOOKBACK_VERSION_MAJOR 0
#define LOOKBACK_VERSION_MINOR 1
#define LOOKBACK_VERSION_PATCH 0

/// The inline namespace of everything in lookback: version and architectures, as v0_1_0_sm750900
/// for sm_75 and sm_90. Libraries of one process may contain different versions, or kernels for
/// different architectures. Of two functions with the same name, the linker keeps one, and one
/// library's host code would launch the other's kernels. `v0_1_0_host`: no CUDA compiler.
#if defined(__CUDA_ARCH_LIST__)
#define LOOKBACK_ABI                                                                               \
  LOOKBACK_ABI_SM(LOOKBACK_VERSION_MAJOR, LOOKBACK_VERSION_MINOR, LOOKBACK_VERSION_PATCH,          \
                  __CUDA_ARCH_LIST__, , , , , , , , , , , , , , , , , )
#else
#define LOOKBACK_ABI                                                                               \
  LOOKBACK_ABI_HOST(LOOKBACK_VERSION_MAJOR, LOOKBACK_VERSION_MINOR, LOOKBACK_VERSION_PATCH)
#endif
/// Expand the arguments before they are joined.
#define LOOKBACK_ABI_SM(...) LOOKBACK_JOIN_SM(__VA_ARGS__)
#define LOOKBACK_ABI_HOST(...) LOOKBACK_JOIN_HOST(__VA_ARGS__)
/// For up to 16 architectures.
#define LOOKBACK_JOIN_SM(major, minor, patch, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) \
  v##major##_##minor##_##patch##_sm##a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##p
#define LOOKBACK_JOIN_HOST(major, minor, patch) v##major##_##minor##_##patch##_host

/// The inline namespace of the Thrust interface's functions and types that depend on the default
/// stream. nvcc's option --default-stream chooses that stream for one translation unit. Units with
/// different default streams must have functions and types of their own: of two with the same name,
/// the linker keeps one. (The CUB interface passes stream 0 on, as CUB does; the linker decides
/// which default stream that is.)
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define LOOKBACK_DEFAULT_STREAM per_thread_default_stream
#else
#define LOOKBACK_DEFAULT_STREAM legacy_default_stream
#endif

/// LOOKBACK_UNROLL: a loop that must be unrolled in a kernel, since it indexes registers.
/// LOOKBACK_ROLLED: a loop that must not be unrolled. It has few iterations and few calls need it,
/// but the compiler would unroll it four times at every use.
/// LOOKBACK_UNROLL_BY(n): n iterations become one; n is a name.
#if defined(__CUDA_ARCH__)
#define LOOKBACK_UNROLL _Pragma("unroll")
#define LOOKBACK_ROLLED _Pragma("unroll 1")
#define LOOKBACK_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOKBACK_UNROLL_BY(n) LOOKBACK_PRAGMA(unroll n)
#else
#define LOOKBACK_UNROLL
#define LOOKBACK_ROLLED
#define LOOKBACK_UNROLL_BY(n)
#endif

/// Branch hint: true on the hot path. The code for true then follows without a jump to instructions
/// that have not been fetched yet.
#if defined(__GNUC__)
#define LOOKBACK_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), true)
#else
#define LOOKBACK_LIKELY(condition) static_cast<bool>(condition)
#endif

/// Placed before a loop whose iterations touch different elements: g++ need not test whether the
/// output overlaps the input. In a scan in place, both are the same memory.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define LOOKBACK_INDEPENDENT _Pragma("GCC ivdep")
/// Unrolls a loop over the lanes of a row, on the host.
#define LOOKBACK_HOST_UNROLL _Pragma("GCC unroll 32")
#else
#define LOOKBACK_INDEPENDENT
#define LOOKBACK_HOST_UNROLL
#endif

/// A function compiled for AVX in a program that is not. It may be called only if the CPU has AVX.
/// Defined if the compiler supports such functions.
#if defined(__x86_64__) && defined(__SSE2__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define LOOKBACK_AVX __attribute__((target("avx")))
#endif
#endif

/// Whether the return type of a function object of type T is unknown on the host: that of an
/// extended `__device__` lambda without a trailing return type.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
#define LOOKBACK_HIDES_RETURN_TYPE(T)                                                              \
  (__nv_is_extended_device_lambda_closure_type(T) &&                                               \
   !__nv_is_extended_device_lambda_with_preserved_return_type(T))
#else
#define LOOKBACK_HIDES_RETURN_TYPE(T) false
#endif

/// Whether this compilation pass may use instructions introduced with sm_80, or with sm_90. (True
/// in nvcc's host pass, which parses all code.)
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define LOOKBACK_TARGETS_SM_80 1
#else
#define LOOKBACK_TARGETS_SM_80 0
#endif
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define LOOKBACK_TARGETS_SM_90 1
#else
#define LOOKBACK_TARGETS_SM_90 0
#endif

/// Whether kernels limit the duration of their waits, so that a hang is reported: with
/// LOOKBACK_DEBUG defined, or in device code built for debugging (nvcc -G). Off otherwise, with or
/// without NDEBUG: it costs up to 7 % of a scan's time.
#if defined(LOOKBACK_DEBUG) || defined(__CUDACC_DEBUG__)
#define LOOKBACK_BOUNDS_SPINS 1
#else
#define LOOKBACK_BOUNDS_SPINS 0
#endif

// Thrust's default device system is CUDA, whose headers need those of the CUDA runtime. Without the
// latter, the C++ system is selected.
#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM) && !__has_include(<cuda_runtime_api.h>)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
