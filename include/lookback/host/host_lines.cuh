// SPDX-License-Identifier: MIT
// Scans of many lines on CPU threads. Threads draw batches of consecutive lines. A batch has about
// 64 KiB of elements, or 1024 lines, which balances short and long lines. A line that is longer
// than the share of a thread waits until all others are done, and then has all threads. Lines of a
// few items are scanned in the loop over a batch; others are passed to the scan of one line.
//
// Each line is a scan of its own, so its results are bit-identical to those of scanning it alone.
#pragma once

#include <lookback/core/checked_axis.cuh>
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

#include <lookback/host/adjacent_lines.cuh>
#include <lookback/host/strided.cuh>

#include <atomic>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The scan of a line: its operator and initial value; with the line's elements, its problem.
template <bool Inclusive, class T, class Operator, class Initial>
struct line_scan {
  Operator op;
  Initial initial;

  template <class Input, class Output>
  auto problem(Input input, Output output, std::int64_t items) const {
    return make_problem<Inclusive, T>(input, output, op, initial)
        .over({static_cast<std::uint64_t>(items)});
  }
};

// Kinds of lines. Their members:
//
//   problem_type          a problem with the element types of a line
//   splits                whether several threads can scan one line
//   count()               how many lines there are
//   items(line)           how many items a line has; not positive: none
//   span(first, last)     items of the lines from `first` to `last` - 1, if these are in order
//   all_items()           those of all lines, about; it decides the number of threads, nothing else
//   scan(line, items, who)
//   short_items           the most items of a short line; 0: no line is short
//   scan_short(line, items)

/// Items begins[s] to ends[s] - 1 of the input, whose results go to the same indices of the output.
template <class Scan, class Input, class Begins, class Ends, class Output>
struct lines_by_offsets {
  Scan one;
  Input input;
  Begins begins;
  Ends ends;
  std::int64_t segments;
  Output output;

  using problem_type = decltype(one.problem(input, output, 0));
  static constexpr bool splits = true;
  static constexpr std::int64_t short_items = detail::short_items<problem_type>;
  std::int64_t count() const { return segments; }
  std::int64_t items(std::int64_t s) const { return end(s) - begin(s); }
  std::int64_t span(std::int64_t first, std::int64_t last) const {
    return end(last - 1) - begin(first);
  }
  /// The span of a few segments: reading all offsets takes as long as scanning short segments.
  std::int64_t all_items() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    const std::int64_t step = segments / 16 + 1;
    for (std::int64_t s = 0; s < segments;
         s = s + 1 < segments ? std::min(s + step, segments - 1) : segments) {
      first = std::min(first, begin(s));
      last = std::max(last, end(s));
    }
    return last > first ? last - first : 0;
  }
  void scan(std::int64_t s, std::int64_t n, scanned_by who) const {
    detail::scan(one.problem(input + begin(s), output + begin(s), n), who);
  }
  void scan_short(std::int64_t s, int n) const {
    const auto problem = one.problem(input + begin(s), output + begin(s), n);
    detail::scan_short(problem, problem.input, problem.sink.output, n);
  }

private:
  std::int64_t begin(std::int64_t s) const { return static_cast<std::int64_t>(begins[s]); }
  std::int64_t end(std::int64_t s) const { return static_cast<std::int64_t>(ends[s]); }
};

/// Lines along an axis, whose pitches are not 0, one at a time.
template <class Scan, class Input, class Output>
struct lines_of_axis {
  Scan one;
  Input input;
  axis lines;
  Output output;

