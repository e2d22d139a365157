// How long GPUs were busy beside others, and before given moments: against a count of each nanosecond.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "idle/idle_inside.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/cost.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

// Names the folder for temporary files, for the lifetime of the object.
class TemporaryFolders {
 public:
  explicit TemporaryFolders(const char* folder) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder, 1);
  }
  ~TemporaryFolders() { before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR"); }
  TemporaryFolders(const TemporaryFolders&) = delete;
  TemporaryFolders& operator=(const TemporaryFolders&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("time beside others, and the longest alone, are those of each nanosecond") {
  const auto seed = GENERATE(range(1u, 40u));
  std::mt19937 random(seed);
  constexpr Nanoseconds kEnd = 600;
  CoveredTime others;
  TimeBeside beside;
  std::vector<bool> own_at(kEnd), others_at(kEnd);
  Nanoseconds t = 0;
  while (true) {
    t += static_cast<Nanoseconds>(random() % (seed % 5 + 2));  // many events start at the same time
    const TimeRange range{t, t + static_cast<Nanoseconds>(random() % 12)};
    if (range.end >= kEnd) break;
    const bool is_other = random() % 2 == 0;
    beside.advance(range.begin, others);
    is_other ? others.add(range) : beside.add(range, others);
    for (Nanoseconds at = range.begin; at < range.end; ++at) (is_other ? others_at : own_at)[static_cast<std::size_t>(at)] = true;
  }
  beside.finish(others);
  Nanoseconds own = 0, both = 0, alone = 0, most_alone = 0;
  TimeRange longest;
  for (std::size_t at = 0, begin = 0; at < kEnd; ++at) {
    if (!own_at[at]) {
      begin = at + 1;
      alone = 0;
      continue;
    }
    ++own;
    both += others_at[at] ? 1 : 0;
    alone += others_at[at] ? 0 : 1;
    if (const bool is_last = !own_at[at + 1]; !is_last || alone <= most_alone) continue;
    most_alone = alone;
    longest = {static_cast<Nanoseconds>(begin), static_cast<Nanoseconds>(at) + 1};
  }
  CHECK(beside.total() == own);
  CHECK(beside.beside() == both);
  CHECK(beside.longest_alone() == longest);
  CHECK(others.total() == std::count(others_at.begin(), others_at.end(), true));
}

TEST_CASE("idle time inside spans is that of each nanosecond, whether spans are in memory, in a file, or can't be put into one") {
  const auto seed = GENERATE(range(1u, 20u));
  std::mt19937 random(seed);
  constexpr Nanoseconds kEnd = 2'000;
  TraceBuilder builder;
  // The second process uses two GPUs, the first and the third share one of these.
  const std::vector<std::vector<std::uint32_t>> gpus_of{{0}, {0, 1}, {0}};
  std::vector<std::vector<bool>> busy_at(2, std::vector<bool>(kEnd + 100));
  for (std::uint32_t process = 0; process < gpus_of.size(); ++process)
    for (const std::uint32_t gpu : gpus_of[process])
      for (std::uint32_t stream = 0; stream < 2; ++stream) {
        TrackKey key{TrackKind::kKernels, builder.process_of_instance(process + 1)};
        key.gpu = builder.gpu({.name = "GPU", .uuid = std::to_string(gpu)});
        key.stream = stream;
        std::vector<Event> events;
        for (Nanoseconds start = static_cast<Nanoseconds>(random() % 50); start < kEnd; start += static_cast<Nanoseconds>(random() % 300)) {
          const auto duration = static_cast<Nanoseconds>(random() % 70);
          events.push_back({start, duration, 0, 0, 0});
          std::fill_n(busy_at[gpu].begin() + start, duration, true);
        }
        builder.add(key, std::move(events));
      }
  const auto trace = builder.snapshot();
  const std::size_t at_once = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{1'000});
  const bool has_folder = GENERATE(true, false);
  const TemporaryFolders folders(has_folder ? "/var/tmp" : "/nowhere");
  IdleInside idle(*trace, at_once, {});
  IdleInside::Sums expected;
  for (int i = 0; i < 200; ++i) {
    const auto process = static_cast<ProcessId>(random() % gpus_of.size());
    const auto begin = static_cast<Nanoseconds>(random() % kEnd);
    const TimeRange span{begin, begin + static_cast<Nanoseconds>(random() % 400 % static_cast<unsigned>(kEnd - begin))};
    Nanoseconds most_busy = 0;
    for (const std::uint32_t gpu : gpus_of[process])
      most_busy = std::max<Nanoseconds>(most_busy, std::count(busy_at[gpu].begin() + span.begin, busy_at[gpu].begin() + span.end, true));
    expected[static_cast<std::uint32_t>(i) % 3] += span.length() - most_busy;
    idle.add(process, span, static_cast<std::uint32_t>(i) % 3);
    idle.make_room();
  }
  const auto sums = idle.take();
  REQUIRE(sums);
  CHECK(*sums == expected);
}

TEST_CASE("of very many spans on many GPUs, the GPUs with most operations count") {
  // GPU i works for the first i ns of each 100 ns. Of 20 GPUs the four with the fewest operations, which work longest, have one alone.
  constexpr std::uint32_t kGpus = 20, kFew = IdleInside::kLeastGpus;
  constexpr Nanoseconds kEnd = 10'000;
  TraceBuilder builder;
  for (std::uint32_t gpu = 1; gpu <= kGpus; ++gpu) {
    TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
    key.gpu = builder.gpu({.name = "GPU", .uuid = std::to_string(gpu)});
    std::vector<Event> events;
    if (gpu > kFew)
      events.push_back({0, kEnd, 0, 0, 0});
    else
      for (Nanoseconds start = 0; start < kEnd; start += 100) events.push_back({start, gpu, 0, 0, 0});
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  const auto idle_of = [&](std::size_t most_pairs) {
    IdleInside idle(*trace, 1'000, {}, most_pairs);
    for (Nanoseconds begin = 0; begin < kEnd; begin += 100) idle.add(0, {begin, begin + 100}, 0);
    const auto sums = idle.take();
    REQUIRE(sums);
    return sums->at(0);
  };
  CHECK(idle_of(100 * kGpus) == 0);
  CHECK(idle_of(100 * kFew) == 100 * (100 - kFew));
}

TEST_CASE("operations of many lanes come by start, and those of one start by lane") {
  const auto seed = GENERATE(range(1u, 40u));
  std::mt19937 random(seed);
  TraceBuilder builder;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> expected;
  for (std::uint32_t stream = 0; stream < 1 + seed % 17; ++stream) {
    TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
    key.stream = stream;
    std::vector<Event> events;
    Nanoseconds t = random() % 5 == 0 ? 1'000 : 0;
    for (std::uint32_t left = random() % 60; left > 0; --left) {
      t += static_cast<Nanoseconds>(random() % 4);
      events.push_back({t, static_cast<Nanoseconds>(1 + random() % 3), 0, 0, 0});
      expected.emplace_back(events.back().start, events.back().duration);
      t += events.back().duration;
    }
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  std::vector<std::pair<Nanoseconds, Nanoseconds>> found;
  EventRef last;
  GpuOperations operations(*trace, [](const TrackKey&) { return true; });
  while (const auto operation = operations.next()) {
    if (!found.empty() && found.back().first == operation->range.begin) CHECK(last < operation->event);
    CHECK(trace->lane(operation->event.lane).start(operation->event.index) == operation->range.begin);
    found.emplace_back(operation->range.begin, operation->range.length());
    last = operation->event;
  }
  CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; }));
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK(found == expected);
}

TEST_CASE("a lane of one operation takes little where there are very many") {
  constexpr std::uint32_t kLanes = 50'000;
  TraceBuilder builder;
  for (std::uint32_t stream = 0; stream < kLanes; ++stream) {
    TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
    key.stream = stream;
    builder.add(key, {{stream, 1, 0, 0, 0}});
  }
  const auto trace = builder.snapshot();
  std::size_t operations = 0;
  const test::Cost cost = test::cost_of([&] {
    GpuOperations all(*trace, [](const TrackKey&) { return true; });
    while (all.next()) ++operations;
  });
  CHECK(operations == kLanes);
  CHECK(cost.bytes < 300 * kLanes);
}
