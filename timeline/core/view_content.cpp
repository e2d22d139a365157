#include "timeline/core/view_content.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lanescope::timeline {
namespace {

constexpr double kMargin = 0.01;                 // of the trace's length, free space before and after it
constexpr Nanoseconds kEmptyLength = 1'000'000;  // shown when there are no events yet

// Whether `now` has every lane of `before` under the same number, with more events or the same. Not so where one is a file's outline, or
// what a loader has of the file so far: then rows are the same, but nothing that counts in lanes may be carried over.
bool has_same_lanes(const Trace& before, const Trace& now) {
  if (now.provenance().outline_only != before.provenance().outline_only || now.lanes().size() < before.lanes().size()) return false;
  const auto positions = [](const Trace& trace) {  // of lanes in their tracks
    std::vector<std::size_t> of_lane(trace.lanes().size());
    for (const Track& track : trace.tracks())
      for (std::size_t position = 0; position < track.lanes.size(); ++position) of_lane[track.lanes[position]] = position;
    return of_lane;
  };
  const std::vector<std::size_t> positions_before = positions(before), positions_now = positions(now);
  for (LaneId id = 0; id < before.lanes().size(); ++id)
    if (before.track_of(id).key != now.track_of(id).key || positions_before[id] != positions_now[id]) return false;
  return true;
}

bool has_same_names(const Trace& before, const Trace& now) {
  if (now.name_count() < before.name_count()) return false;
  for (NameId name = 0; name < before.name_count(); ++name)
    if (before.name(name).data() != now.name(name).data() && before.name(name) != now.name(name)) return false;
  return true;
}

}  // namespace

TimeRange bounds_of(const Trace& trace, Clock clock) noexcept {
  TimeRange extent = trace.extent();
  if (clock && *clock > extent.end) extent = {extent.empty() ? std::min<Nanoseconds>(0, *clock) : extent.begin, *clock};
  if (extent.empty()) return {extent.begin, extent.begin + kEmptyLength};
  const TimeRange wide = padded(extent, kMargin);
  return wide.length() >= kShortestRange ? wide : TimeRange{wide.begin, wide.begin + kShortestRange};
}

TimeRange range_after(const Sight& sight, TimeRange bounds, Nanoseconds end) noexcept {
  switch (sight.moves) {
    case Sight::Moves::kWithAll:
      return bounds;
    case Sight::Moves::kWithEnd:
      return clamped(panned(sight.range, end - sight.range.end), bounds);
    case Sight::Moves::kNo:
      break;
  }
  return sight.range;
}

ViewContent::Base::Base(const ViewContent& content) : trace_(content.trace_), sums_(content.sums_), contents_(content.contents_) {}

ViewContent::ViewContent(std::shared_ptr<const Trace> trace, Projecting projecting)
    : trace_(std::move(trace)), bounds_(bounds_of(*trace_)), tree_(*trace_, sums_), contents_(trace_, projecting) {}

ViewContent::ViewContent(Base before, std::shared_ptr<const Trace> trace, Projecting projecting, Clock clock)
    : trace_(std::move(trace)),
      bounds_(bounds_of(*trace_, clock)),
      continues_(has_same_lanes(*before.trace_, *trace_) && has_same_names(*before.trace_, *trace_)),
      sums_(continues_ ? std::move(before.sums_) : SegmentSums()),
      tree_(*trace_, sums_),
      contents_(continues_ ? std::move(before.contents_) : ContentCache(trace_, projecting)) {
  if (continues_) contents_.grow(trace_, projecting);
}

TimeRange ViewContent::range_after(const Sight& sight) const noexcept {
  return timeline::range_after(sight, bounds_, bounds_of(*trace_).end);
}

void ViewContent::compute_pixels(const Sight& sight, TimeRange range) {
  if (sight.width <= 0) return;
  const RowLayout layout(tree_, sight.arrangement, sight.metrics, sight.row_filter);
  std::vector<const Level*> in_sight;
  for (const PlacedRow* row : layout.in_sight(sight.scroll, sight.height))
    for (const Level& level : RowLayout::levels_in_sight(*row, sight.scroll, sight.height)) in_sight.push_back(&level);
  const std::vector<Level> of_overview = overview(tree_);
  std::vector<const Level*> whole;
  for (const Level& level : of_overview) whole.push_back(&level);
  const Viewport window = Viewport{range, sight.width}.on_grid();
  const Viewport all = Viewport{bounds_, sight.width}.on_grid();
  rasterizer(window).prepare(contents_.contents(in_sight), window);
  of_all_.prepare(contents_.contents(whole), all);
}

void ViewContent::forget_pixels() {
  of_all_.forget();
  of_window_.forget();
}

}  // namespace lanescope::timeline
