// Arrows of a path at every zoom: few enough to see what lies below them, and all where there is room.
#include <algorithm>
#include <map>
#include <random>

#include "support/catch.h"
#include "timeline/core/pixels/path_arrows.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

constexpr int kSteps = 5'000;
constexpr Nanoseconds kStepPeriod = 10'000;

// In each period, a call launches a kernel that the next call waits for. The path through all of it, the last event first.
struct Alternating {
  std::shared_ptr<const Trace> trace;
  std::vector<PathPlace> path;
};

Alternating alternating() {
  SmallTrace trace;
  std::mt19937 random(7);
  std::vector<Event> calls, kernels;
  for (int i = 0; i < kSteps; ++i) {
    const Nanoseconds begin = i * kStepPeriod + static_cast<Nanoseconds>(random() % 500);
    calls.push_back(trace.event(begin, begin + 3'000, "cudaLaunchKernel"));
    kernels.push_back(trace.event(begin + (i % 2 == 0 ? 2'000 : 4'000), begin + 9'000, "kernel"));
  }
  trace.builder.add(trace.on_thread(TrackKind::kCudaApi), calls);
  trace.builder.add(trace.on_gpu(TrackKind::kKernels), kernels);
  Alternating made{trace.builder.snapshot(), {}};
  const auto lane_of = [&](TrackKind kind) {
    for (const Track& track : made.trace->tracks())
      if (track.key.kind == kind) return track.lanes.front();
    return LaneId{kNone};
  };
  for (EventIndex i = kSteps; i-- > 0;) {
    made.path.push_back(whole_place(*made.trace, {lane_of(TrackKind::kKernels), i}));
    made.path.push_back(whole_place(*made.trace, {lane_of(TrackKind::kCudaApi), i}));
  }
  return made;
}

std::optional<std::uint32_t> own_row(LaneId lane) { return lane; }

}  // namespace

TEST_CASE("a path that is seen whole has few arrows, and each that is left out has one in its place") {
  const Alternating made = alternating();
  const Viewport viewport{{0, kSteps * kStepPeriod}, GENERATE(300, 1'000, 3'840)};
  const std::vector<PathArrow> arrows = arrows_of_path(made.path, viewport, own_row);
  const auto pieces = static_cast<std::size_t>(viewport.width / kArrowSpacing) + 2;
  REQUIRE(arrows.size() <= 2 * pieces);  // two pairs of rows: to the kernel, and back to the next call
  REQUIRE(arrows.size() >= 2 * (pieces - 3));
  for (std::size_t i = 1; i < made.path.size(); ++i) {
    const Nanoseconds arrives = made.trace->event(made.path[i - 1].event).start;
    const bool is_shown = std::any_of(arrows.begin(), arrows.end(), [&](const PathArrow& arrow) {
      const double apart = viewport.x_at(arrow.time.end) - viewport.x_at(arrives);
      return arrow.cause.lane == made.path[i].event.lane && arrow.effect.lane == made.path[i - 1].event.lane && apart >= 0 && apart < kArrowSpacing;
    });
    REQUIRE(is_shown);
  }
}

TEST_CASE("every arrow of a path is shown where there is room for it") {
  const Alternating made = alternating();
  const Nanoseconds begin = 1'000 * kStepPeriod;
  const Viewport viewport{{begin, begin + 10 * kStepPeriod}, 1'000};
  const std::vector<PathArrow> arrows = arrows_of_path(made.path, viewport, own_row);
  std::vector<PathArrow> all;
  for (std::size_t i = 1; i < made.path.size(); ++i) {
    const Event cause = made.trace->event(made.path[i].event), effect = made.trace->event(made.path[i - 1].event);
    const Nanoseconds from = cause.end() <= effect.start ? cause.end() : cause.start;
    if (std::max(from, effect.start) >= viewport.range.begin && std::min(from, effect.start) <= viewport.range.end)
      all.push_back({made.path[i].event, made.path[i - 1].event, {from, effect.start}});
  }
  REQUIRE(all.size() > 15);
  REQUIRE(arrows == all);
}

TEST_CASE("panning keeps the arrows of a path where they are") {
  const Alternating made = alternating();
  const TimeRange range{0, 1'000 * kStepPeriod};
  const std::vector<PathArrow> before = arrows_of_path(made.path, {range, 1'000}, own_row);
  for (const int pixels : {1, 7, 31, 100}) {
    const Nanoseconds moved = pixels * range.length() / 1'000;
    const std::vector<PathArrow> after = arrows_of_path(made.path, {{range.begin + moved, range.end + moved}, 1'000}, own_row);
    for (const PathArrow& arrow : before)
      if (arrow.time.begin > range.begin + moved + kArrowSpacing * range.length() / 1'000 &&
          arrow.time.end < range.end - kArrowSpacing * range.length() / 1'000)
        REQUIRE(std::find(after.begin(), after.end(), arrow) != after.end());
  }
}

TEST_CASE("a path has no arrows to rows that are not shown, and none without rows between") {
  const Alternating made = alternating();
  const Viewport viewport{{0, kSteps * kStepPeriod}, 1'000};
  REQUIRE(arrows_of_path(made.path, viewport, [](LaneId) { return std::optional<std::uint32_t>(); }).empty());
  REQUIRE(arrows_of_path({}, viewport, own_row).empty());
  REQUIRE(arrows_of_path(std::span(made.path).first(1), viewport, own_row).empty());
}

// Code that lies around a call comes twice, at its own part each time; the whole of it began before the call and ended behind it.
TEST_CASE("arrows meet an event at the part of it that is on the path") {
  SmallTrace trace;
  trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), {trace.event(0, 10'000, "forward")});
  trace.builder.add(trace.on_thread(TrackKind::kCudaApi), {trace.event(4'000, 6'000, "cudaMalloc")});
  const auto made = trace.builder.snapshot();
  const auto lane_of = [&](TrackKind kind) {
    return std::find_if(made->tracks().begin(), made->tracks().end(), [&](const Track& track) { return track.key.kind == kind; })->lanes.front();
  };
  const EventRef code{lane_of(TrackKind::kNvtxRanges), 0}, call{lane_of(TrackKind::kCudaApi), 0};
  const std::vector<PathPlace> path{{code, {6'000, 9'000}}, whole_place(*made, call), {code, {1'000, 4'000}}};
  const std::vector<PathArrow> arrows = arrows_of_path(path, {{0, 10'000}, 1'000}, own_row);
  REQUIRE(arrows == std::vector<PathArrow>{{call, code, {6'000, 6'000}}, {code, call, {4'000, 4'000}}});
}
