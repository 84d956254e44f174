// SPDX-License-Identifier: MIT
// Chunks on their way through devices that are emulated: three queues each, whose next step a
// seeded scheduler chooses. A wait that is missing shows as a wrong result.
#include <lookback/host/chunk_stream.cuh>

#include <lookback/continued_scan.cuh>
#include <lookback/host/device_ring.cuh>

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

using flag = std::shared_ptr<bool>;

/// The queues of all devices, which run only while the host waits. Steps are (is it ready, what it
/// does).
class emulated_queues {
public:
  emulated_queues(int devices, std::mt19937_64 &random)
      : queues_(devices * detail::chunk_queues), random_(random) {}

  void enqueue(int queue, std::function<void()> work, flag ready = nullptr) {
    queues_[queue].push_back({ready, std::move(work)});
  }
  /// Does the first thing in one of the queues that can go on.
  void step() {
    const auto start = random_() % queues_.size();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      auto &queue = queues_[(start + i) % queues_.size()];
      if (queue.empty() || (queue.front().ready && !*queue.front().ready)) continue;
      const queued next = std::move(queue.front());
      queue.pop_front();
      return next.work();
    }
    REQUIRE_MESSAGE(is_idle(), "no queue can go on");
  }
  void steps(std::size_t most) {
    for (auto more = random_() % most; more > 0; --more) step();
  }
  bool is_idle() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const auto &each) { return each.empty(); });
  }

private:
  struct queued {
    flag ready;
    std::function<void()> work;
  };
  std::vector<std::deque<queued>> queues_; // (devices, chunk_queues)
  std::mt19937_64 &random_;
};

class emulated_device {
public:
  emulated_device(int index, int slots, std::int64_t length, emulated_queues &queues)
      : first_queue_(index * detail::chunk_queues), length_(length), queues_(queues),
        inputs_(slots * length, -1), outputs_(inputs_) {}

  void copy_in(int slot, const float *from, std::int64_t items) {
    enqueue(chunk_queue::input, [=] { std::copy(from, from + items, input(slot)); });
  }
  void scan(int slot, std::int64_t items, const emulated_device *before, bool is_last) {
    if (scans_before_failure-- == 0) throw std::runtime_error("thrown by the launch");
    last_ = is_last;
    if (before != nullptr)
      queues_.enqueue(
          queue(chunk_queue::scan), [=] { running_ = before->running_; }, before->passed_on_);
    enqueue(chunk_queue::scan, [=] {
      if (running_ == nullptr) running_ = std::make_shared<lookback::continued_scan<float>>();
      running_->inclusive(lookback::host, input(slot), input(slot) + items, output(slot));
      std::fill_n(input(slot), items, -2.0f); // consumed
    });
    passed_on_ = signal(chunk_queue::scan);
  }
  void copy_out(int slot, float *to, std::int64_t items) {
    enqueue(chunk_queue::output, [=] {
      std::copy(output(slot), output(slot) + items, to);
      std::fill_n(output(slot), items, -3.0f);
    });
  }
  void after(chunk_queue own, chunk_queue other) {
    queues_.enqueue(
        queue(own), [] {}, signal(other));
  }
  void mark(int slot) { marks_[slot] = signal(chunk_queue::output); }
  void wait(int slot) {
    while (!*marks_[slot]) queues_.step();
    queues_.steps(4);
  }
  void drain() {
    while (!queues_.is_idle()) queues_.step();
  }

  bool was_last() const { return last_; }
  int scans_before_failure = -1;

private:
  int queue(chunk_queue which) const { return first_queue_ + static_cast<int>(which); }
  void enqueue(chunk_queue which, std::function<void()> work) {
    queues_.enqueue(queue(which), std::move(work));
  }
  flag signal(chunk_queue which) {
    const auto reached = std::make_shared<bool>(false);
    enqueue(which, [=] { *reached = true; });
    return reached;
  }
  float *input(int slot) { return inputs_.data() + slot * length_; }
  float *output(int slot) { return outputs_.data() + slot * length_; }

  const int first_queue_;
  const std::int64_t length_;
  emulated_queues &queues_;
  std::vector<float> inputs_, outputs_; // (slots, length)
  std::shared_ptr<lookback::continued_scan<float>> running_;
  flag passed_on_;
  std::map<int, flag> marks_;
  bool last_ = false;
};

