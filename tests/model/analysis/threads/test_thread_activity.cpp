#include "threads/thread_activity.h"

#include <random>

#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

// Random ranges, calls and states of one thread, many of which cover the same moment.
std::shared_ptr<const Trace> busy_thread(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 7);
  for (int domain = 0; domain < 6; ++domain) {
    TrackKey key{TrackKind::kNvtxRanges, process};
    key.thread = thread;
    key.domain = static_cast<std::uint32_t>(domain);
    std::vector<Event> events;
    for (int i = 0; i < 60; ++i)
      events.push_back({below(900), 1 + below(300), builder.intern(below(4) == 0 ? "nccl:all_reduce" : "r" + std::to_string(i)), 0, 0});
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
    builder.add(key, events);
  }
  for (const TrackKind kind : {TrackKind::kCudaApi, TrackKind::kOverhead, TrackKind::kOsRuntime}) {
    TrackKey key{kind, process};
    key.thread = thread;
    std::vector<Event> events;
    for (int time = below(50); time < 1'000; time += 20 + below(100))
      events.push_back({time, 1 + below(19), builder.intern(below(2) == 0 ? "cudaLaunchKernel" : "futex"), 0, 0});
    builder.add(key, events);
  }
  return builder.snapshot();
}

}  // namespace

TEST_CASE("of many lanes as of few, a thread did the same at every moment") {
  const auto seed = GENERATE(range(1u, 30u));
  const auto trace = busy_thread(seed);
  const ThreadTracks tracks(*trace);
  NameClasses names(*trace);
  ThreadActivity all_looked_at(*trace, tracks, 0, names, 1'000'000), swept(*trace, tracks, 0, names, 0);
  std::mt19937 random(seed);
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  Nanoseconds begin = 0;
  std::size_t pieces = 0;
  for (int i = 0; i < 40; ++i) {  // most windows in order, and some not; windows overlap
    begin = below(5) == 0 ? below(1'000) : begin + below(60);
    const TimeRange window{begin, begin + 1 + below(200)};
    std::vector<Activity> expected, found;
    all_looked_at.describe(window, expected);
    swept.describe(window, found);
    REQUIRE(found.size() == expected.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
      REQUIRE(found[at].range == expected[at].range);
      REQUIRE(found[at].cause == expected[at].cause);
      REQUIRE(found[at].call == expected[at].call);
      REQUIRE(found[at].nvtx == expected[at].nvtx);
    }
    pieces += found.size();
    const Nanoseconds t = begin + below(100) - 30;
    REQUIRE(swept.innermost_range(t) == all_looked_at.innermost_range(t));
  }
  CHECK(pieces > 200);
}
