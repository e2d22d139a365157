// The NVTX ranges around calls, against a look at every range.
#include <random>

#include "model/trace/trace_builder.h"
#include "ranges/call_ranges.h"
#include "support/catch.h"
#include "support/cost.h"

using namespace lanescope;
using namespace lanescope::stats;

namespace {

// A thread with nested ranges, ranges that cross them, and calls that start and end anywhere, also across the edges of ranges.
std::shared_ptr<const Trace> random_calls(unsigned seed) {
  std::mt19937 random(seed);
  const auto between = [&](Nanoseconds low, Nanoseconds high) { return std::uniform_int_distribution<Nanoseconds>(low, high)(random); };
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 1);
  const auto add = [&](TrackKind kind, Nanoseconds begin, Nanoseconds end, const std::string& name, std::uint32_t depth) {
    builder.add({.kind = kind, .process = process, .thread = thread}, {Event{begin, end - begin, builder.intern(name), 0, 0}},
                std::vector<std::uint32_t>{depth});
  };
  for (Nanoseconds t = 0; t < 300; t += between(10, 40)) {
    const Nanoseconds end = t + between(0, 9);
    add(TrackKind::kNvtxRanges, t, end, "outer " + std::to_string(t), 0);
    add(TrackKind::kNvtxRanges, t + (end - t) / 3, end - (end - t) / 3, "inner " + std::to_string(t), 1);
  }
  for (Nanoseconds t = 0; t < 300; t += between(20, 60)) add(TrackKind::kNvtxProcessRanges, t, t + between(0, 60), "crossing " + std::to_string(t), 0);
  for (Nanoseconds t = 0; t < 320;) {
    const Nanoseconds end = t + between(0, 6);
    add(TrackKind::kCudaApi, t, end, "cudaLaunchKernel", 0);
    t = end + between(0, 4);
  }
  return builder.snapshot();
}

}  // namespace

TEST_CASE("the ranges around a call are those of its thread that begin before it and end behind it") {
  const auto trace = random_calls(GENERATE(range(1u, 80u)));
  const auto selection = Selection::of(*trace, {});
  REQUIRE(selection);
  const CallRanges ranges(*selection);
  selection->for_each(TrackKind::kCudaApi, [&](const Track& track, const EventView& call) {
    std::vector<const NvtxRange*> enclosing;
    const NvtxRange* tightest = nullptr;
    for (const NvtxRange& range : ranges.ranges().at(track.key.thread)) {
      if (range.time.begin > call.start() || range.time.end < call.end()) continue;
      enclosing.push_back(&range);
      if (!tightest || range.time.length() <= tightest->time.length()) tightest = &range;
    }
    const auto around = ranges.around(call.ref);
    REQUIRE(std::vector<const NvtxRange*>(around.begin(), around.end()) == enclosing);
    REQUIRE(ranges.innermost(call.ref) == (tightest ? tightest->name : NameId{0}));
  });
}

TEST_CASE("a range's parent is the tightest that encloses it, of equal ones the last, and its level how many do so in turn") {
  const auto trace = random_calls(GENERATE(range(1u, 80u)));
  const auto selection = Selection::of(*trace, {});
  REQUIRE(selection);
  for (const auto& [thread, ranges] : ranges_by_thread(*selection, RangeKinds::kAll))
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::size_t parent = kNoRange;
      for (std::size_t outer = 0; outer < i; ++outer) {
        if (ranges[outer].time.begin > ranges[i].time.begin || ranges[outer].time.end < ranges[i].time.end) continue;
        if (parent == kNoRange || ranges[outer].time.length() <= ranges[parent].time.length()) parent = outer;
      }
      REQUIRE(ranges[i].parent == parent);
      REQUIRE(ranges[i].level == (parent == kNoRange ? 0 : ranges[parent].level + 1));
    }
}

TEST_CASE("ranges that are open together nest in time that grows with them, not with their square") {
  constexpr Nanoseconds kRanges = 200'000, kEnd = 1'000'000'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::vector<Event> events;
  for (Nanoseconds i = 0; i < kRanges; ++i) events.push_back({i, kEnd - i, builder.intern("open"), 0, 0});
  builder.add({.kind = TrackKind::kNvtxProcessRanges, .process = process, .thread = builder.thread(process, 1)}, std::move(events),
              std::vector<std::uint32_t>(kRanges, 0));
  const auto trace = builder.snapshot();
  const auto selection = Selection::of(*trace, {});
  REQUIRE(selection);
  std::int64_t deepest = 0;
  const test::Cost cost = test::cost_of([&] { deepest = ranges_by_thread(*selection, RangeKinds::kAll).begin()->second.back().level; });
  CHECK(deepest == kRanges - 1);
  CHECK(cost.seconds < test::kMostSeconds / 2);
}