/// Devices that take turns, with `slots` slots each.
class emulated_machine {
public:
  emulated_machine(int devices, int slots, std::int64_t length, std::mt19937_64 &random)
      : slots_(devices * slots), queues_(devices, random) {
    for (int i = 0; i < devices; ++i) devices_.emplace_back(i, slots, length, queues_);
  }
  detail::device_ring<emulated_device> ring() {
    std::vector<emulated_device *> all;
    for (emulated_device &each : devices_) all.push_back(&each);
    return detail::device_ring<emulated_device>(all);
  }
  int slots() const { return slots_; }
  bool is_idle() const { return queues_.is_idle(); }
  emulated_device &device(std::int64_t chunk) { return devices_[chunk % devices_.size()]; }

private:
  int slots_;
  emulated_queues queues_;
  std::deque<emulated_device> devices_;
};

/// A call of n elements in chunks of `length`, staged or not on either side.
struct call {
  std::int64_t n, length;
  int devices, slots; // of each device
  bool stages_in, stages_out;
  std::int64_t chunks() const { return detail::chunk_list{n, length}.count(); }
};
call random_call(std::int64_t n, std::mt19937_64 &random) {
  return {n,
          static_cast<std::int64_t>(1 + random() % 700),
          static_cast<int>(1 + random() % 3),
          static_cast<int>(1 + random() % 4),
          random() % 2 == 0,
          random() % 2 == 0};
}

template <class Iterator, class Progress>
void stream(const call &c, emulated_machine &machine, Iterator first, float *result,
            const Progress &progress) {
  detail::copy_team team(3);
  const int slots = machine.slots();
  std::vector<float> in_buffers(slots * c.length), out_buffers(slots * c.length);
  const detail::host_side<float, Iterator> source(first, c.stages_in ? in_buffers.data() : nullptr,
                                                  c.length);
  const detail::host_side<float, float *> results(
      result, c.stages_out ? out_buffers.data() : nullptr, c.length);
  auto ring = machine.ring();
  detail::chunk_stream<decltype(ring), decltype(source), decltype(results), Progress>(
      ring, {c.n, c.length}, slots, source, results, team, progress)
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
    const call c = random_call(static_cast<std::int64_t>(1 + random() % x.size()), random);
    INFO(c.n, " elements, chunks of ", c.length, ", devices ", c.devices, ", slots ", c.slots,
         ", staged ", c.stages_in, " ", c.stages_out);
    emulated_machine machine(c.devices, c.slots, c.length, random);
    std::vector<float> in = x, out(x.size(), -4);
    float *const to = random() % 4 == 0 ? in.data() : out.data(); // in place
    std::int64_t before = 0;
    stream(c, machine, static_cast<const float *>(in.data()), to,
           [&](std::int64_t done, std::int64_t total) {
             CHECK_EQ(total, c.n);
             CHECK_EQ(done, std::min(before + c.length, c.n));
             CHECK_EQ(std::memcmp(to + before, &expected[before], 4 * (done - before)), 0);
             before = done;
           });
    CHECK_EQ(before, c.n);
    CHECK(machine.is_idle());
    CHECK(machine.device(c.chunks() - 1).was_last());
    CHECK_EQ(std::memcmp(to, expected.data(), 4 * c.n), 0);
    if (to == out.data() && c.n < 5000) CHECK_EQ(out[c.n], -4.0f);
  }
}

TEST_CASE("chunk_stream: after an exception the device is idle") {
  TEST_RANDOM(random);
  const auto nothing = [](std::int64_t, std::int64_t) {};
  std::vector<float> x(3000, 1), y(3000);
  for (std::size_t trial = 0; trial < test::trials(20); ++trial) {
    const call c = random_call(3000, random);
    const auto machine = [&] { return emulated_machine(c.devices, c.slots, c.length, random); };
    emulated_machine launches(machine()), reads(machine()), tells(machine());
    const auto fails = static_cast<std::int64_t>(random() % c.chunks());
    launches.device(fails).scans_before_failure = static_cast<int>(fails / c.devices);
    CHECK_EQ(message_of([&] { stream(c, launches, x.data(), y.data(), nothing); }),
             "thrown by the launch");
    CHECK(launches.is_idle());
    const call staged{c.n, c.length, c.devices, c.slots, true, c.stages_out};
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
