// SPDX-License-Identifier: MIT
// Scans of many lines on CPU threads. Threads draw batches of lines, about as many elements each,
// so that lines of any lengths beside each other cost what their bytes cost. A line that is long
// enough for several threads waits until the others are done, and is then scanned by all threads.
//
// Each line is a scan of its own, so its bits are those of scanning it alone.
#pragma once

#include <lookback/core/axis.cuh>
#include <lookback/core/strided.cuh>
#include <lookback/core/tree.cuh>
#include <lookback/host/host_scan.cuh>

#if defined(__CUDA_ARCH__)
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
// nvcc's pass for device code compiles no host function, so it need not read the headers of host/.
// These only show it the call of the user's operator: it warns about functions that are never
// called.

template <bool Inclusive, class T, class Input, class Begins, class Ends, class Output,
          class Operator, class Initial>
void scan_segments(Input input, Begins, Ends, std::int64_t, Output, Operator op, Initial) {
  const T x = as_accumulator<T>(static_cast<value_t<Input>>(input[0]));
  static_cast<void>(op(x, x));
}
template <bool Inclusive, class T, class Input, class Output, class Operator, class Initial>
void scan_axis(Input input, const axis &, Output output, Operator op, Initial initial) {
  scan_segments<Inclusive, T>(input, 0, 0, 0, output, op, initial);
}
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else

#include <atomic>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Iterator>
struct separate_results<strided<Iterator>> : separate_results<Iterator> {};

/// The scan of one line.
template <bool Inclusive, class T, class Operator, class Initial>
struct line_scan {
  Operator op;
  Initial initial;

  template <class Input, class Output>
  void operator()(Input input, Output output, std::int64_t items) const {
    detail::scan(make_problem<Inclusive, T>(input, output, op, initial)
                     .over({static_cast<std::uint64_t>(items)}));
  }
};

/// Items begins[s] to ends[s] - 1 of the input, whose results go to the same places of the output.
template <class Scan, class Input, class Begins, class Ends, class Output>
struct lines_by_offsets {
  Scan scan_line;
  Input input;
  Begins begins;
  Ends ends;
  std::int64_t segments;
  Output output;

  std::int64_t count() const { return segments; }
  std::int64_t items(std::int64_t s) const { return static_cast<std::int64_t>(ends[s]) - begin(s); }
  void scan(std::int64_t s) const {
    const std::int64_t n = items(s);
    if (n > 0) scan_line(input + begin(s), output + begin(s), n);
  }

private:
  std::int64_t begin(std::int64_t s) const { return static_cast<std::int64_t>(begins[s]); }
};

/// The lines along an axis, whose pitches are not 0. Adjacent lines share cache lines, so they come
/// one after the other.
template <class Scan, class Input, class Output>
struct lines_of_axis {
  Scan scan_line;
  Input input;
  axis lines;
  Output output;

  std::int64_t count() const { return lines.outer * lines.inner; }
  std::int64_t items(std::int64_t) const { return lines.length; }
  void scan(std::int64_t line) const {
    const auto first_of = [&](const axis::pitch &pitch) {
      const std::int64_t skipped = lines.reverse ? lines.length - 1 : 0;
      return line / lines.inner * pitch.outer + line % lines.inner + skipped * pitch.length;
    };
    const auto from = input + first_of(lines.input);
    const auto to = output + first_of(lines.output);
    if (lines.input.length == 1 && lines.output.length == 1 && !lines.reverse)
      return scan_line(from, to, lines.length);
    const std::int64_t sign = lines.reverse ? -1 : 1;
    scan_line(strided<Input>(from, sign * lines.input.length),
              strided<Output>(to, sign * lines.output.length), lines.length);
  }
};

/// Scans all lines of `Lines`, which has the members of the two classes above.
template <class Lines>
class scan_of_lines {
public:
  explicit scan_of_lines(const Lines &lines) : lines_(lines) {}

  void run() {
    const std::size_t threads = useful_threads(bytes_up_to(enough));
    if (threads > 1 && separate_results<decltype(lines_.output)>::value)
      crew_.run(threads, [this] { work(); });
    else
      work();
    for (const std::int64_t line : long_lines_) lines_.scan(line);
  }

private:
  static constexpr std::int64_t item_bytes = sizeof(value_t<decltype(Lines::input)>);
  static constexpr std::int64_t batch_bytes = std::int64_t{64} << 10;
  static constexpr std::int64_t batch_lines = 1024; // lines without items cost time, too
  static constexpr std::int64_t enough = std::int64_t{1} << 30; // for as many threads as are useful

