// SPDX-License-Identifier: MIT
// What the examples need around their scans: the processor they run on, arguments, files, progress,
// exit status.
#pragma once

#include <lookback/execution_policy.cuh>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#include <thrust/device_vector.h>
#else
#include <thrust/host_vector.h>
#endif

namespace example {

// The one difference between the two processors: nvcc builds for the GPU, any other compiler for
// the CPU.
#if defined(__CUDACC__)
constexpr const char *processor = "GPU";
const auto &policy = lookback::par;
template <class T>
using vector = thrust::device_vector<T>;
#else
constexpr const char *processor = "CPU";
const auto &policy = lookback::host;
template <class T>
using vector = thrust::host_vector<T>;
#endif

/// Exit status 2: the user can put this right.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Exit status 77.
struct no_gpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require_processor() {
#if defined(__CUDACC__)
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    throw no_gpu("skipped: no CUDA device");
  // Any other error is a GPU that does not answer.
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
#endif
}

/// The whole of `text` as a number from `first` to `last`.
inline std::uint64_t number(const std::string &text, const char *name, std::uint64_t first,
                            std::uint64_t last) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < first || value > last)
    throw bad_input(std::string(name) + " must be a whole number from " + std::to_string(first) +
                    " to " + std::to_string(last) + ", not '" + text + "'");
  return value;
}

inline std::ifstream open(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw bad_input("cannot open '" + path + "': " + std::strerror(errno));
  return file;
}

/// As many of the next n bytes as the file has.
inline std::size_t read(std::ifstream &file, const std::string &path, char *bytes, std::size_t n) {
  errno = 0;
  file.read(bytes, std::streamsize(n));
  if (file.bad()) throw bad_input("cannot read '" + path + "': " + std::strerror(errno));
  return std::size_t(file.gcount());
}

/// Reads a file in chunks of whole lines, the last of which gets a newline if it lacks one.
class line_chunks {
public:
  line_chunks(const std::string &path, std::size_t chunk_bytes)
      : file(open(path)), path(path), chunk_bytes(chunk_bytes) {}

  /// Reads the next lines. False at the end of the file.
  bool next() {
    // This chunk begins with the incomplete line that was read after the previous one.
    std::copy(buffer.begin() + size, buffer.begin() + filled, buffer.begin());
    filled -= size;
    for (size = 0; size == 0;) {
      const std::size_t wanted = filled < chunk_bytes ? chunk_bytes - filled : chunk_bytes;
      if (buffer.size() <= filled + wanted) buffer.resize(filled + wanted + 1);
      const std::size_t n = read(file, path, data() + filled, wanted);
      if (n == 0) {
        if (filled > 0) buffer[filled++] = '\n';
        size = filled;
        return size > 0;
      }
      // The bytes before these n have no newline.
      const std::size_t last_newline = std::string_view(data() + filled, n).rfind('\n');
      if (last_newline != std::string_view::npos) size = filled + last_newline + 1;
      filled += n;
    }
    return true;
  }

  char *data() { return buffer.data(); }

  std::size_t size = 0; // of the lines, in bytes

private:
  std::ifstream file;
  std::string path;
  std::size_t chunk_bytes, filled = 0;
  std::vector<char> buffer; // the lines, then the beginning of the next one: `filled` bytes
};

/// Reading a file while appending to it would not end.
inline void require_another_file(const std::string &path) {
  std::error_code not_comparable;
  if (std::filesystem::is_regular_file(path, not_comparable) &&
      std::filesystem::equivalent(path, "/dev/stdout", not_comparable))
    throw bad_input("'" + path + "' is also the output: redirect the output to another file");
}

inline void write(const char *bytes, std::size_t n) {
  // Flushed, so that no error is left for the end of the program.
  if (std::fwrite(bytes, 1, n, stdout) != n || std::fflush(stdout) != 0)
    throw bad_input(std::string("cannot write the lines: ") + std::strerror(errno));
}

/// Says on stderr how far a large file is, every 10 %.
class progress {
public:
  progress(const char *stage, std::uint64_t size)
      : stage(stage), size(size > (64 << 20) ? size : 0) {}
  void operator()(std::uint64_t done) {
    // A file may grow while it is read: nothing beyond 100 %.
    if (size == 0 || std::min(done, size) * 10 / size <= tenths) return;
    tenths = std::min(done, size) * 10 / size;
    std::fprintf(stderr, "%s: %d %% of %.1f GB\n", stage, int(tenths * 10), size * 1e-9);
  }

private:
  const char *stage;
  std::uint64_t size, tenths = 0;
};

/// The exit status of `program(arguments)`, after a message where it is not 0.
template <class Program>
int run(int argc, char **argv, Program program) {
  try {
    program(std::vector<std::string>(argv + 1, argv + argc));
    return 0;
  } catch (const bad_input &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const no_gpu &error) {
    std::puts(error.what());
    return 77;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    return 1;
  }
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace example
