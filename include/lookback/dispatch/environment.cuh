// SPDX-License-Identifier: MIT
// The environment of a one-phase call: its stream, and the memory for its temporary storage.
//
// An environment is recognised by the members of its type, so that no header of CCCL is needed but
// two forward declarations, which take no time to compile. Requirements and tunings are not looked
// at: the bits are the same on every run and every GPU, which is the strictest determinism that can
// be required, and tunings are for CUB's kernels.
#pragma once

#include <lookback/dispatch/dispatch.cuh>
#include <lookback/dispatch/memory_pool.cuh>

// By CCCL's version, since __has_include in front of an older CCCL finds the toolkit's files.
#if __has_include(<cuda/std/__cccl/version.h>)
#include <cuda/std/__cccl/version.h>
#endif
#if defined(CCCL_VERSION) && CCCL_VERSION >= 3002000 && __has_include(<cuda/__fwd/get_stream.h>)
#include <cuda/__fwd/get_stream.h>
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
using stream_query = cuda::get_stream_t;
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
struct stream_query; // no environment of this CCCL answers it
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#endif
#if defined(CCCL_VERSION) && CCCL_VERSION >= 3002000 &&                                            \
    __has_include(<cuda/__fwd/get_memory_resource.h>)
#include <cuda/__fwd/get_memory_resource.h>
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
using resource_query = cuda::mr::__get_memory_resource_t;
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
struct resource_query; // no environment of this CCCL answers it
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The environment of a call that names none: the default stream, and memory from lookback's pool.
struct default_environment {};

/// Whether `Expression<Type>` is well-formed.
template <template <class> class Expression, class Type, class = void>
inline constexpr bool is_valid = false;
template <template <class> class Expression, class Type>
inline constexpr bool is_valid<Expression, Type, std::void_t<Expression<Type>>> = true;

// What an environment may answer.
template <class Env>
using raw_stream = std::enable_if_t<
    std::is_convertible<decltype(std::declval<const Env &>().get()), cudaStream_t>::value>;
template <class Env>
using member_stream = decltype(std::declval<const Env &>().stream());
template <class Env>
using member_get_stream = decltype(std::declval<const Env &>().get_stream());
template <class Env>
using queried_stream =
    decltype(std::declval<const Env &>().query(std::declval<const stream_query &>()));
template <class Env>
using member_get_resource = decltype(std::declval<const Env &>().get_memory_resource());
template <class Env>
using queried_resource =
    decltype(std::declval<const Env &>().query(std::declval<const resource_query &>()));
/// A memory resource allocates in stream order: allocate(stream, bytes, alignment).
template <class Env>
using allocated =
    decltype(std::declval<Env &>().allocate(cudaStream_t{}, std::size_t{}, std::size_t{}));

/// `env.query(Query{})`. A template, so that only an environment that answers needs the query's
/// definition.
template <class Query, class Env>
decltype(auto) query(const Env &env) {
  return env.query(Query{});
}

/// The stream of an environment: itself, or by stream(), get_stream() or query(cuda::get_stream).
/// The default stream, if it names none.
template <class Env>
cudaStream_t stream_of(const Env &env) {
  if constexpr (std::is_convertible<const Env &, cudaStream_t>::value)
    return env;
  else if constexpr (is_valid<raw_stream, Env>)
    return env.get();
  else if constexpr (is_valid<member_stream, Env>)
    return stream_of(env.stream());
  else if constexpr (is_valid<member_get_stream, Env>)
    return stream_of(env.get_stream());
  else if constexpr (is_valid<queried_stream, Env>)
    return stream_of(query<stream_query>(env));
  else
    return nullptr;
}

/// A memory resource that cannot be copied: the caller keeps it for as long as the call.
template <class Resource>
struct borrowed_resource {
  void *allocate(cudaStream_t stream, std::size_t bytes, std::size_t alignment) {
    return resource->allocate(stream, bytes, alignment);
  }
  void deallocate(cudaStream_t stream, void *address, std::size_t bytes, std::size_t alignment) {
    resource->deallocate(stream, address, bytes, alignment);
  }
  Resource *resource;
};

