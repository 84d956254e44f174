// SPDX-License-Identifier: MIT
// The reduction tree as its definition reads, with nothing in common with the code under test.
// Every operand that does not exist is an empty optional and is skipped. Slow on purpose: what is
// written once cannot disagree with itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace test {

/// Elements in a vector, a row, a tile and a group, for elements of the given bytes in and out.
struct tree_sizes {
  tree_sizes(std::size_t bytes_in, std::size_t bytes_out) {
    const std::size_t bytes = std::max(bytes_in, bytes_out);
    vector = 1;
    while (2 * vector * bytes <= 16) vector *= 2;
    std::size_t rows = 32;
    for (std::size_t widest = 16; widest < bytes && rows > 1; widest *= 2) rows /= 2;
    row = 32 * vector, tile = rows * row, group = 32 * tile;
  }
  std::size_t vector, row, tile, group;
};

template <class T, class Operator>
std::optional<T> join(const std::optional<T> &a, const std::optional<T> &b, Operator op) {
  if (!a) return b;
  if (!b) return a;
  return std::optional<T>(static_cast<T>(op(*a, *b)));
}

/// Inclusive results of the network over at most 32 values.
template <class T, class Operator>
std::vector<std::optional<T>> kogge_stone(const std::vector<std::optional<T>> &values,
                                          Operator op) {
  std::vector<std::optional<T>> current = values;
  for (std::size_t offset = 1; offset < 32; offset *= 2) {
    const std::vector<std::optional<T>> before = current;
    for (std::size_t l = offset; l < current.size(); ++l)
      current[l].emplace(*join(before[l - offset], before[l], op));
  }
  return current;
}

/// One level: `inside` is what precedes each unit within its parent, `totals` are the parents'
/// totals.
template <class T>
struct tree_level {
  std::vector<std::optional<T>> inside, totals;
};

template <class T, class Operator>
tree_level<T> scan_level(const std::vector<std::optional<T>> &units, std::size_t units_per_parent,
                         Operator op) {
  tree_level<T> level;
  for (std::size_t first = 0; first < units.size(); first += units_per_parent) {
    const std::size_t last = std::min(units.size(), first + units_per_parent);
    const auto inclusive = kogge_stone<T>({units.begin() + first, units.begin() + last}, op);
    level.inside.push_back(std::nullopt);
    level.inside.insert(level.inside.end(), inclusive.begin(), inclusive.end() - 1);
    level.totals.push_back(inclusive.back());
  }
  return level;
}

/// For each element, what the tree makes of everything before it, and of that and the element.
template <class T>
struct tree_results {
  std::vector<std::optional<T>> before, through;
};

template <class T, class Operator>
tree_results<T> scan_tree(const std::vector<T> &elements, Operator op, std::optional<T> init,
                          tree_sizes size) {
  std::vector<std::optional<T>> vectors; // totals
  for (std::size_t first = 0; first < elements.size(); first += size.vector) {
    std::optional<T> total;
    for (std::size_t i = first; i < std::min(elements.size(), first + size.vector); ++i)
      total.emplace(*join(total, std::optional<T>(elements[i]), op));
    vectors.push_back(total);
  }
  const tree_level<T> in_row = scan_level(vectors, 32, op);
  const tree_level<T> in_tile = scan_level(in_row.totals, size.tile / size.row, op);
  const tree_level<T> in_group = scan_level(in_tile.totals, 32, op);
  std::vector<std::optional<T>> before_group{init}; // G
  for (const auto &total : in_group.totals)
    before_group.push_back(join(before_group.back(), total, op));

  tree_results<T> results;
  for (std::size_t first = 0; first < elements.size(); first += size.vector) {
    const auto prefix =
        join(before_group[first / size.group], in_group.inside[first / size.tile], op);
    const auto row_base = join(prefix, in_tile.inside[first / size.row], op);
    std::optional<T> running = join(row_base, in_row.inside[first / size.vector], op);
    for (std::size_t i = first; i < std::min(elements.size(), first + size.vector); ++i) {
      results.before.push_back(running);
      running.emplace(*join(running, std::optional<T>(elements[i]), op));
      results.through.push_back(running);
    }
  }
  return results;
}

/// `elements` are accumulator values already; the bytes are those of the input's and the output's
/// values. An exclusive scan needs an initial value.
template <class T, class Operator>
std::vector<T> tree_scan(const std::vector<T> &elements, Operator op, std::optional<T> init,
                         bool inclusive, std::size_t bytes_in, std::size_t bytes_out) {
  const tree_results<T> results = scan_tree(elements, op, init, tree_sizes(bytes_in, bytes_out));
  std::vector<T> chosen;
  for (const auto &result : inclusive ? results.through : results.before) chosen.push_back(*result);
  return chosen;
}

/// By key: the same tree over pairs, a value and whether a segment starts at it. The pair is the
/// input's type.
template <class T>
struct headed {
  T value;
  bool head;
};
template <class T, class Operator>
struct segmented {
  Operator op;
  headed<T> operator()(const headed<T> &a, const headed<T> &b) const {
    return b.head ? b : headed<T>{static_cast<T>(op(a.value, b.value)), a.head};
  }
};

/// `init` belongs to exclusive scans alone: every segment starts from it.
template <class T, class Key, class Equal, class Operator>
std::vector<T> tree_scan_by_key(const std::vector<Key> &keys, const std::vector<T> &values,
                                Equal equal, Operator op, std::optional<T> init,
                                std::size_t bytes_out) {
  std::vector<headed<T>> elements;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool head = i == 0 || !equal(keys[i - 1], keys[i]);
    elements.push_back({init && head ? static_cast<T>(op(*init, values[i])) : values[i], head});
  }
  const auto scanned = scan_tree<headed<T>>(elements, segmented<T, Operator>{op}, {},
                                            tree_sizes(sizeof(T), bytes_out));
  std::vector<T> results;
  for (std::size_t i = 0; i < values.size(); ++i)
    results.push_back(!init              ? scanned.through[i]->value
                      : elements[i].head ? *init
                                         : scanned.before[i]->value);
  return results;
}

} // namespace test
