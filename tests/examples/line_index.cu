// SPDX-License-Identifier: MIT
// Where does every line of a text file start? One transform scan numbers the lines, one scatter
// stores where they start.
//
//   line_index [--memory BYTES] FILE [LINE [CHUNK_BYTES]]
//
// prints the number of lines, the longest line, and the offset of line LINE (the middle one by
// default). Lines count from 1. A line ends with "\n" or "\r\n", which its length leaves out; the
// last may lack it. The file may have any size: chunks of CHUNK_BYTES (64 MiB by default) pass
// through memory, where they take 10 to 18 bytes per byte; what stays is 8 bytes per line.
//
// With --memory, the GPU's memory may be smaller than a chunk (1 GiB by default, then): if a chunk
// takes more than BYTES, it stays in the host's memory, with 8 bytes per byte, and the scan uses at
// most BYTES of the GPU's.
#include "example.cuh"

#include <lookback/out_of_core.cuh>

#include <cuda/std/functional>
#include <thrust/copy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scatter.h>
#include <thrust/transform_scan.h>

#include <algorithm>
#include <filesystem>

namespace {

struct is_newline {
  LOOKBACK_HOST_DEVICE std::uint64_t operator()(char byte) const { return byte == '\n'; }
};

/// The starts of the lines of a text that arrives in chunks.
class line_starts {
public:
  /// `memory`: bytes that a chunk may take on the GPU.
  explicit line_starts(std::uint64_t memory) : memory(memory) {}

  /// Takes the next n > 0 bytes of the text, of which before[i] is the byte before byte i: a
  /// newline before the first. A line starts at byte i when before[i] is a newline, and then it has
  /// as many lines before it in this chunk as before[0], ..., before[i - 1] have newlines. So one
  /// exclusive scan says where in the list each start belongs. The type of the initial value, 64
  /// bits here, is the type of the sums.
  void append(const char *before, std::size_t n) {
    if (n <= memory / 18)
      append_at_once(before, n);
    else
      append_out_of_core(before, n);
    text_bytes += n;
  }

  std::vector<std::uint64_t> all; // one start per line
  std::uint64_t text_bytes = 0;
  double scan_seconds = 0;

private:
  void append_at_once(const char *before, std::size_t n) {
    bytes.assign(before, before + n);
    place.resize(n); // 8 bytes a byte

    const double begin = example::now();
    thrust::transform_exclusive_scan(example::policy, bytes.begin(), bytes.end(), place.begin(),
                                     is_newline{}, std::uint64_t{0},
                                     cuda::std::plus<std::uint64_t>{});
    scan_seconds += example::now() - begin;

    const std::uint64_t count =
        place.back() + is_newline{}(before[n - 1]); // lines that start in this chunk
    if (starts.size() < count) starts.resize(count);
    const auto offset = thrust::make_counting_iterator(text_bytes);
    thrust::scatter_if(example::policy, offset, offset + n, place.begin(), bytes.begin(),
                       starts.begin(), is_newline{});

    all.resize(all.size() + count);
    thrust::copy(starts.begin(), starts.begin() + count, all.end() - count);
  }
  /// The same in the host's memory, through the GPU's.
  void append_out_of_core(const char *before, std::size_t n) {
    place_on_host.resize(n);
    lookback::out_of_core::options limits;
    limits.device_bytes = memory;

    const double begin = example::now();
    lookback::out_of_core::transform_exclusive_scan(
        example::policy, before, before + n, place_on_host.data(), is_newline{}, std::uint64_t{0},
        cuda::std::plus<std::uint64_t>{}, limits);
    scan_seconds += example::now() - begin;

    const std::uint64_t count = place_on_host.back() + is_newline{}(before[n - 1]);
    all.resize(all.size() + count);
    const auto offset = thrust::make_counting_iterator(text_bytes);
    thrust::scatter_if(lookback::host, offset, offset + n, place_on_host.begin(), before,
                       all.end() - count, is_newline{});
  }

