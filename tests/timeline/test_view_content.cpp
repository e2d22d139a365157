#include <random>

#include "support/catch.h"
#include "timeline/core/view/view_content.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::random_events;
using lanescope::test::SmallTrace;

TEST_CASE("the content of a later snapshot, made from the one before, is as if made anew, pixels and all") {
  std::mt19937 random(5);
  SmallTrace small;
  std::vector<std::vector<Event>> all(3);
  for (auto& events : all) events = random_events(small, random, 90'000, 900'000'000);
  std::unique_ptr<ViewContent> content;
  Sight sight{.range = {0, 0}, .moves = Sight::Moves::kWithAll, .width = 640, .height = 600};
  for (int part = 0; part < 3; ++part) {
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
      const auto first = all[stream].begin() + part * 30'000;
      small.builder.add(small.on_gpu(TrackKind::kKernels, stream + 1), std::vector<Event>(first, first + 30'000));
    }
    const auto trace = small.builder.snapshot();
    if (part == 0) {
      content = std::make_unique<ViewContent>(trace);
      REQUIRE_FALSE(content->continues());
    } else {
      const ViewContent before(content->trace());
      content = std::make_unique<ViewContent>(ViewContent::Base(*content), trace);
      REQUIRE(content->continues());
      content->contents().take_over(before.contents());
    }
    content->compute_pixels(sight, content->range_after(sight));
    ViewContent anew(trace);
    REQUIRE(content->tree().rows().size() == anew.tree().rows().size());
    const Viewport viewport = Viewport{bounds_of(*trace), 640}.on_grid();
    for (RowIndex row = 0; row < anew.tree().rows().size(); ++row) {
      REQUIRE(content->tree().row(row).all == anew.tree().row(row).all);
      REQUIRE(content->tree().row(row).share == anew.tree().row(row).share);
      for (const Level& level : anew.tree().row(row).levels) {
        const LevelPixels& grown = content->rasterizer(viewport).rasterize(content->contents().content(level), viewport);
        const LevelPixels& fresh = anew.rasterizer(viewport).rasterize(anew.contents().content(level), viewport);
        for (std::int32_t x = 0; x < 640; ++x) REQUIRE(grown.column(x) == fresh.column(x));
        REQUIRE(grown.boxes() == fresh.boxes());
      }
    }
  }
}

TEST_CASE("content of a trace whose names or lanes have other ids is made anew") {
  SmallTrace first, second;
  first.builder.add(first.on_gpu(TrackKind::kKernels), {first.event(0, 100, "gemm")});
  (void)second.builder.intern("another name first");
  second.builder.add(second.on_gpu(TrackKind::kKernels), {second.event(0, 100, "gemm"), second.event(200, 300, "relu")});
  const ViewContent before(first.builder.snapshot());
  REQUIRE_FALSE(ViewContent(ViewContent::Base(before), second.builder.snapshot()).continues());
  first.builder.add(first.on_gpu(TrackKind::kKernels), {first.event(200, 300, "relu")});
  REQUIRE(ViewContent(ViewContent::Base(before), first.builder.snapshot()).continues());
}

TEST_CASE("where a view goes as the trace grows") {
  const TimeRange later{0, 2'000};
  const auto after = [&](Sight::Moves moves, TimeRange range) { return range_after(Sight{.range = range, .moves = moves}, later, later.end); };
  REQUIRE(after(Sight::Moves::kWithAll, {0, 1'000}) == later);
  REQUIRE(after(Sight::Moves::kWithEnd, {700, 1'000}) == TimeRange{1'700, 2'000});
  REQUIRE(after(Sight::Moves::kNo, {700, 1'000}) == TimeRange{700, 1'000});
}

TEST_CASE("the axis of a recording that goes on reaches to the clock, and who follows its events follows them") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 1'000'000, "gemm")});
  const auto trace = small.builder.snapshot();
  const ViewContent before(trace);
  REQUIRE(before.bounds() == bounds_of(*trace));
  const ViewContent now(ViewContent::Base(before), trace, Projecting::kWhenAsked, 3'000'000);
  REQUIRE(now.bounds().begin == -30'000);  // 1 % of margin
  REQUIRE(now.bounds().end == 3'030'000);
  const auto after = [&](Sight::Moves moves) { return now.range_after(Sight{.range = {400'000, 500'000}, .moves = moves}); };
  REQUIRE(after(Sight::Moves::kWithAll) == now.bounds());
  REQUIRE(after(Sight::Moves::kWithEnd).contains(999'999));
  REQUIRE(after(Sight::Moves::kNo) == TimeRange{400'000, 500'000});
  REQUIRE(bounds_of(*trace, 500'000) == bounds_of(*trace));  // a clock behind the last event changes nothing
  const ViewContent empty(ViewContent::Base(ViewContent(TraceBuilder().snapshot())), TraceBuilder().snapshot(), Projecting::kWhenAsked, 2'000'000);
  REQUIRE(empty.bounds().contains(2'000'000 - 1));
}

TEST_CASE("ranges on the GPU are left out, taken as they were, or worked out, as is asked for") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(0, 100, "step 0")});
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(10, 15, "cudaLaunchKernel", 1)});
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(50, 80, "gemm", 1)});
  const auto first = small.builder.snapshot();
  const auto ranges = [](ViewContent& content) {
    const auto row = content.tree().find("gpu:0/nvtx");
    REQUIRE(row);
    return content.contents().content(content.tree().row(*row).all).busy({0, 1'000});
  };
  ViewContent without(first, Projecting::kAsBefore);
  REQUIRE(ranges(without) == 0);
  REQUIRE(without.contents().lacks_projections());
  ViewContent with(ViewContent::Base(without), first);
  REQUIRE(ranges(with) == 30);
  REQUIRE_FALSE(with.contents().lacks_projections());

  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(100, 200, "step 1")});
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(110, 115, "cudaLaunchKernel", 2)});
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(150, 190, "gemm", 2)});
  const auto later = small.builder.snapshot();
  ViewContent as_before(ViewContent::Base(with), later, Projecting::kAsBefore);
  REQUIRE(ranges(as_before) == 30);
  REQUIRE(as_before.contents().lacks_projections());
  ViewContent anew(ViewContent::Base(as_before), later);
  REQUIRE(ranges(anew) == 70);
  REQUIRE(with.tree().row(*with.tree().find("gpu:0")).all.size() == 1);  // ranges do not make a GPU busy
}

