// SPDX-License-Identifier: MIT
// Which lines of a text file contain a word? Two selections and one scan find and copy them. The
// output is the same as that of `LC_ALL=C grep -aF WORD FILE`.
//
//   filter_log WORD FILE [CHUNK_BYTES]
//
// writes the lines to standard output, and to standard error how many bytes it kept and how fast.
// A last line without a newline gets one. The empty word is in every line. The file may have any
// size, and may be a pipe: chunks of at most CHUNK_BYTES (32 MiB by default), cut at the ends of
// lines, pass through memory, where they take about 14 bytes per byte. A longer line makes its
// chunk longer.
//
// A chunk takes four steps:
//
//   1. copy_if selects the events: the positions of newlines, and those where the word occurs. A
//      line contains the word if the event before its newline is an occurrence.
//   2. Each newline is marked: 1 if lines are kept from the next one on, -1 if lines are dropped
//      from the next one on, 0 if the next line is treated like this one. Other bytes have mark 0.
//   3. exclusive_scan adds up the marks. The sum is 1 for the bytes of a line that contains the
//      word, its newline included, and 0 for all others.
//   4. copy_if copies the bytes with sum 1.
//
// Every step works on bytes or events, not on lines: long lines are processed in parallel, too, and
// neither the number of a line nor its length is needed. Step 1 compares as many bytes at every
// position as the text has in common with the word, and one more. With lookback::host, step 2 runs
// serially on Thrust's C++ system. It is the shortest unless most lines are empty.
#include "example.cuh"

#include <thrust/copy.h>
#include <thrust/fill.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>

#include <algorithm>
#include <filesystem>
#include <new>

namespace {

/// Comparisons end before the end of the text: its last byte is a newline, which no word contains.
struct is_event {
  const char *text, *word;
  std::size_t word_bytes; // at least 1

  LOOKBACK_HOST_DEVICE bool operator()(std::uint64_t position) const {
    if (text[position] == '\n') return true;
    std::size_t equal = 0;
    while (equal < word_bytes && text[position + equal] == word[equal]) ++equal;
    return equal == word_bytes;
  }
};

struct is_newline {
  const char *text;
  LOOKBACK_HOST_DEVICE bool operator()(std::uint64_t position) const {
    return text[position] == '\n';
  }
};

/// The mark of a newline, which is event i: whether the next line is kept, minus whether this is.
struct mark_of_newline {
  is_newline newline;
  const std::uint64_t *events;
  std::uint64_t count;

  LOOKBACK_HOST_DEVICE std::int8_t operator()(std::uint64_t i) const {
    const bool kept = i > 0 && !newline(events[i - 1]);
    const bool next_kept = i + 1 < count && !newline(events[i + 1]);
    return std::int8_t(next_kept - kept);
  }
};

struct is_one {
  LOOKBACK_HOST_DEVICE bool operator()(std::int8_t sum) const { return sum == 1; }
};

/// Selects the lines that contain a word, which is not empty.
class line_filter {
public:
  explicit line_filter(const std::string &word) : word(word.begin(), word.end()) {}

  /// Stores in `lines` those of a text of n > 0 bytes, which ends with a newline.
  void select(const char *host_text, std::size_t n) {
    if (text.size() < n) grow(n + n / 8); // chunks differ in length by less than a line
    thrust::copy(host_text, host_text + n, text.begin());
    const double begin = example::now();
    const is_newline newline{thrust::raw_pointer_cast(text.data())};

    const auto position = thrust::make_counting_iterator(std::uint64_t{0});
    const is_event event{newline.text, thrust::raw_pointer_cast(word.data()), word.size()};
    const auto events_end =
        thrust::copy_if(example::policy, position, position + n, events.begin(), event);

    thrust::fill_n(example::policy, marks.begin(), n, std::int8_t{0});
    const std::uint64_t count = events_end - events.begin();
    const auto mark = thrust::make_transform_iterator(
        position, mark_of_newline{newline, thrust::raw_pointer_cast(events.data()), count});
    thrust::scatter_if(example::policy, mark, mark + count, events.begin(), events.begin(),
                       marks.begin(), newline);

    const std::int8_t first_kept = host_text[events.front()] != '\n';
    thrust::exclusive_scan(example::policy, marks.begin(), marks.begin() + n, marks.begin(),
                           first_kept);
    const auto kept_end = thrust::copy_if(example::policy, text.begin(), text.begin() + n,
                                          marks.begin(), kept.begin(), is_one{});
    seconds += example::now() - begin;
    lines.resize(kept_end - kept.begin());
    thrust::copy(kept.begin(), kept_end, lines.begin());
  }

  std::vector<char> lines;
  double seconds = 0; // without the copies of text and lines

private:
  void grow(std::size_t n) {
    text.resize(n);
    kept.resize(n);
    events.resize(n); // 8 bytes a byte: every byte may be one
    marks.resize(n);
  }

  example::vector<char> word, text, kept;
  example::vector<std::uint64_t> events;
  example::vector<std::int8_t> marks; // and then their sums
};

void filter_file(const std::string &word, example::line_chunks &chunks, example::progress show) {
  line_filter filter(word);
  std::uint64_t text_bytes = 0, kept_bytes = 0;
  const double begin = example::now();
  while (chunks.next()) {
    if (word.empty()) {
      example::write(chunks.data(), chunks.size);
      kept_bytes += chunks.size;
    } else {
      filter.select(chunks.data(), chunks.size);
      example::write(filter.lines.data(), filter.lines.size());
      kept_bytes += filter.lines.size();
    }
    text_bytes += chunks.size;
    show(text_bytes);
  }
  const double seconds = example::now() - begin;

  std::fprintf(stderr, "kept    %zu of %zu bytes\n", std::size_t(kept_bytes),
               std::size_t(text_bytes));
  if (text_bytes == 0) return;
  if (!word.empty())
    std::fprintf(stderr, "filter  %.2f GB/s of text on the %s\n",
                 text_bytes * 1e-9 / filter.seconds, example::processor);
  std::fprintf(stderr, "whole   %.2f GB/s of text, reading and writing included\n",
               text_bytes * 1e-9 / seconds);
}

void filter_log(const std::vector<std::string> &arguments) {
  if (arguments.size() < 2 || arguments.size() > 3)
    throw example::bad_input("usage: filter_log WORD FILE [CHUNK_BYTES]");
  const std::string &word = arguments[0], &path = arguments[1];
  if (word.find('\n') != std::string::npos)
    throw example::bad_input("WORD must not contain a newline: it is searched for in single lines");
  const std::uint64_t chunk_bytes =
      arguments.size() > 2 ? example::number(arguments[2], "CHUNK_BYTES", 1, 1 << 30) : 32 << 20;
  example::line_chunks chunks(path,
                              chunk_bytes); // an unreadable file is reported before a missing GPU
  example::require_another_file(path);
  example::require_processor();

  std::error_code not_regular;
  const std::uint64_t size = std::filesystem::file_size(path, not_regular);
  try {
    filter_file(word, chunks, {"filtering", not_regular ? 0 : size});
  } catch (const std::bad_alloc &) {
    throw example::bad_input(
        "out of memory: a chunk takes about 14 bytes per byte, and contains at least "
        "one line; choose a smaller CHUNK_BYTES");
  }
}

} // namespace

int main(int argc, char **argv) { return example::run(argc, argv, filter_log); }
