// SPDX-License-Identifier: MIT
// Running totals of a table. Every number becomes the sum of the numbers from the top of its column
// to itself, or from the first row of its group.
//
//   cumulative_table [--group COLUMN] [--chunk BYTES] [--check] FILE
//   cumulative_table --make ROWS COLUMNS SEED
//
// reads comma-separated numbers and writes the totals to standard output; to standard error how
// fast that was. Rows with equal numbers in column COLUMN, one after another, are a group, and that
// column is copied. --check compares every total with that of a serial pass. --make writes a table
// to try it on, whose first column numbers groups.
//
// A number has at most 12 digits before the point and 6 after it, and no exponent. Totals are
// exact: they are sums of 128-bit integers, in millionths. The file may have any size: chunks of at
// most BYTES (32 MiB by default), cut at the ends of lines, pass through memory, where they take up
// to 33 bytes per byte. A longer line makes its chunk longer.
//
// A chunk takes three steps:
//
//   1. copy_if selects the ends of the numbers: commas and newlines.
//   2. copy_if counts the fields that are no number, or whose line has another number of columns
//      than the first. There must be none.
//   3. A scan of the numbers, which it reads from the text: one down all columns at once, or, with
//      groups, one by key for each column.
//
// The totals of the rows before the chunk are added when the results are written.
#include "example.cuh"

#include <lookback/axis_scan.cuh>

#include <thrust/copy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

#include <filesystem>
#include <new>
#include <random>

namespace {

__extension__ typedef __int128 total; // in millionths
constexpr int whole_digits = 12, decimals = 6;

struct parsed {
  std::int64_t millionths;
  bool valid;
};
/// The number of the text from `first` to `last`, with blanks around it.
LOOKBACK_HOST_DEVICE inline parsed parse(const char *first, const char *last) {
  const auto is_blank = [](char byte) { return byte == ' ' || byte == '\t'; };
  while (first < last && is_blank(*first)) ++first;
  while (first < last && is_blank(last[-1])) --last;
  const bool is_negative = first < last && *first == '-';
  if (first < last && (*first == '-' || *first == '+')) ++first;
  std::int64_t value = 0;
  const auto read_digits = [&](int at_most) {
    int digits = 0;
    for (; first < last && *first >= '0' && *first <= '9' && digits < at_most; ++first, ++digits)
      value = value * 10 + (*first - '0');
    return digits;
  };
  const int before = read_digits(whole_digits);
  int after = 0;
  if (first < last && *first == '.') {
    ++first;
    after = read_digits(decimals);
  }
  for (int i = after; i < decimals; ++i) value *= 10;
  return {is_negative ? -value : value, first == last && before + after > 0};
}

/// The numbers of a text: number i ends before byte ends[i], a comma or a newline.
struct table {
  const char *text;
  const std::uint64_t *ends;
  std::uint64_t columns;

  LOOKBACK_HOST_DEVICE const char *begin(std::uint64_t i) const {
    return text + (i > 0 ? ends[i - 1] + 1 : 0);
  }
  LOOKBACK_HOST_DEVICE const char *end(std::uint64_t i) const {
    const char *const last = text + ends[i];
    return *last == '\n' && last > begin(i) && last[-1] == '\r' ? last - 1 : last;
  }
  LOOKBACK_HOST_DEVICE parsed number(std::uint64_t i) const { return parse(begin(i), end(i)); }
  /// Whether number i is none, or the end of its line is not that of the last column.
  LOOKBACK_HOST_DEVICE bool is_faulty(std::uint64_t i) const {
    return (text[ends[i]] == '\n') != ((i + 1) % columns == 0) || !number(i).valid;
  }
};

struct is_end {
  const char *text;
  LOOKBACK_HOST_DEVICE bool operator()(std::uint64_t position) const {
    return text[position] == ',' || text[position] == '\n';
  }
};
struct is_faulty {
  table numbers;
  LOOKBACK_HOST_DEVICE bool operator()(std::uint64_t i) const { return numbers.is_faulty(i); }
};
/// Number `first + i * step`, as a total.
struct number_at {
  table numbers;
  std::uint64_t first, step;
  LOOKBACK_HOST_DEVICE total operator()(std::uint64_t i) const {
    return numbers.number(first + i * step).millionths;
  }
};

/// The totals of a chunk of rows on the host, row by row or column by column.
struct chunk_totals {
  std::vector<total> of;
  std::uint64_t rows, row_step, column_step;
  const total &at(std::uint64_t row, std::uint64_t column) const {
    return of[row * row_step + column * column_step];
  }
};

/// Sums up the numbers of chunks.
class summation {
public:
  summation(std::string path, std::uint64_t group) : path_(std::move(path)), group_(group) {}