  using problem_type = decltype(one.problem(input, output, 0));
  static constexpr bool splits = true;
  static constexpr std::int64_t short_items = 0;
  std::int64_t count() const { return lines.outer * lines.inner; }
  std::int64_t items(std::int64_t) const { return lines.length; }
  std::int64_t span(std::int64_t first, std::int64_t last) const {
    return (last - first) * lines.length;
  }
  void scan_short(std::int64_t, int) const {}
  std::int64_t all_items() const { return lines.outer * lines.inner * lines.length; }
  void scan(std::int64_t line, std::int64_t length, scanned_by who) const {
    const auto from = input + first_of(lines.input, line / lines.inner, line % lines.inner);
    const auto to = output + first_of(lines.output, line / lines.inner, line % lines.inner);
    if (lines.input.length == 1 && lines.output.length == 1 && !lines.reverse)
      return detail::scan(one.problem(from, to, length), who);
    detail::scan(one.problem(strided<Input>(from, step(lines.input)),
                             strided<Output>(to, step(lines.output)), length),
                 who);
  }

protected:
  /// Place of the element with which the scan of line (o, k) begins.
  std::int64_t first_of(const axis::pitch &pitch, std::int64_t o, std::int64_t k) const {
    return o * pitch.outer + k + (lines.reverse ? (lines.length - 1) * pitch.length : 0);
  }
  std::int64_t step(const axis::pitch &pitch) const {
    return lines.reverse ? -pitch.length : pitch.length;
  }
};

/// The same, several adjacent lines at a time, by one thread.
template <class Scan, class Input, class Output>
class bundles_of_axis : lines_of_axis<Scan, Input, Output> {
  using base = lines_of_axis<Scan, Input, Output>;
  using T = typename base::problem_type::accumulator;
  /// Two busy cores of a Xeon, 2^24 f32, columns of 16,384 and of 1,024 items, ms, by the width:
  ///   1 KiB: 18.7, 12.2    2 KiB: 14.8, 11.6    4 KiB: 14.8, 11.1
  /// Sums of integers keep no more than a value of each line.
  static constexpr int bytes_at_most =
      sums_integers<typename base::problem_type> ? 16 << 10 : 2 << 10;
  static constexpr int width_at_most = bytes_at_most / static_cast<int>(sizeof(T));
  /// Threads do not write to the same cache lines, if these begin with a bundle.
  static constexpr int granule = sizeof(T) < 64 ? 64 / static_cast<int>(sizeof(T)) : 1;

public:
  /// Fewer adjacent lines than this are faster one at a time.
  static constexpr int width_at_least = 8;
  static constexpr bool can_bundle = is_plain<T> && width_at_most >= width_at_least;

  using base::all_items;
  using base::output;
  using base::scan_short;
  using base::short_items;
  using typename base::problem_type;
  static constexpr bool splits = false;
  /// Bundles for `threads` threads.
  bundles_of_axis(const base &all, std::size_t threads) : base(all) {
    const auto share = all.count() / static_cast<std::int64_t>(threads);
    const auto granules = std::min<std::int64_t>(share / granule, width_at_most / granule);
    width_ = std::max(width_at_least, static_cast<int>(granules) * granule);
    bundles_ = (this->lines.inner - 1) / width_ + 1;
  }
  std::int64_t count() const { return this->lines.outer * bundles_; }
  std::int64_t items(std::int64_t bundle) const { return this->lines.length * lines_of(bundle); }
  std::int64_t span(std::int64_t first, std::int64_t last) const {
    return base::span(first, last) * width_;
  }
  void scan(std::int64_t bundle, std::int64_t, scanned_by) const {
    const axis &lines = this->lines;
    const std::int64_t o = bundle / bundles_, k = bundle % bundles_ * width_;
    const auto problem =
        this->one.problem(this->input + this->first_of(lines.input, o, k),
                          this->output + this->first_of(lines.output, o, k), lines.length);
    std::make_unique<adjacent_lines<problem_type, width_at_most>>(problem)->scan(
        problem.input, this->step(lines.input), problem.sink.output, this->step(lines.output),
        lines.length, lines_of(bundle));
  }

private:
  int lines_of(std::int64_t bundle) const {
    return static_cast<int>(
        std::min<std::int64_t>(width_, this->lines.inner - bundle % bundles_ * width_));
  }
  int width_;
  std::int64_t bundles_; // of the lines with the same outer index
};

/// Bytes of an item, read or written, whichever is more.
template <class Lines>
inline constexpr auto
    line_item_bytes = static_cast<std::int64_t>(Lines::problem_type::shape::element_bytes);
/// Threads for all lines together.
template <class Lines>
std::size_t threads_for(const Lines &lines) {
  if constexpr (!separate_results<decltype(lines.output)>::value) return 1;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / line_item_bytes<Lines>;
  return useful_threads(std::min(lines.all_items(), most) * line_item_bytes<Lines>);
}

