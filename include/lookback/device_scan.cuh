// SPDX-License-Identifier: MIT
// The CUB door: put `lookback::DeviceScan` where `cub::DeviceScan` stood. Includes neither Thrust nor CUB.
#pragma once

#include <lookback/dispatch/algorithm.cuh>

namespace lookback {

/// Device-wide scans with cub::DeviceScan's parameters. `a . b` below is scan_op(a, b); s is the start of i's run of equal keys.
///
/// Common to all of them:
///   - Two phases: with `d_temp_storage` null, the bytes needed are written to `temp_storage_bytes` and nothing else happens;
///     with storage, the scan is enqueued on `stream`. Storage may have any alignment and any content. Nothing is
///     allocated, nothing synchronises, and a call can be captured in a graph.
///   - `d_in`, `d_keys_in`, `d_values_in`: random-access iterators readable on the device; `d_out`: one that is writable
///     there. Output may be the input (or the keys, or the values), element for element; other overlap is not allowed.
///   - Operators are associative; they need not commute. They are applied to elements in order and never to anything else.
///     Types need a copy constructor and nothing more.
///   - `num_items`: any integer type; 0 launches nothing.
///   - `algorithm`: `fastest`, or one that lookback/catalogue.cuh names.
///   - Returns cudaErrorInvalidValue for a negative `num_items`, for more than 2^31 - 1 tiles of 16 KB and for too little storage;
///     of a named algorithm also cudaErrorNotSupported, where it cannot take the call, and cudaErrorInvalidConfiguration, where the
///     device has not the shared memory for its blocks; otherwise the status of the launch.
///   - `fastest` gives the same bits for the same values, types, operator and `num_items`, on every run and every GPU
///     (core/tree.cuh), in one pass over memory and about 2 n applications of the operator. Of the others their files say it.
struct DeviceScan {
private:
  template <class Iterator>
  using value = detail::value_t<Iterator>;
  template <class Operator, class Iterator, class Init = value<Iterator>>
  using accumulator = detail::accumulator_t<Operator, value<Iterator>, Init>;

  /// CUB's future values convert to their value on the device, and so stand for one themselves.
  template <class Init, class = void>
  struct init_value {
    using type = Init;
  };
  template <class Init>
  struct init_value<Init, std::void_t<typename Init::value_type, typename Init::iterator_type>> {
    using type = typename Init::value_type;
  };

  /// -1, which the dispatch refuses, for what no 64-bit size can hold.
  template <class Count>
  static constexpr std::int64_t checked(Count num_items) {
    static_assert(std::is_integral<Count>::value, "lookback::DeviceScan: num_items is of an integer type");
    return static_cast<std::uint64_t>(num_items) > static_cast<std::uint64_t>(INT64_MAX)
               ? -1
               : static_cast<std::int64_t>(num_items);
  }