  std::uint64_t memory;
  example::vector<char> bytes;
  example::vector<std::uint64_t> place, starts; // of the lines of one chunk
  std::vector<std::uint64_t> place_on_host;
};

struct line {
  std::uint64_t number = 0, length = 0;
};

std::string summary(std::uint64_t lines, std::uint64_t bytes, line longest) {
  const std::string all = std::to_string(lines) + " lines in " + std::to_string(bytes) + " bytes";
  if (lines == 0) return all;
  return all + ", the longest is line " + std::to_string(longest.number) + " with " +
         std::to_string(longest.length) + " bytes";
}

/// Indexes the file and returns its summary. Of several longest lines the first counts.
std::string index_file(const std::string &path, std::uint64_t size, std::size_t chunk_bytes,
                       line_starts &index) {
  std::ifstream file = example::open(path);
  example::progress show("indexing", size);
  line longest;
  // The line ends before byte `end` of the text, with these two bytes.
  const auto finish_line = [&](std::uint64_t number, std::uint64_t end, char last_but_one,
                               char last) {
    std::uint64_t length = end - index.all[number - 1];
    if (last == '\n') length -= length > 1 && last_but_one == '\r' ? 2 : 1;
    if (number == 1 || length > longest.length) longest = {number, length};
  };

  std::vector<char> chunk(chunk_bytes + 2); // the two bytes before the chunk, then the chunk
  chunk[1] = '\n';                          // the first line starts as if after a newline
  while (const std::size_t n = example::read(file, path, chunk.data() + 2, chunk_bytes)) {
    const std::uint64_t offset = index.text_bytes;
    const std::size_t known = index.all.size();
    index.append(chunk.data() + 1, n);
    // Every line but the first ends the one before it.
    for (std::size_t i = std::max(known, std::size_t(1)); i < index.all.size(); ++i)
      finish_line(i, index.all[i], chunk[index.all[i] - offset], '\n');
    chunk[0] = chunk[n];
    chunk[1] = chunk[n + 1];
    show(index.text_bytes);
  }
  if (!index.all.empty()) finish_line(index.all.size(), index.text_bytes, chunk[0], chunk[1]);
  return summary(index.all.size(), index.text_bytes, longest);
}

/// The summary by a serial pass, byte after byte. Throws where a line starts at another byte than
/// in the index.
std::string serial_pass(const std::string &path, std::uint64_t size, const line_starts &index) {
  std::ifstream file = example::open(path);
  example::progress show("checking", size);
  line longest;
  std::uint64_t position = 0, lines = 0, start = 0;
  const auto finish_line = [&](std::uint64_t length) {
    if (lines == 1 || length > longest.length) longest = {lines, length};
  };

  std::vector<char> block(1 << 20);
  char previous = '\n';
  while (const std::size_t n = example::read(file, path, block.data(), block.size())) {
    for (std::size_t i = 0; i < n; ++i, ++position) {
      if (previous == '\n') {
        start = position;
        if (lines == index.all.size() || index.all[lines] != start)
          throw std::runtime_error("the index is wrong: by a serial pass, line " +
                                   std::to_string(lines + 1) + " starts at byte " +
                                   std::to_string(start));
        ++lines;
      }
      if (block[i] == '\n') finish_line(position - start - (previous == '\r'));
      previous = block[i];
    }
    show(position);
  }
  if (previous != '\n') finish_line(position - start);

  return summary(lines, position, longest);
}

void line_index(std::vector<std::string> arguments) {
  std::uint64_t memory = UINT64_MAX, chunk_bytes = 64 << 20;
  if (arguments.size() > 1 && arguments[0] == "--memory") {
    memory = example::number(arguments[1], "BYTES", 4 << 20, UINT64_MAX); // 4 groups of the tree
    chunk_bytes = 1 << 30;
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.empty() || arguments.size() > 3)
    throw example::bad_input("usage: line_index [--memory BYTES] FILE [LINE [CHUNK_BYTES]]");
  const std::string &path = arguments[0];
  std::uint64_t wanted =
      arguments.size() > 1 ? example::number(arguments[1], "LINE", 1, UINT64_MAX) : 0;
  if (arguments.size() > 2) chunk_bytes = example::number(arguments[2], "CHUNK_BYTES", 1, 1 << 30);
  std::error_code not_regular;
  const std::uint64_t size = std::filesystem::file_size(path, not_regular);
  if (not_regular)
    throw example::bad_input("cannot index '" + path + "': " + not_regular.message());
  example::open(path); // an unreadable file is reported before a missing GPU
  example::require_processor();

  line_starts index(memory);
  const double begin = example::now();
  const std::string indexed =
      index_file(path, size, std::clamp<std::uint64_t>(size, 1, chunk_bytes), index);
  const double seconds = example::now() - begin;
  const std::string serial = serial_pass(path, size, index);
  if (serial != indexed)
    throw std::runtime_error("the index is wrong: it has " + indexed + "; a serial pass finds " +
                             serial);

  const std::uint64_t lines = index.all.size();
  if (wanted > lines)
    throw example::bad_input("there is no line " + std::to_string(wanted) + ": '" + path +
                             "' has " + std::to_string(lines) + " lines");
  if (wanted == 0) wanted = (lines + 1) / 2;

  std::printf("index   %s\nserial  the same\n", indexed.c_str());
  if (lines == 0) return;
  std::printf("offset  line %zu starts at byte %zu\n", std::size_t(wanted),
              std::size_t(index.all[wanted - 1]));
  std::printf("scan    %.2f GB/s of text on the %s\n", index.text_bytes * 1e-9 / index.scan_seconds,
              example::processor);
  std::printf("whole   %.2f GB/s of text, reading the file included\n",
              index.text_bytes * 1e-9 / seconds);
}

} // namespace

int main(int argc, char **argv) { return example::run(argc, argv, line_index); }
