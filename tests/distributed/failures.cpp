// SPDX-License-Identifier: MIT
// Distributed scans whose ranks make different calls, throw, or do not arrive: an error on every
// rank, and no hang. Under ThreadSanitizer, too.
#include <lookback/distributed.cuh>

#include <distributed/ranks.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace {

using lookback::host;
namespace distributed = lookback::distributed;
using communicator = distributed::threads::communicator_type;

struct maximum_that_throws {
  int at;
  int operator()(int a, int b) const {
    if (a == at || b == at) throw std::runtime_error("thrown by the operator");
    return a < b ? b : a;
  }
};

/// A communicator of the program: one rank.
struct alone {
  std::size_t *exchanged; // bytes
  int rank() const { return 0; }
  int size() const { return 1; }
  void all_gather(const void *record, std::size_t bytes, void *records) const {
    std::memcpy(records, record, bytes);
    *exchanged += bytes;
  }
  void abort() const noexcept { *exchanged = 0; }
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// `usual(ranks)` on all ranks but the last, `other(ranks)` there: all ranks name the difference,
/// and the group can be used on.
template <class Usual, class Other>
void check_difference(const char *difference, Usual usual, Other other) {
  INFO(doctest::String(difference));
  distributed::threads group(3);
  const auto errors = test::on_all_ranks(group, [&](const communicator &ranks) {
    try {
      if (ranks.rank() == 2)
        other(ranks);
      else
        usual(ranks);
    } catch (const std::invalid_argument &) {
      usual(ranks);
      throw;
    }
  });
  for (const std::string &error : errors) {
    INFO(error);
    CHECK(contains(error, "rank 2 and rank 0 differ in"));
    CHECK(contains(error, difference));
  }
}

/// The maximum of one sequence, 5 tiles a rank, in which 1000000 is at `thrown`. Returns the errors
/// of the ranks, and then of another call of the same group.
std::vector<std::string> throw_at(std::size_t thrown, std::vector<std::string> &later) {
  const std::size_t each = 5 * 4096 + 10;
  std::vector<int> x(4 * each, 1), y(x.size());
  x[thrown] = 1000000;
  distributed::threads group(4);
  const auto scan = [&](const communicator &ranks, int at) {
    const auto begin = static_cast<std::size_t>(ranks.rank()) * each;
    distributed::inclusive_scan(ranks, host, x.data() + begin, x.data() + begin + each,
                                y.data() + begin, maximum_that_throws{at});
  };
  const auto errors =
      test::on_all_ranks(group, [&](const communicator &ranks) { scan(ranks, 1000000); });
  later = test::on_all_ranks(group, [&](const communicator &ranks) { scan(ranks, 2); });
  return errors;
}

} // namespace

TEST_CASE("distributed scans: calls that differ") {
  static const float x[4] = {1, 2, 3, 4};
  static const int keys[4] = {1, 1, 2, 2};
  const lookback::plus plus{};
  const auto usual = [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan(ranks, host, x, x + 4, y, plus);
  };
  check_difference("inclusive or exclusive", usual, [&](const communicator &ranks) {
    float y[4];
    distributed::exclusive_scan(ranks, host, x, x + 4, y, 0.0f, plus);
  });
  check_difference("the initial value", usual, [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan(ranks, host, x, x + 4, y, 0.0f, plus);
  });
  check_difference("the type of the accumulator", usual, [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan(ranks, host, x, x + 4, y, 0.0, plus);
  });
  check_difference("the size of an element", usual, [&](const communicator &ranks) {
    double y[4];
    distributed::inclusive_scan(ranks, host, x, x + 4, y, plus);
  });
  check_difference("the type of the operator", usual, [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan(ranks, host, x, x + 4, y, test::maximum<float>{});
  });
  const auto by_key = [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan_by_key(ranks, host, keys, keys + 4, x, y);
  };
  check_difference("the types of keys and comparison", usual, by_key);
  check_difference("the types of keys and comparison", by_key, [&](const communicator &ranks) {
    float y[4];
    distributed::inclusive_scan_by_key(ranks, host, keys, keys + 4, x, y, test::same_octave{});
  });
}