  /// The totals of a chunk of n > 0 bytes of whole lines, from its own first row on.
  chunk_totals scan(const char *host_text, std::size_t n) {
    if (columns_ == 0) find_columns(host_text);
    if (text_.size() < n) text_.resize(n), ends_.resize(n);
    thrust::copy(host_text, host_text + n, text_.begin());
    const double begin = example::now();
    const char *const text = thrust::raw_pointer_cast(text_.data());
    const auto position = thrust::make_counting_iterator(std::uint64_t{0});
    const auto ends_end =
        thrust::copy_if(example::policy, position, position + n, ends_.begin(), is_end{text});
    const table numbers{text, thrust::raw_pointer_cast(ends_.data()), columns_};
    const auto count = static_cast<std::uint64_t>(ends_end - ends_.begin());
    const auto faults = thrust::make_discard_iterator();
    if (thrust::copy_if(example::policy, position, position + count, faults, is_faulty{numbers}) !=
        faults)
      refuse(host_text, count);

    chunk_totals totals{std::vector<total>(count), count / columns_, columns_, 1};
    if (group_ == 0)
      scan_columns(numbers, totals);
    else
      scan_groups(numbers, totals);
    seconds += example::now() - begin;
    thrust::copy(totals_.begin(), totals_.begin() + count, totals.of.begin());
    rows += totals.rows;
    return totals;
  }
  std::uint64_t columns() const { return columns_; }

  std::uint64_t rows = 0;
  double seconds = 0; // without the copies of text and totals

private:
  void find_columns(const char *text) {
    columns_ = 1;
    for (; *text != '\n'; ++text) columns_ += *text == ',';
    if (group_ > columns_)
      throw example::bad_input("COLUMN must be at most " + std::to_string(columns_) + " for '" +
                               path_ + "', not " + std::to_string(group_));
  }

  void scan_columns(const table &numbers, const chunk_totals &totals) {
    totals_.resize(totals.of.size());
    const lookback::axis lines{1, std::int64_t(totals.rows), std::int64_t(columns_)};
    const auto values = thrust::make_transform_iterator(
        thrust::make_counting_iterator(std::uint64_t{0}), number_at{numbers, 0, 1});
    lookback::inclusive_axis_scan(example::policy, values, lines, totals_.begin());
  }
  void scan_groups(const table &numbers, chunk_totals &totals) {
    totals.row_step = 1, totals.column_step = totals.rows;
    totals_.resize(totals.of.size());
    keys_.resize(totals.rows);
    const auto row = thrust::make_counting_iterator(std::uint64_t{0});
    thrust::transform(example::policy, row, row + totals.rows, keys_.begin(),
                      number_at{numbers, group_ - 1, columns_});
    for (std::uint64_t column = 0; column < columns_; ++column) {
      const auto to = totals_.begin() + std::ptrdiff_t(column * totals.rows);
      const auto values =
          thrust::make_transform_iterator(row, number_at{numbers, column, columns_});
      if (column == group_ - 1)
        thrust::copy(keys_.begin(), keys_.begin() + totals.rows, to);
      else
        thrust::inclusive_scan_by_key(example::policy, keys_.begin(), keys_.begin() + totals.rows,
                                      values, to);
    }
  }

  /// Throws for the first of `count` numbers that is faulty: there is one.
  [[noreturn]] void refuse(const char *text, std::uint64_t count) const {
    std::vector<std::uint64_t> ends(count);
    thrust::copy(ends_.begin(), ends_.begin() + std::ptrdiff_t(count), ends.begin());
    const table numbers{text, ends.data(), columns_};
    std::uint64_t fault = 0;
    while (!numbers.is_faulty(fault)) ++fault;
    const std::uint64_t line = fault / columns_;
    std::uint64_t last = line * columns_;
    while (text[ends[last]] != '\n') ++last;
    const std::uint64_t found = last + 1 - line * columns_;
    const std::string where = "'" + path_ + "' line " + std::to_string(rows + line + 1);
    if (found != columns_)
      throw example::bad_input(where + " has another number of columns than line 1: " +
                               std::to_string(found) + ", not " + std::to_string(columns_));
    throw example::bad_input(
        where + ", column " + std::to_string(fault % columns_ + 1) +
        ": a number has at most 12 digits before the point and 6 after, not '" +
        std::string(numbers.begin(fault), numbers.end(fault)) + "'");
  }