/// A copy of the memory resource of an environment: itself, or by get_memory_resource() or
/// query(cuda::mr::get_memory_resource). default_environment, if it names none.
template <class Env>
auto resource_of(const Env &env) {
  if constexpr (is_valid<member_get_resource, Env>)
    return env.get_memory_resource();
  else if constexpr (is_valid<allocated, Env> && std::is_copy_constructible<Env>::value)
    return env;
  else if constexpr (is_valid<allocated, Env>)
    return borrowed_resource<Env>{const_cast<Env *>(&env)};
  else if constexpr (is_valid<queried_resource, Env>)
    return query<resource_query>(env);
  else
    return default_environment{};
}

/// Storage from a memory resource, given back in stream order when this object ends.
template <class Resource>
class resource_storage {
  static constexpr std::size_t alignment = alignof(std::max_align_t);

public:
  resource_storage(const Resource &resource, cudaStream_t stream)
      : resource_(resource), stream_(stream) {}
  resource_storage(const resource_storage &) = delete;
  resource_storage &operator=(const resource_storage &) = delete;
  ~resource_storage() {
    if (address_ == nullptr) return;
    try {
      resource_.deallocate(stream_, address_, bytes_, alignment);
    } catch (...) { // the storage is lost, the scan is not
    }
  }
  cudaError_t allocate(std::size_t bytes) {
    bytes_ = bytes;
    try {
      address_ = resource_.allocate(stream_, bytes, alignment);
    } catch (...) {
    }
    return address_ != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
  }
  void *address() const { return address_; }

private:
  Resource resource_;
  cudaStream_t stream_;
  void *address_ = nullptr;
  std::size_t bytes_ = 0;
};
/// Storage from lookback's pool.
template <>
class resource_storage<default_environment> {
public:
  resource_storage(default_environment, cudaStream_t stream) : stream_(stream) {}
  resource_storage(const resource_storage &) = delete;
  resource_storage &operator=(const resource_storage &) = delete;
  ~resource_storage() {
    if (address_ != nullptr) cudaFreeAsync(address_, stream_);
  }
  cudaError_t allocate(std::size_t bytes) {
    cudaMemPool_t pool{};
    const cudaError_t status = memory_pool(pool);
    return status != cudaSuccess ? status
                                 : cudaMallocFromPoolAsync(&address_, bytes, pool, stream_);
  }
  void *address() const { return address_; }

private:
  cudaStream_t stream_;
  void *address_ = nullptr;
};

/// Whether an environment is lookback::reverse, or another one in it.
template <class Env>
inline constexpr bool is_reverse = std::is_same<Env, reverse_t>::value;
template <class Env>
inline constexpr bool is_reverse<reversed_environment<Env>> = true;

/// Runs `problem` over n elements in one phase, on the stream of `env` and with temporary storage
/// from its memory resource. Returns the status of the two phases, or cudaErrorMemoryAllocation
/// where the resource throws.
template <class Strategies, class Env, class Problem, class Count>
cudaError_t run_in(const Env &env, const Problem &problem, const Count &n) {
  static_assert(std::is_class<Env>::value || std::is_convertible<Env, cudaStream_t>::value,
                "lookback: env must be a stream, a memory resource, or an object that "
                "provides one");
  const cudaStream_t stream = stream_of(env);
  std::size_t bytes = 0;
  cudaError_t status = Strategies::scan(nullptr, bytes, problem, n, launcher(stream));
  if (status != cudaSuccess) return status;
  char unused; // one tile needs no storage, so any address will do
  if (bytes <= sizeof(unused))
    return Strategies::scan(&unused, bytes, problem, n, launcher(stream));
  const auto resource = resource_of(env);
  resource_storage<std::decay_t<decltype(resource)>> storage(resource, stream);
  status = storage.allocate(bytes);
  return status != cudaSuccess
             ? status
             : Strategies::scan(storage.address(), bytes, problem, n, launcher(stream));
}

/// Runs `problem` in one phase; in reverse, if the environment says so.
template <class Env, class Problem, class Count>
cudaError_t scan_in(const Env &env, const Problem &problem, const Count &n) {
  return run_in<strategies<>>(env, problem, n);
}
template <class Problem, class Count>
cudaError_t scan_in(const reverse_t &, const Problem &problem, const Count &n) {
  return run_in<strategies<reverse_t>>(default_environment{}, problem, n);
}
template <class Env, class Problem, class Count>
cudaError_t scan_in(const reversed_environment<Env> &reversed, const Problem &problem,
                    const Count &n) {
  return run_in<strategies<reverse_t>>(reversed.env, problem, n);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