/// Scans all lines of a kind.
template <class Lines>
class scan_of_lines {
public:
  scan_of_lines(const Lines &lines, std::size_t threads)
      : lines_(lines), threads_(threads),
        share_(std::max(2 * bytes_per_thread / item_bytes,
                        lines.all_items() / static_cast<std::int64_t>(threads))) {}

  void run() {
    if (threads_ > 1)
      crew_.run(threads_, [this] { work(); });
    else
      work();
    for (const std::int64_t line : long_lines_)
      lines_.scan(line, lines_.items(line), scanned_by::threads);
  }

private:
  static constexpr std::int64_t item_bytes = line_item_bytes<Lines>;
  static constexpr std::int64_t batch_items = ((std::int64_t{64} << 10) - 1) / item_bytes + 1;
  static constexpr std::int64_t batch_lines = 1024; // lines without items cost time, too

  bool is_long(std::int64_t items) const { return Lines::splits && items > 0 && items >= share_; }

  void work() {
    for (std::int64_t line = 0, end = 0; !crew_.has_failed() && draw_batch(line, end);)
      scan_batch(line, end);
  }
  /// Never inlined, and with a copy of the lines: all that short lines need is then in registers.
  LOOKBACK_HOST_NOINLINE void scan_batch(std::int64_t line, std::int64_t end) {
    for (const Lines lines = lines_; line < end; ++line) {
      const std::int64_t items = lines.items(line);
      if (items > 0 && items <= Lines::short_items)
        lines.scan_short(line, static_cast<int>(items));
      else if (items > 0)
        scan_longer(line, items);
    }
  }
  LOOKBACK_HOST_NOINLINE void scan_longer(std::int64_t line, std::int64_t items) {
    if (is_long(items))
      defer(line);
    else
      lines_.scan(line, items, scanned_by::this_thread);
  }
  /// Draws the lines from `line` to `end`; false if there are no more.
  bool draw_batch(std::int64_t &line, std::int64_t &end) {
    line = next_.load(std::memory_order_relaxed);
    do {
      if (line >= lines_.count()) return false;
      end = end_of_batch(line);
    } while (!next_.compare_exchange_weak(line, end, std::memory_order_relaxed));
    return true;
  }
  std::int64_t end_of_batch(std::int64_t line) const {
    const std::int64_t last = line + std::min(lines_.count() - line, batch_lines);
    // Short lines that follow one another need not be counted. Of others, the span may be anything:
    // a batch may then be too large, which costs time only.
    const std::int64_t span = lines_.span(line, last);
    if (span >= 0 && span <= batch_items) return last;
    for (std::int64_t items = 0; line < last && items < batch_items; ++line) {
      const std::int64_t own = lines_.items(line);
      if (own > 0 && !is_long(own)) items += own;
    }
    return line;
  }
  void defer(std::int64_t line) {
    const std::lock_guard<std::mutex> lock(guard_);
    long_lines_.push_back(line);
  }

  const Lines &lines_;
  const std::size_t threads_;
  const std::int64_t share_; // items of a thread
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
  scan_of_lines(lines, threads_for(lines)).run();
}

// ---- axes ---------------------------------------------------------------------------------------

template <bool Inclusive, class T, class Input, class Output, class Operator, class Initial>
void scan_axis(Input input, const axis &lines, Output output, Operator op, Initial initial) {
  if (lines.outer <= 0 || lines.length <= 0 || lines.inner <= 0) return;
  const axis own = checked_axis(lines);
  // As a problem would adapt them, but before they are strided.
  const auto from = plain_memory(input);
  const auto to = output_of<T>(output);
  using scan = line_scan<Inclusive, T, Operator, Initial>;
  using each = lines_of_axis<scan, std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>;
  using bundles = bundles_of_axis<scan, std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>;
  const each all{{op, initial}, from, own, to};
  const std::size_t threads = threads_for(all);
  if constexpr (bundles::can_bundle) {
    if (lines.inner >= bundles::width_at_least)
      return scan_of_lines(bundles(all, threads), threads).run();
  }
  scan_of_lines(all, threads).run();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
