// What is drawn and asked of a recording that goes on, with its segments in a temporary file, is the same as with all events in memory.
#include <random>

#include "live_program.h"
#include "model/events/event_query.h"
#include "model/events/event_statistics.h"
#include "model/events/launch_index.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/scratch_memory.h"
#include "support/catch.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/view/view_content.h"

using namespace lanescope;
using namespace lanescope::timeline;
using namespace lanescope::test;

namespace {

// A view of a recording, kept up to date.
struct Shown {
  std::unique_ptr<ViewContent> content;
  void show(const std::shared_ptr<const Trace>& trace, const Sight& sight) {
    content = content ? std::make_unique<ViewContent>(ViewContent::Base(*content), trace) : std::make_unique<ViewContent>(trace);
    content->compute_pixels(sight, content->range_after(sight));
  }
};

void require_same_pictures(ViewContent& own, ViewContent& expected, std::mt19937& random) {
  REQUIRE_FALSE(own.is_on_demand());
  const TimeRange bounds = expected.bounds();
  REQUIRE(own.bounds() == bounds);
  for (const Row& row : expected.tree().rows()) {
    const auto found = own.tree().find(row.key);
    if (row.kind == RowKind::kGpuRanges || row.key.find("/nvtx") != std::string::npos) continue;
    REQUIRE(found);
    REQUIRE(own.tree().row(*found).all == row.all);
    REQUIRE(own.tree().row(*found).share == row.share);
    std::vector<Level> levels = row.levels;
    if (!row.all.empty()) levels.push_back(row.all);
    for (const Level& level : levels) {
      if (std::any_of(level.begin(), level.end(), [](const LaneSource& source) { return source.is_derived(); })) continue;
      const Nanoseconds length = std::max<Nanoseconds>(1'000, bounds.length() >> (random() % 16));
      const Nanoseconds begin = bounds.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(bounds.length()));
      for (const TimeRange range : {bounds, TimeRange{begin, begin + length}}) {
        const Viewport viewport = Viewport{range, 400}.on_grid();
        const LevelPixels& pixels = own.rasterizer(viewport).rasterize(own.contents().content(level), viewport);
        const LevelPixels& others = expected.rasterizer(viewport).rasterize(expected.contents().content(level), viewport);
        for (std::int32_t x = 0; x < 400; ++x) REQUIRE(pixels.column(x) == others.column(x));
        REQUIRE(pixels.boxes() == others.boxes());
        REQUIRE(own.contents().content(level).busy(range) == expected.contents().content(level).busy(range));
        REQUIRE(own.contents().content(level).count(range) == expected.contents().content(level).count(range));
      }
    }
  }
}

void require_same_answers(const std::shared_ptr<const Trace>& own, const std::shared_ptr<const Trace>& expected, std::mt19937& random) {
  const EventScope scope = EventScope::whole_trace(*expected);
  EventFilter search;
  search.text = "KERNEL 2";
  const auto found = gather_by_start(*expected, scope.lanes(), search);
  REQUIRE(gather_by_start(*own, scope.lanes(), search) == found);
  const EventPosition middle{expected->event(found[found.size() / 2]).start, found[found.size() / 2]};
  for (const SearchDirection direction : {SearchDirection::kForward, SearchDirection::kBackward})
    REQUIRE(find_event(*own, scope.lanes(), search, middle, direction) == find_event(*expected, scope.lanes(), search, middle, direction));
  const auto all = gather_by_start(*expected, scope.lanes(), {});
  REQUIRE(gather_by_start(*own, scope.lanes(), {}) == all);
  const EventValues own_values(own, scope), expected_values(expected, scope);
  for (const EventColumn column : {EventColumn::kDuration, EventColumn::kName, EventColumn::kGapBefore, EventColumn::kQueueTime})
    REQUIRE(first_events(own_values, all, column, SortDirection::kDescending, 300) ==
            first_events(expected_values, all, column, SortDirection::kDescending, 300));
  const TimeRange extent = expected->extent();
  const Nanoseconds begin = extent.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length()));
  const auto sums = sums_by_name(*own, scope.lanes(), {begin, begin + extent.length() / 3});
  const auto others = sums_by_name(*expected, scope.lanes(), {begin, begin + extent.length() / 3});
  REQUIRE(sums.size() == others.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    REQUIRE((sums[i].name == others[i].name && sums[i].count == others[i].count && sums[i].total == others[i].total && sums[i].maximum == others[i].maximum));
  const LaunchIndex launches(*own), expected_launches(*expected);
  for (int i = 0; i < 500; ++i) {
    const Event work = expected->event(all[random() % all.size()]);
    REQUIRE(launches.find(0, work.correlation, work.start) == expected_launches.find(0, work.correlation, work.start));
  }
  for (const char* name : {"cuda_gpu_kern_sum", "cuda_api_sum", "cuda_kern_exec_sum", "nvtx_sum", "nvtx_gpu_proj_sum"}) {
    INFO(name);
    const stats::Report* report = stats::find_report(name);
    REQUIRE(report != nullptr);
    const auto table = stats::make_report(*report, *own), expected_table = stats::make_report(*report, *expected);
    REQUIRE((table && expected_table));
    REQUIRE(table->row_count() > 0);
    REQUIRE(stats::format_table(*table, stats::Format::kCsv) == stats::format_table(*expected_table, stats::Format::kCsv));
  }
}

}  // namespace

TEST_CASE("a live recording of which nearly all is in a temporary file is drawn, listed, summed, joined and searched as one in memory", "[long]") {
  SegmentCache::of_process().set_budget(1 << 20);
  const auto seed = GENERATE(range(1u, 3u));
  std::mt19937 random(seed);
  SmallTrace in_memory, spilling(EventMemory::kBudget);
  LiveProgram program(seed, {&in_memory, &spilling});
  const Sight sight{.range = {0, 0}, .moves = Sight::Moves::kWithAll, .width = 640, .height = 600};
  Shown own, expected;
  EventMatches matches(in_memory.builder.snapshot(), "kernel 7"), spilled_matches(spilling.builder.snapshot(), "kernel 7");
  std::shared_ptr<const Trace> trace, other;
  for (int part = 0; part < 16; ++part) {
    program.run_on(18'000, 3);
    trace = spilling.builder.snapshot();
    other = in_memory.builder.snapshot();
    if (part % 2 == 0) ScratchMemory::of_process().settle();
    own.show(trace, sight);
    expected.show(other, sight);
    matches.grow(other);
    spilled_matches.grow(trace);
    REQUIRE(spilled_matches.count() == matches.count());
    if (part % 5 == 0) require_same_pictures(*own.content, *expected.content, random);
    const TimeRange bounds = expected.content->bounds();
    REQUIRE(spilled_matches.find({}, bounds.begin + bounds.length() / 2, EventMatches::Direction::kNext) ==
            matches.find({}, bounds.begin + bounds.length() / 2, EventMatches::Direction::kNext));
  }
  ScratchMemory::of_process().settle();
  CHECK(ScratchMemory::of_process().use().in_memory <= 1 << 20);
  REQUIRE_FALSE(has_memory_for_events(*trace));
  require_same_pictures(*own.content, *expected.content, random);
  require_same_answers(trace, other, random);
  SegmentCache::of_process().set_budget(SegmentCache::default_budget());
}