namespace {

// Two streams that often run at the same time, with so many events that it takes long to unite them.
std::shared_ptr<const Trace> two_busy_streams() {
  std::mt19937 random(11);
  SmallTrace small;
  for (const std::uint32_t stream : {1u, 2u})
    small.builder.add(small.on_gpu(TrackKind::kKernels, stream), random_events(small, random, 600'000, 6'000'000'000));
  return small.builder.snapshot();
}

std::vector<Level> levels_of_all_rows(const RowTree& tree) {
  std::vector<Level> levels;
  for (const Row& row : tree.rows()) levels.insert(levels.end(), row.levels.begin(), row.levels.end());
  return levels;
}

std::vector<const Level*> pointers_to(const std::vector<Level>& levels) {
  std::vector<const Level*> pointers;
  for (const Level& level : levels) pointers.push_back(&level);
  return pointers;
}

}  // namespace

TEST_CASE("what takes long to unite is painted in outline first, and as exactly as ever once it was made") {
  const auto trace = two_busy_streams();
  ViewContent content(trace);
  const std::vector<Level> levels = levels_of_all_rows(content.tree());
  const std::vector<const Level*> asked = pointers_to(levels);
  const Viewport whole = Viewport{content.bounds(), 800}.on_grid();
  std::vector<LevelContent> expected;
  for (const Level& level : levels) expected.emplace_back(trace, level);

  const Painted outline = content.painted(Pane::kRows, asked, whole);
  REQUIRE(outline.detail == Painted::Detail::kOutline);
  bool some_are_alike = false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelPixels& seen = outline.rasterizer->rasterize(*outline.contents[i], whole);
    LevelRasterizer apart;
    const LevelPixels& exact = apart.rasterize(expected[i], whole);
    const bool is_whole = std::all_of(levels[i].begin(), levels[i].end(), [](const LaneSource& source) { return source.whole(); });
    for (std::int32_t x = 0; x < 800; ++x) {
      REQUIRE(seen.column(x).busy <= whole.time_at(x + 1) - whole.time_at(x));
      if (!is_whole) continue;  // events by name, in runs
      REQUIRE(seen.column(x).total == exact.column(x).total);
      REQUIRE(seen.column(x).count == exact.column(x).count);
      REQUIRE(seen.column(x).busy >= exact.column(x).busy);
      some_are_alike = true;
    }
    if (levels[i].size() > 1 || !is_whole) CHECK(content.at_hand(levels[i]) == nullptr);  // levels that nobody waits for are not requested either
  }
  REQUIRE(some_are_alike);

  Picture picture = content.take_picture();
  picture.want(Pane::kRows, levels, whole);
  picture.make({});
  content.put(std::move(picture));
  const Painted made = content.painted(Pane::kRows, asked, whole);
  REQUIRE(made.detail == Painted::Detail::kExact);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    LevelRasterizer apart;
    const LevelPixels& exact = apart.rasterize(expected[i], whole);
    const LevelPixels& seen = made.rasterizer->rasterize(*made.contents[i], whole);
    for (std::int32_t x = 0; x < 800; ++x) REQUIRE(seen.column(x) == exact.column(x));
    REQUIRE(seen.boxes() == exact.boxes());
    REQUIRE(content.at_hand(levels[i]) != nullptr);
  }
}