TEST_CASE("distributed scans: an exception while other ranks wait") {
  std::vector<std::string> later;
  const auto errors = throw_at(6 * 4096, later); // rank 1, before the aggregates are exchanged
  for (std::size_t rank = 0; rank < 4; ++rank) {
    INFO(errors[rank]);
    CHECK_EQ(errors[rank] == "thrown by the operator", rank == 1);
    CHECK_EQ(contains(errors[rank], "rank 1 of a group of threads has left"), rank != 1);
    CHECK(contains(later[rank], "rank 1 of a group of threads has left"));
  }
}

TEST_CASE("distributed scans: an exception after the exchange") {
  std::vector<std::string> later;
  const auto errors = throw_at(20 * 4096, later); // on the last rank, for which no other waits
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK_EQ(errors[rank], rank == 3 ? "thrown by the operator" : "");
    CHECK(contains(later[rank], "rank 3 of a group of threads has left"));
  }
}

TEST_CASE("distributed scans: a rank that does not arrive, and one that does twice") {
  const int x[3] = {1, 2, 3};
  int y[9] = {};
  const auto scan = [&](const communicator &ranks, int place) {
    distributed::inclusive_scan(ranks, host, x, x + 3, y + 3 * place);
  };
  distributed::threads group(3, std::chrono::milliseconds(50));
  auto errors = test::on_all_ranks(group, [&](const communicator &ranks) {
    if (ranks.rank() != 1) scan(ranks, ranks.rank());
  });
  CHECK(contains(errors[0], "has waited until the deadline for rank"));
  CHECK_EQ(errors[1], "");
  CHECK_EQ(errors[2], errors[0]);

  distributed::threads other(2);
  std::atomic<int> place{0};
  errors = test::on_all_ranks(other,
                              [&](const communicator &) { scan(other.communicator(1), place++); });
  for (const std::string &error : errors)
    CHECK(contains(error, "rank 1 of a group of threads is used by two threads"));

  distributed::threads third(2);
  errors = test::on_all_ranks(third, [&](const communicator &ranks) {
    int all[4];
    ranks.all_gather(x, ranks.rank() == 0 ? 4 : 8, all);
  });
  for (const std::string &error : errors) CHECK(contains(error, "a record of another size"));
}

/// A GPU's rank may be unable to take part, for example because its stream is being captured.
TEST_CASE("distributed scans: a rank that cannot take part") {
  const int x[3] = {1, 2, 3};
  int y[9] = {};
  distributed::threads group(3);
  const auto errors = test::on_all_ranks(group, [&](const communicator &ranks) {
    const auto scan = [&] {
      distributed::inclusive_scan(ranks, host, x, x + 3, y + 3 * ranks.rank());
    };
    if (ranks.rank() == 1) {
      lookback::detail::call_record own{}, all[3];
      own.items = lookback::detail::call_record::refuses;
      ranks.all_gather(&own, sizeof own, all);
    } else {
      CHECK_THROWS_WITH_AS(scan(),
                           "lookback: rank 1 of a distributed scan cannot take part: its stream is "
                           "being captured",
                           std::invalid_argument);
    }
    scan(); // the group can be used on
  });
  for (const std::string &error : errors) CHECK_EQ(error, "");
  CHECK_EQ(y[8], 18);
}

/// The other rank waits in a later exchange, and ends with an error.
TEST_CASE("distributed scans: another length than the known one") {
  const int x[3] = {1, 2, 3};
  int y[6] = {};
  distributed::threads group(2);
  const auto errors = test::on_all_ranks(group, [&](const communicator &ranks) {
    const distributed::known_shards<communicator> shards(ranks, {3, 2});
    distributed::inclusive_scan(shards, host, x, x + 3, y + 3 * ranks.rank());
  });
  CHECK(contains(errors[0], "rank 1 of a group of threads has left a call"));
  CHECK_EQ(errors[1], "lookback: known_shards: rank 1 passes 3 elements, but its length is 2");
}

