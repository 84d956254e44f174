// SPDX-License-Identifier: MIT
// The 16 scans of Thrust as lists of (name, expected results, call), for any policy. `Functions` is
// where the calls are looked up: namespace thrust, or lookback's free functions.
#pragma once

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace test {

using word = std::uint32_t;
using words = std::vector<word>;

/// Device addresses of the arguments of a call.
struct scan_arguments {
  const word *in;
  const word *in_end;
  const word *keys;
  word *out;
};

inline constexpr word initial = 0x10001;

/// `visit(name, expected, call)` with `call(policy, arguments)`, for the nine scans without keys.
template <class Functions, class Visit>
void visit_scans(const words &in, Visit visit) {
  const compose_words op{};
  const triple_plus_one<word> f{};
  const words mapped = transformed<word>(in, f);
  visit("inclusive_scan(plain)", serial_inclusive(in, plus<word>{}),
        [](const auto &policy, scan_arguments a) {
          return Functions::inclusive_scan(policy, a.in, a.in_end, a.out);
        });
  visit("inclusive_scan(op)", serial_inclusive(in, op), [=](const auto &policy, scan_arguments a) {
    return Functions::inclusive_scan(policy, a.in, a.in_end, a.out, op);
  });
  visit("inclusive_scan(init, op)", serial_inclusive<word>(in, op, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::inclusive_scan(policy, a.in, a.in_end, a.out, initial, op);
        });
  visit("exclusive_scan(plain)", serial_exclusive(in, plus<word>{}, word{0}),
        [](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan(policy, a.in, a.in_end, a.out);
        });
  visit("exclusive_scan(init)", serial_exclusive(in, plus<word>{}, initial),
        [](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan(policy, a.in, a.in_end, a.out, initial);
        });
  visit("exclusive_scan(init, op)", serial_exclusive(in, op, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan(policy, a.in, a.in_end, a.out, initial, op);
        });
  visit("transform_inclusive_scan(op)", serial_inclusive(mapped, op),
        [=](const auto &policy, scan_arguments a) {
          return Functions::transform_inclusive_scan(policy, a.in, a.in_end, a.out, f, op);
        });
  visit("transform_inclusive_scan(init, op)", serial_inclusive<word>(mapped, op, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::transform_inclusive_scan(policy, a.in, a.in_end, a.out, f, initial, op);
        });
  visit("transform_exclusive_scan(init, op)", serial_exclusive(mapped, op, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::transform_exclusive_scan(policy, a.in, a.in_end, a.out, f, initial, op);
        });
}

/// The same for the seven by key.
template <class Functions, class Visit>
void visit_scans_by_key(const words &keys, const words &in, Visit visit) {
  const compose_words op{};
  const same_octave same{};
  const std::equal_to<word> equal{};
  visit("inclusive_scan_by_key(plain)", serial_inclusive_by_key(keys, in, equal, plus<word>{}),
        [](const auto &policy, scan_arguments a) {
          return Functions::inclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out);
        });
  visit("inclusive_scan_by_key(pred)", serial_inclusive_by_key(keys, in, same, plus<word>{}),
        [=](const auto &policy, scan_arguments a) {
          return Functions::inclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out, same);
        });
  visit("inclusive_scan_by_key(pred, op)", serial_inclusive_by_key(keys, in, same, op),
        [=](const auto &policy, scan_arguments a) {
          return Functions::inclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out, same, op);
        });
  visit("exclusive_scan_by_key(plain)",
        serial_exclusive_by_key(keys, in, equal, plus<word>{}, word{0}),
        [](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out);
        });
  visit("exclusive_scan_by_key(init)",
        serial_exclusive_by_key(keys, in, equal, plus<word>{}, initial),
        [](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out, initial);
        });
  visit("exclusive_scan_by_key(init, pred)",
        serial_exclusive_by_key(keys, in, same, plus<word>{}, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out, initial, same);
        });
  visit("exclusive_scan_by_key(init, pred, op)",
        serial_exclusive_by_key(keys, in, same, op, initial),
        [=](const auto &policy, scan_arguments a) {
          return Functions::exclusive_scan_by_key(policy, a.keys, a.keys + (a.in_end - a.in), a.in,
                                                  a.out, initial, same, op);
        });
}

/// One family of functions as a type that can be handed around.
#define TEST_FUNCTION(scope, function)                                                             \
  template <class... Arguments>                                                                    \
  static auto function(Arguments &&...arguments) {                                                 \
    return scope::function(std::forward<Arguments>(arguments)...);                                 \
  }
#define TEST_FUNCTIONS(name, scope)                                                                \
  struct name {                                                                                    \
    TEST_FUNCTION(scope, inclusive_scan)                                                           \
    TEST_FUNCTION(scope, exclusive_scan)                                                           \
    TEST_FUNCTION(scope, transform_inclusive_scan)                                                 \
    TEST_FUNCTION(scope, transform_exclusive_scan)                                                 \
    TEST_FUNCTION(scope, inclusive_scan_by_key)                                                    \
    TEST_FUNCTION(scope, exclusive_scan_by_key)                                                    \
  }

} // namespace test
