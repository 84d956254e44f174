// SPDX-License-Identifier: MIT
// Chunks on their way through a device that is emulated: three queues, whose next step a seeded
// scheduler chooses. A wait that is missing shows as a wrong result.
#include <lookback/host/chunk_stream.cuh>

#include <lookback/continued_scan.cuh>

#include <support/random.hpp>

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

namespace detail = lookback::detail;
using detail::chunk_queue;

/// A device whose queues run only while the host waits. Steps are (is it ready, what it does).
class emulated_device {
public:
  emulated_device(int slots, std::int64_t length, std::mt19937_64 &random)
      : length_(length), random_(random), inputs_(slots * length, -1), outputs_(inputs_) {}

  void copy_in(int slot, const float *from, std::int64_t items) {
    enqueue(chunk_queue::input, [=] { std::copy(from, from + items, input(slot)); });
  }
  void scan(int slot, std::int64_t items, bool is_first, bool is_last) {
    if (scans_before_failure-- == 0) throw std::runtime_error("thrown by the launch");
    CHECK_EQ(is_first, chunks_++ == 0);
    last_ = is_last;
    enqueue(chunk_queue::scan, [=] {
      running_.inclusive(lookback::host, input(slot), input(slot) + items, output(slot));
      std::fill_n(input(slot), items, -2.0f); // consumed
    });
  }
  void copy_out(int slot, float *to, std::int64_t items) {
    enqueue(chunk_queue::output, [=] {
      std::copy(output(slot), output(slot) + items, to);
      std::fill_n(output(slot), items, -3.0f);
    });
  }
  void after(chunk_queue queue, chunk_queue other) {
    const auto reached = signal(other);
    enqueue(
        queue, [] {}, reached);
  }
  void mark(int slot) { marks_[slot] = signal(chunk_queue::output); }
  void wait(int slot) {
    while (!*marks_[slot]) step();
    for (auto more = random_() % 4; more > 0; --more) step();
  }
  void drain() {
    while (!is_idle()) step();
  }

  bool is_idle() const { return queues_[0].empty() && queues_[1].empty() && queues_[2].empty(); }
  bool was_last() const { return last_; }
  int scans_before_failure = -1;

private:
  using flag = std::shared_ptr<bool>;
  struct queued {
    flag ready;
    std::function<void()> work;
  };
  void enqueue(chunk_queue queue, std::function<void()> work, flag ready = nullptr) {
    queues_[static_cast<int>(queue)].push_back({ready, std::move(work)});
  }
  flag signal(chunk_queue queue) {
    const auto reached = std::make_shared<bool>(false);
    enqueue(queue, [=] { *reached = true; });
    return reached;
  }
  /// Does the first thing in one of the queues that can go on.
  void step() {
    const auto start = random_() % 3;
    for (std::size_t i = 0; i < 3; ++i) {
      auto &queue = queues_[(start + i) % 3];
      if (queue.empty() || (queue.front().ready && !*queue.front().ready)) continue;
      const queued next = std::move(queue.front());
      queue.pop_front();
      return next.work();
    }
    REQUIRE_MESSAGE(is_idle(), "no queue can go on");
  }
  float *input(int slot) { return inputs_.data() + slot * length_; }
  float *output(int slot) { return outputs_.data() + slot * length_; }

  const std::int64_t length_;
  std::mt19937_64 &random_;
  std::vector<float> inputs_, outputs_; // (slots, length)
  lookback::continued_scan<float> running_;
  std::deque<queued> queues_[detail::chunk_queues];
  std::map<int, flag> marks_;
  int chunks_ = 0;
  bool last_ = false;
};

/// A call of n elements in chunks of `length`, staged or not on either side.
struct call {
  std::int64_t n, length;
  int slots;
  bool stages_in, stages_out;
};

template <class Iterator, class Progress>
void stream(const call &c, emulated_device &device, Iterator first, float *result,
            const Progress &progress) {
  detail::copy_team team(3);
  std::vector<float> in_buffers(c.slots * c.length), out_buffers(c.slots * c.length);
  const detail::host_side<float, Iterator> source(first, c.stages_in ? in_buffers.data() : nullptr,
                                                  c.length);
  const detail::host_side<float, float *> results(
      result, c.stages_out ? out_buffers.data() : nullptr, c.length);
  detail::chunk_stream<emulated_device, decltype(source), decltype(results), Progress>(
      device, {c.n, c.length}, c.slots, source, results, team, progress)
      .run();
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

struct throws_at {
  using value_type = float;
  std::int64_t place;
  float operator[](std::int64_t i) const {
    if (i == place) throw std::runtime_error("thrown by the iterator");
    return 1;
  }
};

} // namespace

