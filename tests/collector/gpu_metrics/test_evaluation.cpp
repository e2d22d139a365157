#include "values/evaluation.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <numeric>
#include <random>

#include "collector/channel/clock.h"
#include "processor_share.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

constexpr std::size_t kSampleBytes = 100;
constexpr std::size_t kMetrics = 3;

// Images as a decoder would leave them: bytes of a fixed pattern, and each sample's number at its place.
struct Images {
  explicit Images(std::size_t samples) : fresh(samples * kSampleBytes) { std::iota(fresh.begin(), fresh.end(), std::uint8_t{0}); }
  [[nodiscard]] std::vector<std::uint8_t> of(std::uint64_t first, std::size_t count) const {
    std::vector<std::uint8_t> image = fresh;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = first + i;
      std::memcpy(image.data() + i * kSampleBytes + 3, &number, sizeof(number));
    }
    return image;
  }
  std::vector<std::uint8_t> fresh;
};

std::vector<SampleTime> times(std::uint64_t first, std::size_t count) {
  std::vector<SampleTime> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({i, static_cast<std::int64_t>(first + i) * 10, static_cast<std::int64_t>(first + i) * 10 + 10});
  return all;
}

bool evaluate(std::span<const std::uint8_t> image, std::span<const SampleTime> samples, std::span<double> values) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint64_t number = 0;
    std::memcpy(&number, image.data() + samples[i].index * kSampleBytes + 3, sizeof(number));
    for (std::size_t metric = 0; metric < kMetrics; ++metric) values[i * kMetrics + metric] = static_cast<double>(number * 7 + metric);
  }
  return true;
}

// Checks that each sample comes once, in order, with its values.
struct Taker {
  void take(std::span<const SampleTime> samples, std::span<const double> values, bool understood) {
    sound = sound && understood;
    for (std::size_t i = 0; i < samples.size(); ++i, ++next) {
      sound = sound && samples[i].begin == static_cast<std::int64_t>(next) * 10;
      for (std::size_t metric = 0; metric < kMetrics; ++metric) sound = sound && values[i * kMetrics + metric] == static_cast<double>(next * 7 + metric);
    }
  }
  std::uint64_t next = 0;
  bool sound = true;
};

}  // namespace

TEST_CASE("samples of images of any size are taken once each, in their order, whatever room they have to wait") {
  const test::TemporaryFolder folder;
  // All in memory, most in a file, some in memory and none in a file, no room at all.
  const auto [memory, file] = GENERATE(std::pair(1u << 20, 1u << 20), std::pair(30'000u, 1u << 20), std::pair(30'000u, 0u), std::pair(0u, 0u));
  const QueueLimits limits{memory, file, folder.path()};
  const std::size_t threads = GENERATE(2u, 5u);
  std::mt19937 random(3);
  const Images small(300), large(3'000);
  Taker taker;
  std::uint64_t added = 0;
  Evaluation evaluation({kMetrics, threads, limits, [](std::size_t, auto image, auto samples, auto values) { return evaluate(image, samples, values); },
                         [&](auto samples, auto values, bool understood) { taker.take(samples, values, understood); }});
  for (int round = 0; round < 200; ++round) {
    const Images& images = random() % 4 == 0 ? large : small;
    const std::size_t count = random() % (images.fresh.size() / kSampleBytes + 1);
    std::vector<std::uint8_t> image = images.of(added, count);
    evaluation.add(images.fresh, image, times(added, count));
    REQUIRE(image == images.fresh);
    added += count;
    if (round % 50 == 49) {
      evaluation.finish();
      REQUIRE(taker.next == added);
      REQUIRE(evaluation.waiting() == 0);
    }
  }
  CHECK(taker.sound);
}

TEST_CASE("samples wait while nothing is left of the processors, and then none is missing") {
  const test::TemporaryFolder folder;
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
  pid_t evaluating = 0;
  Taker taker;
  const Images images(500);
  Evaluation evaluation({kMetrics,
                         4,
                         {10'000, 64 << 20, folder.path()},
                         [&](std::size_t, auto image, auto samples, auto values) {
                           std::unique_lock lock(mutex);  // simulates a thread that gets no processor
                           if (evaluating == 0) evaluating = gettid();
                           opened.notify_all();
                           opened.wait(lock, [&] { return open; });
                           lock.unlock();
                           return evaluate(image, samples, values);
                         },
                         [&](auto all, auto values, bool understood) { taker.take(all, values, understood); }});
  for (std::uint64_t round = 0; round < 100; ++round) {
    std::vector<std::uint8_t> image = images.of(round * 500, 500);
    evaluation.add(images.fresh, image, times(round * 500, 500));
  }
  CHECK(evaluation.waiting() == 50'000);
  {
    std::unique_lock lock(mutex);
    opened.wait(lock, [&] { return evaluating != 0; });
    CHECK(sched_getscheduler(evaluating) == SCHED_IDLE);  // again: add() had to wait for it a moment ago
    open = true;
  }
  opened.notify_all();
  evaluation.finish();
  CHECK(taker.next == 50'000);
  CHECK(taker.sound);
}

TEST_CASE("somebody who waits for samples has them evaluated with the share of a usual thread") {
  if (!can_return_from_left_over()) {
    WARN("threads may not be made usual again here: skipped");
    return;
  }
  const Images images(128);
  std::atomic<bool> hurries = false;
  std::atomic<int> evaluated = 0;
  const std::int64_t deadline = channel::monotonic_now() + 60'000'000'000;
  Taker taker;
  Evaluation evaluation({kMetrics,
                         2,
                         {},
                         [&](std::size_t thread, auto image, auto samples, auto values) {
                           // Gets no processor until it has a usual share, and then runs at once.
                           while (hurries && sched_getscheduler(0) != SCHED_OTHER && channel::monotonic_now() < deadline) std::this_thread::yield();
                           while (thread == 0 && !hurries) std::this_thread::yield();
                           ++evaluated;
                           return evaluate(image, samples, values);
                         },
                         [&](auto all, auto values, bool understood) { taker.take(all, values, understood); }});
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::vector<std::uint8_t> image = images.of(round * 128, 128);
    evaluation.add(images.fresh, image, times(round * 128, 128));
  }
  CHECK(evaluated == 0);
  hurries = true;
  evaluation.finish();
  CHECK(channel::monotonic_now() < deadline);
  CHECK(evaluated == 20);
  CHECK(taker.next == 20 * 128);
  CHECK(taker.sound);
}
