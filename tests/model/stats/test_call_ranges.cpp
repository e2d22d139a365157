// The NVTX ranges around calls, against a look at every range.
#include <random>

#include "call_ranges.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::stats;

namespace {

// A thread with nested ranges, ranges that cross them, and calls that begin and end anywhere, also astride of ranges.
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
  for (Nanoseconds t = 0; t < 300; t += between(20, 60))
    add(TrackKind::kNvtxProcessRanges, t, t + between(0, 60), "crossing " + std::to_string(t), 0);
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