  std::string path_;
  std::uint64_t group_, columns_ = 0;
  example::vector<char> text_;
  example::vector<std::uint64_t> ends_;
  example::vector<total> keys_, totals_;
};

/// Writes a number without zeros at its end.
void append(std::string &line, total millionths) {
  constexpr int scale = 1000000;
  char digits[48]; // backwards
  int n = 0;
  const bool is_negative = millionths < 0;
  int fraction = int(millionths % scale);
  total whole = millionths / scale;
  if (is_negative) fraction = -fraction, whole = -whole;
  for (int i = 0; i < decimals; ++i, fraction /= 10)
    if (n > 0 || fraction % 10 != 0) digits[n++] = char('0' + fraction % 10);
  if (n > 0) digits[n++] = '.';
  do {
    digits[n++] = char('0' + int(whole % 10));
    whole /= 10;
  } while (whole != 0);
  if (is_negative) digits[n++] = '-';
  while (n > 0) line += digits[--n];
}

/// Adds to the totals of a chunk those of the rows before it.
class carried_totals {
public:
  explicit carried_totals(std::uint64_t group) : group_(group) {}

  void add_to(chunk_totals &totals, std::uint64_t columns) {
    before_.resize(columns);
    std::uint64_t rows = totals.rows; // that continue those before
    if (group_ != 0) {
      rows = 0;
      while (has_key_ && rows < totals.rows && totals.at(rows, group_ - 1) == key_) ++rows;
      key_ = totals.at(totals.rows - 1, group_ - 1), has_key_ = true;
    }
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t column = 0; column < columns; ++column)
        if (column + 1 != group_)
          totals.of[row * totals.row_step + column * totals.column_step] += before_[column];
    for (std::uint64_t column = 0; column < columns; ++column)
      before_[column] = totals.at(totals.rows - 1, column);
  }

private:
  std::uint64_t group_;
  std::vector<total> before_;
  total key_ = 0;
  bool has_key_ = false;
};

/// Totals by a serial pass, number after number.
class serial_pass {
public:
  explicit serial_pass(std::uint64_t group) : group_(group) {}

  /// Throws where the totals of the chunk `text` are others.
  void check(const char *text, const chunk_totals &totals, std::uint64_t columns) {
    sums_.resize(columns);
    for (std::uint64_t row = 0; row < totals.rows; ++row, ++line_) {
      std::vector<total> own;
      for (std::uint64_t column = 0; column < columns; ++column) {
        const char *const end = text + std::strcspn(text, ",\n");
        own.push_back(number(text, end));
        text = end + 1;
      }
      const bool begins = group_ != 0 && (line_ == 1 || own[group_ - 1] != sums_[group_ - 1]);
      for (std::uint64_t column = 0; column < columns; ++column) {
        const bool anew = begins || column + 1 == group_;
        sums_[column] = anew ? own[column] : sums_[column] + own[column];
        if (sums_[column] == totals.at(row, column)) continue;
        std::string message = "the total of line " + std::to_string(line_) + ", column " +
                              std::to_string(column + 1) + " is ";
        append(message, totals.at(row, column));
        append(message += " by the scan and ", sums_[column]);
        throw std::runtime_error(message + " by a serial pass");
      }
    }
  }

private:
  /// As the standard library reads it.
  static total number(const char *first, const char *last) {
    while (*first == ' ' || *first == '\t') ++first;
    const bool is_negative = *first == '-';
    if (*first == '-' || *first == '+') ++first;
    std::int64_t whole = 0;
    std::uint32_t fraction = 0;
    first = std::from_chars(first, last, whole).ptr;
    const char *const point = first;
    if (first < last && *first == '.') first = std::from_chars(point + 1, last, fraction).ptr;
    for (std::ptrdiff_t digits = first == point ? 0 : first - point - 1; digits < decimals;
         ++digits)
      fraction *= 10;
    const total value = total(whole) * 1000000 + fraction;
    return is_negative ? -value : value;
  }

  std::uint64_t group_, line_ = 1;
  std::vector<total> sums_;
};

/// Writes `text`, if it is long enough, and empties it.
void write_longer_than(std::size_t bytes, std::string &text) {
  if (text.size() <= bytes) return;
  example::write(text.data(), text.size());
  text.clear();
}
constexpr std::size_t written_at_once = 1 << 20; // bytes

