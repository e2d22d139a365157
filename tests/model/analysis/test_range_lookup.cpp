#include "../../../model/analysis/threads/range_lookup.h"

#include <vector>

#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;

TEST_CASE("of ranges that nest without end, the outermost of all domains are looked at") {
  constexpr std::uint32_t kDepths = 100;
  constexpr Nanoseconds kLength = 1'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 1);
  for (const std::uint32_t domain : {1u, 2u}) {
    TrackKey key{TrackKind::kNvtxRanges, process};
    key.thread = thread;
    key.domain = domain;
    std::vector<Event> ranges;
    std::vector<std::uint32_t> depths;
    const std::uint32_t count = domain == 1 ? kDepths : 3;  // those of the second domain begin within those of the first
    for (std::uint32_t depth = 0; depth < count; ++depth) {
      const Nanoseconds start = (domain - 1) * kDepths + depth;
      ranges.push_back({start, 2 * (kLength - start), builder.intern("range " + std::to_string(depth)), 0, 0});
      depths.push_back(depth);
    }
    builder.add(key, std::move(ranges), depths);
  }
  const auto trace = builder.snapshot();
  const auto looked_at = [&](RangeLookup& lookup) {
    std::vector<std::size_t> of_domain(3);
    lookup.for_each(thread, kLength, [&](EventRef range) { ++of_domain[trace->track_of(range.lane).key.domain]; });
    return of_domain;
  };
  RangeLookup all(*trace);  // few events: there is time for all
  CHECK(looked_at(all) == std::vector<std::size_t>{0, kDepths, 3});
  RangeLookup few(*trace, 0);
  CHECK(looked_at(few) == std::vector<std::size_t>{0, RangeLookup::kLeastLanes - 3, 3});
  const EventRef innermost = few.innermost(thread, kLength);
  REQUIRE(innermost.valid());
  CHECK(trace->lane(innermost.lane).start(innermost.index) == kDepths + 2);
}
