// Properties of every trace, on traces that others recorded on real GPUs.
#include <algorithm>
#include <filesystem>

#include "model/import/open_trace.h"
#include "support/catch.h"
#include "support/paths.h"
#include "timeline/core/navigation.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::timeline;

namespace {

std::vector<std::shared_ptr<const Trace>> recorded_traces() {
  std::vector<std::shared_ptr<const Trace>> traces;
  std::vector<std::filesystem::path> folders{lanescope::test::data_file("")};
  if (const auto corpus = lanescope::test::corpus()) folders.push_back(*corpus / "nsys");
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".trace" && entry.path().extension() != ".sqlite") continue;
      auto trace = open_trace(entry.path());
      INFO(entry.path());
      REQUIRE(trace.has_value());
      traces.push_back(*trace);
    }
  }
  return traces;
}

// Busy time of a level, event by event.
Nanoseconds busy_one_by_one(const LevelContent& content, TimeRange window) {
  std::vector<TimeRange> events;
  for (const ContentLane& lane : content.lanes())
    lane.visit([&](const auto& shown) {
      for (EventIndex index = 0; index < shown.size(); ++index) events.push_back(window.intersected({shown.start(index), shown.end(index)}));
    });
  std::sort(events.begin(), events.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  Nanoseconds busy = 0;
  Nanoseconds covered_until = window.begin;
  for (const TimeRange event : events) {
    busy += std::max<Nanoseconds>(0, event.end - std::max(event.begin, covered_until));
    covered_until = std::max(covered_until, event.end);
  }
  return busy;
}

}  // namespace

TEST_CASE("rows of recorded traces add up: columns to the window's busy time, lanes to rows") {
  for (const auto& trace : recorded_traces()) {
    const RowTree tree(*trace);
    REQUIRE_FALSE(tree.rows().empty());
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) REQUIRE(tree.place_of(lane).has_value());
    ContentCache cache(trace);
    LevelRasterizer rasterizer;
    const TimeRange extent = trace->extent();
    for (const TimeRange window : {extent, TimeRange{extent.begin + extent.length() / 3, extent.begin + extent.length() / 2}})
      for (const Row& row : tree.rows()) {
        const LevelContent& content = cache.content(row.all);
        const LevelPixels& pixels = rasterizer.rasterize(content, {window, 1'531});
        Nanoseconds sum = 0;
        for (std::int32_t x = 0; x < pixels.width(); ++x) sum += pixels.column(x).busy;
        REQUIRE(sum == busy_one_by_one(content, window));
      }
  }
}

TEST_CASE("shares of the kernels' names add up to the share of the kernels") {
  for (const auto& trace : recorded_traces()) {
    const RowTree tree(*trace);
    for (const Row& row : tree.rows()) {
      if ((row.kind != RowKind::kKernels && row.kind != RowKind::kMemory) || !row.share || row.children.empty()) continue;
      double sum = 0;
      for (const RowIndex child : row.children) sum += tree.row(child).share.value();
      REQUIRE(sum == Approx(*row.share).margin(1e-9));
    }
  }
}

TEST_CASE("every event of recorded traces can be described, and its launch leads back to it") {
  for (const auto& trace : recorded_traces())
    for (LaneId id = 0; id < trace->lanes().size(); ++id)
      for (EventIndex index = 0; index < trace->lane(id).size(); index += 97) {
        const EventRef event{id, index};
        REQUIRE(describe_event(*trace, event).size() >= 3);
        if (!is_gpu_work(trace->track_of(id).key.kind)) continue;
        for (const EventRef launch : correlated_events(*trace, event)) {
          const std::vector<EventRef> work = correlated_events(*trace, launch);
          REQUIRE(std::find(work.begin(), work.end(), event) != work.end());
        }
      }
}

// A closed row stands for what is below it. There are two exceptions: a thread whose states are known shows its states, and ranges on a GPU do not count as
// work of the GPU.
TEST_CASE("a closed row is busy whenever something below it is") {
  for (const auto& trace : recorded_traces()) {
    const RowTree tree(*trace);
    ContentCache cache(trace);
    for (const Row& row : tree.rows()) {
      if (row.children.empty() || (row.kind == RowKind::kThread && !row.levels.empty())) continue;
      Level below;
      for (const RowIndex child : row.children) {
        const bool work_alone = row.kind == RowKind::kGpu && tree.row(child).kind == RowKind::kGpuRanges;
        const bool waits = row.kind == RowKind::kGpuHardware || row.kind == RowKind::kStream ? tree.row(child).kind == RowKind::kSynchronization : false;
        if (!work_alone && !waits) below.insert(below.end(), tree.row(child).all.begin(), tree.row(child).all.end());
      }
      INFO(row.key);
      const TimeRange extent = trace->extent();
      REQUIRE(busy_one_by_one(cache.content(row.all), extent) == busy_one_by_one(cache.content(below), extent));
    }
  }
}

TEST_CASE("a picture of all rows of a recorded trace has each row, and each event that is wide enough", "[long]") {
  constexpr std::int32_t kWidth = 1'000;  // px, after 200 px of names
  for (const auto& trace : recorded_traces()) {
    const RowTree tree(*trace);
    RowArrangement all_open;
    for (const Row& row : tree.rows()) all_open.expanded[row.key] = true;
    const RowLayout layout(tree, all_open, {}, "");
    ContentCache contents(trace);
    const SvgPicture picture{trace->extent(), rows_in_sight(tree, layout, TraceSides::kApart, 0, layout.height()), kWidth + 200, std::nullopt};
    REQUIRE(picture.rows.size() == tree.rows().size());
    const std::string svg = svg_text(*trace, tree, picture, contents, nullptr, nullptr);
    const auto count = [&](std::string_view text) {
      std::size_t found = 0;
      for (std::size_t at = svg.find(text); at != std::string::npos; at = svg.find(text, at + 1)) ++found;
      return found;
    };
    CHECK(count("<g>") == count("</g>"));
    CHECK(count("<text ") == count("</text>"));
    // Lanes with one event that is so many pixels wide that rounding does not matter.
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) {
      const Lane& events = trace->lane(lane);
      if (events.size() != 1 || events.event(0).duration * kWidth < 4 * trace->extent().length()) continue;
      if (trace->name(events.name(0)) == thread_state_name(ThreadState::kBlocked)) continue;  // drawn as nothing
      CHECK(svg.find(markup_text(format_duration(events.event(0).duration)) + "</title><rect") != std::string::npos);
    }
  }
}