void write_totals(const chunk_totals &totals, std::uint64_t columns) {
  std::string text;
  for (std::uint64_t row = 0; row < totals.rows; ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      append(text, totals.at(row, column));
      text += column + 1 < columns ? ',' : '\n';
    }
    write_longer_than(written_at_once, text);
  }
  write_longer_than(0, text);
}

struct settings {
  std::string path;
  std::uint64_t group = 0, chunk_bytes = 32 << 20;
  bool checks = false;
};

void sum_up(const settings &wanted, example::line_chunks &chunks, example::progress show) {
  summation sums(wanted.path, wanted.group);
  carried_totals carried(wanted.group);
  serial_pass serial(wanted.group);
  std::uint64_t text_bytes = 0;
  const double begin = example::now();
  while (chunks.next()) {
    chunk_totals totals = sums.scan(chunks.data(), chunks.size);
    carried.add_to(totals, sums.columns());
    if (wanted.checks) serial.check(chunks.data(), totals, sums.columns());
    write_totals(totals, sums.columns());
    text_bytes += chunks.size;
    show(text_bytes);
  }
  const double seconds = example::now() - begin;
  std::fprintf(stderr, "table   %zu rows of %zu columns\n", std::size_t(sums.rows),
               std::size_t(sums.columns()));
  if (wanted.checks) std::fprintf(stderr, "serial  the same totals\n");
  if (text_bytes == 0) return;
  std::fprintf(stderr, "scan    %.2f GB/s of text on the %s\n", text_bytes * 1e-9 / sums.seconds,
               example::processor);
  std::fprintf(stderr, "whole   %.2f GB/s of text, reading and writing included\n",
               text_bytes * 1e-9 / seconds);
}

/// Writes a table of random numbers, with groups of up to 1000 rows.
void make_table(std::uint64_t rows, std::uint64_t columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  std::uint64_t left = 0, key = 0; // of the group
  for (std::uint64_t row = 0; row < rows; ++row, --left) {
    if (left == 0) left = 1 + random() % 1000, ++key;
    text += std::to_string(key);
    for (std::uint64_t column = 1; column < columns; ++column)
      append(text += ',', std::int64_t(random() % 2000000000) - 1000000000);
    text += '\n';
    write_longer_than(written_at_once, text);
  }
  write_longer_than(0, text);
}

constexpr const char *usage =
    "usage: cumulative_table [--group COLUMN] [--chunk BYTES] [--check] FILE\n"
    "       cumulative_table --make ROWS COLUMNS SEED";

settings read_settings(const std::vector<std::string> &arguments) {
  settings wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 2 < arguments.size(); // the last argument is the file
    if (arguments[i] == "--check")
      wanted.checks = true;
    else if (arguments[i] == "--group" && has_value)
      wanted.group = example::number(arguments[++i], "COLUMN", 1, UINT64_MAX);
    else if (arguments[i] == "--chunk" && has_value)
      wanted.chunk_bytes = example::number(arguments[++i], "BYTES", 1, 1 << 30);
    else if (i + 1 == arguments.size() && arguments[i].rfind("--", 0) != 0)
      wanted.path = arguments[i];
    else
      throw example::bad_input(usage);
  }
  if (wanted.path.empty()) throw example::bad_input(usage);
  return wanted;
}

void cumulative_table(const std::vector<std::string> &arguments) {
  if (arguments.size() == 4 && arguments[0] == "--make")
    return make_table(example::number(arguments[1], "ROWS", 0, UINT64_MAX),
                      example::number(arguments[2], "COLUMNS", 1, 1 << 20),
                      example::number(arguments[3], "SEED", 0, UINT64_MAX));
  const settings wanted = read_settings(arguments);
  // An unreadable file is reported before a missing GPU.
  example::line_chunks chunks(wanted.path, wanted.chunk_bytes);
  example::require_another_file(wanted.path);
  example::require_processor();
  std::error_code not_regular;
  const std::uint64_t size = std::filesystem::file_size(wanted.path, not_regular);
  try {
    sum_up(wanted, chunks, {"adding", not_regular ? 0 : size});
  } catch (const std::bad_alloc &) {
    throw example::bad_input("out of memory: a chunk takes up to 33 bytes per byte, and contains "
                             "at least one line; choose a smaller BYTES");
  }
}

} // namespace

int main(int argc, char **argv) { return example::run(argc, argv, cumulative_table); }
