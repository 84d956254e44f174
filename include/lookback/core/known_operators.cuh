// SPDX-License-Identifier: MIT
// Operators and comparisons of std and cuda::std (Thrust's are aliases of those), recognised when a
// problem is made. Every spelling of a sum then uses the same fast code and the same kernels.
//
// The operators of std must be replaced in any case: nvcc compiles their calls into kernels without
// a diagnostic, and the results are undefined.
//
// Minimum and maximum are not listed. They have no fast code of their own, cuda::minimum and
// cuda::maximum can be called in kernels, and their results for NaN differ between versions of
// CCCL.
#pragma once

#include <lookback/core/monoid.cuh>
#include <lookback/core/numbers.cuh>

// <cuda/std/functional> would double the time to compile lookback/device_scan.cuh.
#if __has_include(<cuda/std/__functional/operations.h>)
#include <cuda/std/__functional/operations.h>
#else
#include <cuda/std/functional>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

// The transparent function objects of std, callable in kernels; the sum is lookback::plus.
struct multiplies {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) * static_cast<B &&>(b)) {
    return static_cast<A &&>(a) * static_cast<B &&>(b);
  }
};
struct bit_and {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) & static_cast<B &&>(b)) {
    return static_cast<A &&>(a) & static_cast<B &&>(b);
  }
};
struct bit_or {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) | static_cast<B &&>(b)) {
    return static_cast<A &&>(a) | static_cast<B &&>(b);
  }
};
struct bit_xor {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) ^ static_cast<B &&>(b)) {
    return static_cast<A &&>(a) ^ static_cast<B &&>(b);
  }
};
struct logical_and {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) && static_cast<B &&>(b)) {
    return static_cast<A &&>(a) && static_cast<B &&>(b);
  }
};
struct logical_or {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) || static_cast<B &&>(b)) {
    return static_cast<A &&>(a) || static_cast<B &&>(b);
  }
};

/// Whether `Function` may be a program's specialisation of a function object of std for a type of
/// its own, which kernels call as it is. The primary templates of libstdc++ name their argument
/// types; with another library, no specialisation is recognised.
#if defined(__GLIBCXX__)
template <class Function, class = void>
struct may_be_specialised : std::true_type {};
template <class Function>
struct may_be_specialised<Function, std::void_t<typename Function::first_argument_type>>
    : std::false_type {};
#else
template <class Function>
struct may_be_specialised : std::false_type {};
#endif

/// Calls `Function`, a function object of std for operands of type T, on the host, and `Operation`
/// in kernels, where `Function` cannot be called.
template <class Function, class Operation, class T, class Result>
struct typed_operator {
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE constexpr Result operator()(const T &a, const T &b) const {
#if LOOKBACK_IN_DEVICE_CODE
    return Operation{}(a, b);
#else
    return Function{}(a, b);
#endif
  }
};

/// The computation of a function object: `operation`, on operands of type `operand`, or of any type
/// if that is void. `in_kernels<Operator>` is the same function object for host and device.
template <class Operation, class Operand>
struct known_operation {
  using operation = Operation;
  using operand = Operand;
};
template <class Operation, class T, class Result = T>
struct known_of_std : known_operation<Operation, T> {
  template <class Function>
  using in_kernels = std::conditional_t<may_be_specialised<Function>::value, Function,
                                        typed_operator<Function, Operation, T, Result>>;
};
template <class Operation, class T>
struct known_of_cuda : known_operation<Operation, T> {
  template <class Function>
  using in_kernels = Function;
};

template <class Operator>
struct known_operator;
template <class T>
struct known_operator<std::plus<T>> : known_of_std<plus, T> {};
template <class T>
struct known_operator<std::multiplies<T>> : known_of_std<multiplies, T> {};
template <class T>
struct known_operator<std::bit_and<T>> : known_of_std<bit_and, T> {};
template <class T>
struct known_operator<std::bit_or<T>> : known_of_std<bit_or, T> {};
template <class T>
struct known_operator<std::bit_xor<T>> : known_of_std<bit_xor, T> {};
template <class T>
struct known_operator<std::logical_and<T>> : known_of_std<logical_and, T, bool> {};
template <class T>
struct known_operator<std::logical_or<T>> : known_of_std<logical_or, T, bool> {};
template <class T>
struct known_operator<std::equal_to<T>> : known_of_std<equal_to, T, bool> {};
template <class T>
struct known_operator<cuda::std::plus<T>> : known_of_cuda<plus, T> {};
template <class T>
struct known_operator<cuda::std::multiplies<T>> : known_of_cuda<multiplies, T> {};
template <class T>
struct known_operator<cuda::std::bit_and<T>> : known_of_cuda<bit_and, T> {};
template <class T>
struct known_operator<cuda::std::bit_or<T>> : known_of_cuda<bit_or, T> {};
template <class T>
struct known_operator<cuda::std::bit_xor<T>> : known_of_cuda<bit_xor, T> {};
template <class T>
struct known_operator<cuda::std::logical_and<T>> : known_of_cuda<logical_and, T> {};
template <class T>
struct known_operator<cuda::std::logical_or<T>> : known_of_cuda<logical_or, T> {};
template <class T>
struct known_operator<cuda::std::equal_to<T>> : known_of_cuda<equal_to, T> {};

/// The function object that lookback calls for `Operator`, with operands of type T and results that
/// are cast to T (those of a comparison, to bool): `Operator`, or one with the same results.
template <class Operator, class T, class = void>
struct own_operator {
  using type = Operator;
};
/// A typed object such as std::plus<T> is replaced by its transparent operation only for numbers T,
/// where it is a + b, converted to T. Operands of another type would be converted first. A class
/// may overload its operators for lvalues and rvalues, and std::plus<T> passes lvalues.
template <class Operator, class T>
struct own_operator<Operator, T, std::void_t<typename known_operator<Operator>::operation>> {
  using known = known_operator<Operator>;
  static constexpr bool is_transparent = std::is_void<typename known::operand>::value;
  static constexpr bool is_same_number =
      std::is_same<typename known::operand, T>::value && is_number<T>;
  using type = std::conditional_t<is_transparent || is_same_number, typename known::operation,
                                  typename known::template in_kernels<Operator>>;
};
template <class Operator, class T>
using own_operator_t = typename own_operator<Operator, T>::type;

/// `op` itself, or the own_operator_t that replaces it.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Operator>
LOOKBACK_HOST_DEVICE decltype(auto) to_own_operator(Operator &op) {
  using given = std::remove_const_t<Operator>;
  using own = own_operator_t<given, T>;
  if constexpr (std::is_same<own, given>::value)
    return (op);
  else
    return own{};
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