TEST_CASE("distributed scans: known lengths that cannot be") {
  std::size_t exchanged = 7;
  const alone ranks{&exchanged};
  using shards = distributed::known_shards<alone>;
  CHECK_THROWS_WITH_AS(shards(ranks, {}), "lookback: known_shards has 0 lengths for 1 ranks",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(shards(ranks, {-1}),
                       "lookback: known_shards: the length of rank 0 is negative",
                       std::invalid_argument);
  CHECK_EQ(exchanged, 7);
  int x[3] = {1, 2, 3};
  distributed::inclusive_scan(shards(ranks, {3}), host, x, x + 3, x);
  CHECK_EQ(x[2], 6);
  CHECK_EQ(exchanged, 7); // one rank has nothing to exchange
}

TEST_CASE("distributed scans: a communicator without the rank that it names") {
  struct misplaced : alone {
    int rank() const { return 1; }
  };
  std::size_t exchanged = 1;
  int x[3] = {1, 2, 3};
  CHECK_THROWS_WITH_AS(
      distributed::inclusive_scan(misplaced{{&exchanged}}, host, x, x + 3, x),
      "lookback: the communicator of a distributed scan says that it has rank 1 of 1 ranks",
      std::invalid_argument);
  CHECK_EQ(exchanged, 0); // abort() was called
}

TEST_CASE("groups of threads: arguments") {
  CHECK_THROWS_AS(distributed::threads(0), std::invalid_argument);
  CHECK_THROWS_AS(distributed::threads(2, std::chrono::milliseconds(0)), std::invalid_argument);
  distributed::threads group(2);
  CHECK_EQ(group.size(), 2);
  CHECK_EQ(group.communicator(1).size(), 2);
  CHECK_THROWS_AS(group.communicator(2), std::out_of_range);
  CHECK_THROWS_AS(group.communicator(-1), std::out_of_range);
}

TEST_CASE("distributed scans: a communicator of the program") {
  std::size_t exchanged = 0;
  std::vector<int> x(100000, 1);
  distributed::inclusive_scan(alone{&exchanged}, host, x.begin(), x.end(), x.begin());
  CHECK_EQ(x.back(), 100000);
  CHECK_GT(exchanged, 0); // the lengths
  CHECK_LE(exchanged, 64);
  CHECK_THROWS_AS(distributed::inclusive_scan(alone{&exchanged}, host, x.begin(), x.end(),
                                              x.begin(), maximum_that_throws{2}),
                  std::runtime_error);
  CHECK_EQ(exchanged, 0); // abort() was called
}

TEST_CASE("distributed scans: many calls of one group, shards of all lengths") {
  TEST_RANDOM(random);
  const int count = 6;
  const std::size_t calls = 20, n = 300000;
  const auto x = test::random_values<float>(n, random);
  std::vector<float> expected(n);
  lookback::inclusive_scan(host, x.data(), x.data() + n, expected.data());
  std::vector<std::vector<std::size_t>> cuts(calls);
  for (auto &each : cuts) {
    each = {0, n};
    while (each.size() <= count) each.push_back(random() % n);
    std::sort(each.begin(), each.end());
  }
  std::vector<std::vector<float>> y(calls, std::vector<float>(n));
  distributed::threads group(count);
  const auto errors = test::on_all_ranks(group, [&](const communicator &ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    for (std::size_t call = 0; call < calls; ++call)
      distributed::inclusive_scan(ranks, host, x.data() + cuts[call][rank],
                                  x.data() + cuts[call][rank + 1],
                                  y[call].data() + cuts[call][rank]);
  });
  for (const std::string &error : errors) CHECK_EQ(error, "");
  for (const auto &results : y) CHECK(results == expected);
}