  /// A call in place is told from others by its third argument, which is a number.
  template <class Count>
  using if_count = std::enable_if_t<std::is_integral<Count>::value, int>;

public:
  /// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0 of the input's value type. Accumulates in the type of x + x.
  template <class InputIterator, class OutputIterator, class Count, class Algorithm = fastest>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm algorithm = {}) {
    using init = value<InputIterator>;
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_problem<false, accumulator<plus, InputIterator>>(
                               d_in, d_out, plus{}, detail::initial_value<init>{init{}}),
                           checked(num_items), stream);
  }
  /// In place.
  template <class Iterator, class Count, class Algorithm = fastest, if_count<Count> = 0>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Iterator d_data,
                                  Count num_items, cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    return ExclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream, algorithm);
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init. Accumulates in the type of scan_op(init, x).
  /// `init_value` may be a FutureValue (or cub::FutureValue): it is read on the device, in stream order.
  template <class InputIterator, class OutputIterator, class ScanOp, class Init, class Count, class Algorithm = fastest>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes, InputIterator d_in,
                                   OutputIterator d_out, ScanOp scan_op, Init init_value_or_future, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    using init = typename init_value<Init>::type;
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_problem<false, accumulator<ScanOp, InputIterator, init>>(
                               d_in, d_out, scan_op, detail::initial_value<Init>{init_value_or_future}),
                           checked(num_items), stream);
  }
  /// In place.
  template <class Iterator, class ScanOp, class Init, class Count, class Algorithm = fastest, if_count<Count> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes, Iterator d_data,
                                   ScanOp scan_op, Init init_value, Count num_items, cudaStream_t stream = nullptr,
                                   Algorithm algorithm = {}) {
    return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, init_value, num_items, stream,
                         algorithm);
  }

  /// y(i) = x(0) + x(1) + ... + x(i). Accumulates in the type of x + x.
  template <class InputIterator, class OutputIterator, class Count, class Algorithm = fastest>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm algorithm = {}) {
    return detail::scan_by(
        algorithm, d_temp_storage, temp_storage_bytes,
        detail::make_problem<true, accumulator<plus, InputIterator>>(d_in, d_out, plus{}, detail::no_initial{}),
        checked(num_items), stream);
  }
  /// In place.
  template <class Iterator, class Count, class Algorithm = fastest, if_count<Count> = 0>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Iterator d_data,
                                  Count num_items, cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    return InclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream, algorithm);
  }

  /// y(i) = x(0) . x(1) ... x(i). Accumulates in the type of scan_op(x, x).
  template <class InputIterator, class OutputIterator, class ScanOp, class Count, class Algorithm = fastest>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes, InputIterator d_in,
                                   OutputIterator d_out, ScanOp scan_op, Count num_items, cudaStream_t stream = nullptr,
                                   Algorithm algorithm = {}) {
    return detail::scan_by(
        algorithm, d_temp_storage, temp_storage_bytes,
        detail::make_problem<true, accumulator<ScanOp, InputIterator>>(d_in, d_out, scan_op, detail::no_initial{}),
        checked(num_items), stream);
  }
  /// In place.
  template <class Iterator, class ScanOp, class Count, class Algorithm = fastest, if_count<Count> = 0>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes, Iterator d_data,
                                   ScanOp scan_op, Count num_items, cudaStream_t stream = nullptr,
                                   Algorithm algorithm = {}) {
    return InclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, num_items, stream, algorithm);
  }

  /// y(i) = init . x(0) . x(1) ... x(i). Accumulates in the type of scan_op(init, x).
  template <class InputIterator, class OutputIterator, class ScanOp, class Init, class Count, class Algorithm = fastest>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes, InputIterator d_in,
                                       OutputIterator d_out, ScanOp scan_op, Init init_value_or_future, Count num_items,
                                       cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    using init = typename init_value<Init>::type;
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_problem<true, accumulator<ScanOp, InputIterator, init>>(
                               d_in, d_out, scan_op, detail::initial_value<Init>{init_value_or_future}),
                           checked(num_items), stream);
  }

  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0; runs are of consecutive keys of which `equality_op` finds each equal to the next.
  template <class KeysIterator, class ValuesIterator, class OutputIterator, class EqualityOp = equal_to,
            class Count = std::uint32_t, class Algorithm = fastest>
  static cudaError_t ExclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes, KeysIterator d_keys_in,
                                       ValuesIterator d_values_in, OutputIterator d_values_out, Count num_items,
                                       EqualityOp equality_op = EqualityOp(), cudaStream_t stream = nullptr,
                                       Algorithm algorithm = {}) {
    using sum = accumulator<plus, ValuesIterator>;
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_exclusive_by_key<sum>(d_keys_in, d_values_in, d_values_out,
                                                              static_cast<sum>(value<ValuesIterator>{}), equality_op,
                                                              plus{}),
                           checked(num_items), stream);
  }

  /// y(i) = init_value . x(s) . ... . x(i - 1), y(s) = init_value
  template <class KeysIterator, class ValuesIterator, class OutputIterator, class ScanOp, class Init,
            class EqualityOp = equal_to, class Count = std::uint32_t, class Algorithm = fastest>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes, KeysIterator d_keys_in,
                                        ValuesIterator d_values_in, OutputIterator d_values_out, ScanOp scan_op,
                                        Init init_value, Count num_items, EqualityOp equality_op = EqualityOp(),
                                        cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    using total = accumulator<ScanOp, ValuesIterator, Init>;
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_exclusive_by_key<total>(d_keys_in, d_values_in, d_values_out,
                                                                static_cast<total>(init_value), equality_op, scan_op),
                           checked(num_items), stream);
  }

  /// y(i) = x(s) + ... + x(i)
  template <class KeysIterator, class ValuesIterator, class OutputIterator, class EqualityOp = equal_to,
            class Count = std::uint32_t, class Algorithm = fastest>
  static cudaError_t InclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes, KeysIterator d_keys_in,
                                       ValuesIterator d_values_in, OutputIterator d_values_out, Count num_items,
                                       EqualityOp equality_op = EqualityOp(), cudaStream_t stream = nullptr,
                                       Algorithm algorithm = {}) {
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_inclusive_by_key<accumulator<plus, ValuesIterator>>(
                               d_keys_in, d_values_in, d_values_out, equality_op, plus{}),
                           checked(num_items), stream);
  }

  /// y(i) = x(s) . ... . x(i)
  template <class KeysIterator, class ValuesIterator, class OutputIterator, class ScanOp, class EqualityOp = equal_to,
            class Count = std::uint32_t, class Algorithm = fastest>
  static cudaError_t InclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes, KeysIterator d_keys_in,
                                        ValuesIterator d_values_in, OutputIterator d_values_out, ScanOp scan_op,
                                        Count num_items, EqualityOp equality_op = EqualityOp(),
                                        cudaStream_t stream = nullptr, Algorithm algorithm = {}) {
    return detail::scan_by(algorithm, d_temp_storage, temp_storage_bytes,
                           detail::make_inclusive_by_key<accumulator<ScanOp, ValuesIterator>>(
                               d_keys_in, d_values_in, d_values_out, equality_op, scan_op),
                           checked(num_items), stream);
  }
};

} // namespace lookback