TEST_CASE("chunk_stream: the bits of one scan, whatever the order of the queues") {
  TEST_RANDOM(random);
  const auto x = test::random_values<float>(5000, random);
  std::vector<float> expected(x.size());
  lookback::inclusive_scan(lookback::host, x.begin(), x.end(), expected.begin());
  for (std::size_t trial = 0; trial < test::trials(400); ++trial) {
    const call c{static_cast<std::int64_t>(1 + random() % x.size()),
                 static_cast<std::int64_t>(1 + random() % 700), static_cast<int>(1 + random() % 5),
                 random() % 2 == 0, random() % 2 == 0};
    INFO(c.n, " elements, chunks of ", c.length, ", slots ", c.slots, ", staged ", c.stages_in, " ",
         c.stages_out);
    emulated_device device(c.slots, c.length, random);
    std::vector<float> in = x, out(x.size(), -4);
    float *const to = random() % 4 == 0 ? in.data() : out.data(); // in place
    std::int64_t before = 0;
    stream(c, device, static_cast<const float *>(in.data()), to,
           [&](std::int64_t done, std::int64_t total) {
             CHECK_EQ(total, c.n);
             CHECK_EQ(done, std::min(before + c.length, c.n));
             CHECK_EQ(std::memcmp(to + before, &expected[before], 4 * (done - before)), 0);
             before = done;
           });
    CHECK_EQ(before, c.n);
    CHECK(device.is_idle());
    CHECK(device.was_last());
    CHECK_EQ(std::memcmp(to, expected.data(), 4 * c.n), 0);
    if (to == out.data() && c.n < 5000) CHECK_EQ(out[c.n], -4.0f);
  }
}

TEST_CASE("chunk_stream: after an exception the device is idle") {
  TEST_RANDOM(random);
  const auto nothing = [](std::int64_t, std::int64_t) {};
  std::vector<float> x(3000, 1), y(3000);
  for (std::size_t trial = 0; trial < test::trials(20); ++trial) {
    const call c{3000, static_cast<std::int64_t>(1 + random() % 500),
                 static_cast<int>(1 + random() % 4), random() % 2 == 0, random() % 2 == 0};
    emulated_device launches(c.slots, c.length, random), reads(c.slots, c.length, random),
        tells(c.slots, c.length, random);
    const std::int64_t chunks = detail::chunk_list{c.n, c.length}.count();
    launches.scans_before_failure = static_cast<int>(random() % chunks);
    CHECK_EQ(message_of([&] { stream(c, launches, x.data(), y.data(), nothing); }),
             "thrown by the launch");
    CHECK(launches.is_idle());
    const call staged{c.n, c.length, c.slots, true, c.stages_out};
    const throws_at late{static_cast<std::int64_t>(random() % 3000)};
    CHECK_EQ(message_of([&] { stream(staged, reads, late, y.data(), nothing); }),
             "thrown by the iterator");
    CHECK(reads.is_idle());
    const auto tell = [&](std::int64_t done, std::int64_t) {
      if (done > 1500) throw std::runtime_error("thrown by the progress");
    };
    CHECK_EQ(message_of([&] { stream(c, tells, x.data(), y.data(), tell); }),
             "thrown by the progress");
    CHECK(tells.is_idle());
  }
}

TEST_CASE("copy_team: every index once; the first exception, and then the next loop") {
  detail::copy_team team(4);
  for (const std::size_t count : {0, 1, 2, 3, 100, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    team.run(count, [&](std::size_t i) { ++calls[i]; });
    for (const auto &each : calls) CHECK_EQ(each.load(), 1);
    if (count == 0) continue;
    CHECK_THROWS_AS(team.run(count,
                             [&](std::size_t i) {
                               if (i == count / 2) throw std::runtime_error("thrown by the work");
                             }),
                    std::runtime_error);
  }
}