  /// From so many items on, a scan has several threads.
  static bool is_long(std::int64_t items) { return items >= 2 * bytes_per_thread / item_bytes; }
  /// Bytes of a line that a batch scans: none of a long one.
  std::int64_t bytes_of(std::int64_t line) const {
    const std::int64_t items = lines_.items(line);
    return items <= 0 || is_long(items) ? 0 : items * item_bytes;
  }
  /// Bytes that batches scan, or `enough`, if there are more.
  std::int64_t bytes_up_to(std::int64_t enough) const {
    std::int64_t bytes = 0;
    for (std::int64_t line = 0; line < lines_.count() && bytes < enough; ++line)
      bytes += bytes_of(line);
    return bytes;
  }

  void work() {
    for (std::int64_t line = 0, end = 0; !crew_.has_failed() && draw_batch(line, end);)
      for (; line < end; ++line)
        if (is_long(lines_.items(line)))
          defer(line);
        else
          lines_.scan(line);
  }
  /// Draws the lines from `line` to `end`; none if there are no more.
  bool draw_batch(std::int64_t &line, std::int64_t &end) {
    line = next_.load(std::memory_order_relaxed);
    do {
      if (line >= lines_.count()) return false;
      end = line;
      for (std::int64_t bytes = 0;
           end < lines_.count() && end - line < batch_lines && bytes < batch_bytes; ++end)
        bytes += bytes_of(end);
    } while (!next_.compare_exchange_weak(line, end, std::memory_order_relaxed));
    return true;
  }
  void defer(std::int64_t line) {
    const std::lock_guard<std::mutex> lock(guard_);
    long_lines_.push_back(line);
  }

  const Lines &lines_;
  std::atomic<std::int64_t> next_{0};
  std::mutex guard_;
  std::vector<std::int64_t> long_lines_; // guarded by guard_
  crew crew_;
};

template <bool Inclusive, class T, class Input, class Begins, class Ends, class Output,
          class Operator, class Initial>
void scan_segments(Input input, Begins begins, Ends ends, std::int64_t segments, Output output,
                   Operator op, Initial initial) {
  using scan = line_scan<Inclusive, T, Operator, Initial>;
  const lines_by_offsets<scan, Input, Begins, Ends, Output> lines{{op, initial}, input,    begins,
                                                                  ends,          segments, output};
  scan_of_lines(lines).run();
}

/// The same pitches, with those of an array without gaps in place of 0.
inline axis::pitch with_defaults(const axis &lines, axis::pitch pitch) {
  if (pitch.outer < 0 || pitch.length < 0)
    throw std::invalid_argument("lookback: a pitch of an axis is negative; to scan a line from its "
                                "end, set axis::reverse");
  if (pitch.length == 0) pitch.length = lines.inner;
  if (pitch.outer == 0) pitch.outer = lines.length * pitch.length;
  return pitch;
}
/// Whether two lines of the axis have an element in common, or a line has one twice: unless one
/// dimension's neighbours are further apart than all that lies within.
inline bool share_elements(const axis &lines, const axis::pitch &pitch) {
  const auto holds = [](std::int64_t indices, std::int64_t distance, std::int64_t within) {
    return indices == 1 || distance >= within;
  };
  const auto span = [](std::int64_t indices, std::int64_t distance, std::int64_t within) {
    return (indices - 1) * distance + within;
  };
  const std::int64_t line = span(lines.length, pitch.length, lines.inner),
                     across = span(lines.outer, pitch.outer, lines.inner);
  const bool line_within = holds(lines.length, pitch.length, lines.inner) &&
                           holds(lines.outer, pitch.outer, line),
             across_within = holds(lines.outer, pitch.outer, lines.inner) &&
                             holds(lines.length, pitch.length, across);
  return !line_within && !across_within;
}

template <bool Inclusive, class T, class Input, class Output, class Operator, class Initial>
void scan_axis(Input input, const axis &lines, Output output, Operator op, Initial initial) {
  if (lines.outer <= 0 || lines.length <= 0 || lines.inner <= 0) return;
  if (lines.outer > std::numeric_limits<std::int64_t>::max() / lines.inner)
    throw std::invalid_argument("lookback: an axis has at most 2^63 - 1 lines: outer * inner");
  axis own = lines;
  own.input = with_defaults(lines, lines.input);
  own.output = with_defaults(lines, lines.output);
  if (share_elements(own, own.output))
    throw std::invalid_argument("lookback: the output pitches of an axis are so small that lines "
                                "overlap: pitch.length must be at least inner, and pitch.outer at "
                                "least length * pitch.length, or the other way round");
  using scan = line_scan<Inclusive, T, Operator, Initial>;
  const lines_of_axis<scan, Input, Output> all{{op, initial}, input, own, output};
  scan_of_lines(all).run();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
