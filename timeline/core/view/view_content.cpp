#include "timeline/core/view/view_content.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "lanes/lane_groups.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/precedence.h"
#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr double kMargin = 0.01;                      // of the trace's length; free space before and after it
constexpr Nanoseconds kParts = 32;                    // of time: work can be stopped after each
constexpr Nanoseconds kEmptyLength = 1'000'000;       // shown when there are no events yet
constexpr std::uint64_t kLookedAtAtOnce = 1'000'000;  // events that may be read for one frame: takes some ten milliseconds
constexpr std::uint64_t kLookedAtForOne = 1u << 16;   // events that may be read for one of the many levels of a frame

// True if `now` has every lane of `before` with the same id and at least the same events. False if one of them is the outline of a file, or the part of the
// file that a loader has read: then rows are the same, but nothing that refers to lanes may be reused.
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

// A thread that shows a trace must not wait for its segments.
SegmentSums known_sums(const Trace& trace) {
  SegmentSums sums;
  if (!holds_events(trace)) sums.set_decoding(SegmentSums::Decoding::kMayNot);
  return sums;
}

}  // namespace

void Picture::want(Pane pane, std::vector<Level> levels, const Viewport& viewport) { wanted_[pane] = {std::move(levels), viewport}; }

void Picture::want(std::string row_key, Level level, TimeRange range, std::size_t sharers) {
  wanted_sums_[std::move(row_key)] = {std::move(level), {range, 0, 0, sharers}};
}

void Picture::make_levels() {
  std::vector<const Level*> levels;
  for (const auto& [pane, wanted] : wanted_)
    for (const Level& level : wanted.levels) levels.push_back(&level);
  for (const auto& [key, wanted] : wanted_sums_) levels.push_back(&wanted.level);
  (void)contents_.contents(levels);
}

void Picture::make(const std::stop_token& stop) {
  const Urgent urgent;
  if (parts_ == Parts::kLevels) return make_levels();
  if (contents_.forget_unused()) {
    pixels_.clear();
    has_forgotten_ = true;
  }
  for (const auto& [pane, wanted] : wanted_) {
    std::vector<const LevelContent*> contents;
    for (const Level& level : wanted.levels) {
      if (stop.stop_requested()) return;
      contents.push_back(&contents_.content(level));
    }
    const std::size_t own = contents.size();
    if (pane == Pane::kRows)
      for (const Level& level : foreseen_) contents.push_back(&contents_.content(level));
    pixels_[pane].prepare(contents, wanted.viewport, stop);
    if (contents.size() > own) pixels_[Pane::kOverview].take(pixels_[pane], std::span(contents).subspan(own));
  }
  add_up(stop);
  make_counters(stop);
}

void Picture::make_counters(const std::stop_token& stop) {
  constexpr std::size_t kColumns = 128;  // that are made at once
  struct Part {
    const CounterSeries* series;
    const Viewport* viewport;
    std::size_t first;
    std::span<CounterSummary> columns;
  };
  std::map<CounterId, OfCounter> made;
  std::vector<Part> parts;
  for (const auto& [counter, wanted] : wanted_counters_) {
    const auto& [series, viewport] = wanted;
    OfCounter& of = made[counter];
    of = {viewport, std::vector<CounterSummary>(static_cast<std::size_t>(viewport.width))};
    for (std::size_t first = 0; first < of.columns.size(); first += kColumns)
      parts.push_back({&series, &of.viewport, first, std::span(of.columns).subspan(first, std::min(kColumns, of.columns.size() - first))});
  }
  work_in_parts(parts.size(), [&](std::size_t index) {
    const Part& part = parts[index];
    if (!stop.stop_requested()) fill_counter_columns(*part.series, *part.viewport, part.first, part.columns);
  });
  if (stop.stop_requested()) return;
  if (made.empty()) return;
  std::erase_if(counters_, [now = made.begin()->second.viewport](const auto& known) { return known.second.viewport != now; });
  for (auto& [counter, of] : made) counters_[counter] = std::move(of);
}

namespace {

// What lies in a part of time of a lane: for how long it is busy, and the number of events that start there.
struct LaneSum {
  Nanoseconds busy = 0;
  std::uint64_t count = 0;
};

// Of lanes on demand, parts are decoded in which the range begins or ends.
LaneSum sum_of_lane(const ContentLane& lane, TimeRange range) {
  if (!lane.subset && !lane.lane->holds_segments()) {
    const LaneInParts events(*lane.lane);
    const EventIndex first = events.lower_bound(range.begin), end = events.lower_bound(range.end);
    return {events.busy_before(range.end, end) - events.busy_before(range.begin, first), end > first ? end - first : 0};
  }
  return lane.visit([range](const auto& events) {
    const EventIndex first = events.lower_bound(range.begin), end = events.lower_bound(range.end);
    return LaneSum{events.busy_before(range.end, end) - events.busy_before(range.begin, first), end > first ? end - first : 0};
  });
}

}  // namespace

// Lanes are summed individually first, each once for all rows: the heads of segments have what lies between the ends. What several lanes cover together
// requires their events, which are read once for all rows of one part of time that have lanes in common.
void Picture::add_up(const std::stop_token& stop) {
  using LaneAndTime = std::tuple<const Lane*, const LaneSubset*, Nanoseconds, Nanoseconds>;
  struct OfLane {
    const ContentLane* lane;
    TimeRange range;
    LaneSum sum;
  };
  std::map<LaneAndTime, OfLane> sums_of_lanes;
  const auto key_of = [](const ContentLane& lane, TimeRange range) { return LaneAndTime{lane.lane.get(), lane.subset.get(), range.begin, range.end}; };
  struct Sum {
    const std::string* key;
    const LevelContent* content;
    RowSum sum;
    std::vector<const ContentLane*> running;
  };
  std::vector<Sum> rows;
  for (const auto& [key, wanted] : wanted_sums_) {
    if (stop.stop_requested()) return;
    const LevelContent& content = contents_.content(wanted.level);
    rows.push_back({&key, &content, wanted.sum, {}});
    for (const ContentLane& lane : content.lanes()) sums_of_lanes.try_emplace(key_of(lane, wanted.sum.range), OfLane{&lane, wanted.sum.range, {}});
  }
  std::vector<OfLane*> of_lanes;
  for (auto& [key, of_lane] : sums_of_lanes) of_lanes.push_back(&of_lane);
  work_in_parts(of_lanes.size(), [&](std::size_t index) {
    if (!stop.stop_requested()) of_lanes[index]->sum = sum_of_lane(*of_lanes[index]->lane, of_lanes[index]->range);
  });
  if (stop.stop_requested()) return;
  struct Together {
    std::vector<Sum*> rows;
    std::vector<std::set<const Lane*>> lanes;  // of each
  };
  std::map<std::pair<Nanoseconds, Nanoseconds>, Together> by_time;
  for (Sum& row : rows) {
    Nanoseconds total = 0;
    std::set<const Lane*> lanes;
    for (const ContentLane& lane : row.content->lanes()) {
      const LaneSum& sum = sums_of_lanes.at(key_of(lane, row.sum.range)).sum;
      row.sum.count += sum.count;
      total += sum.busy;
      if (sum.busy == 0) continue;
      row.running.push_back(&lane);
      lanes.insert(lane.lane.get());
    }
    row.sum.busy = row.sum.sharers > 1 ? total / static_cast<Nanoseconds>(row.sum.sharers) : total;
    if (row.sum.sharers > 1 || row.running.size() < 2) continue;
    Together& together = by_time[{row.sum.range.begin, row.sum.range.end}];
    together.rows.push_back(&row);
    together.lanes.push_back(std::move(lanes));
  }
  std::vector<std::vector<Sum*>> groups;
  for (auto& [time, together] : by_time)
    for (const LaneGroup& group : groups_by_lanes(std::move(together.lanes))) {
      groups.emplace_back();
      for (const std::size_t set : group.sets) groups.back().push_back(together.rows[set]);
    }
  work_in_parts(groups.size(), [&](std::size_t index) {
    const std::vector<Sum*>& group = groups[index];
    std::map<std::pair<const Lane*, const LaneSubset*>, std::size_t> places;
    std::vector<BusyLane> lanes;
    std::vector<Nanoseconds> busy(group.size());
    std::vector<EventUnions::Wanted> wanted;
    for (std::size_t row = 0; row < group.size(); ++row) {
      wanted.push_back({{}, std::span(busy).subspan(row, 1)});
      for (const ContentLane* lane : group[row]->running) {
        const auto [place, is_new] = places.try_emplace({lane->lane.get(), lane->subset.get()}, lanes.size());
        if (is_new) lanes.push_back({lane->lane.get(), lane->subset.get()});
        wanted.back().lanes.push_back(place->second);
      }
    }
    EventUnions unions;
    const TimeRange range = group.front()->sum.range;
    const Nanoseconds length = range.length() / kParts;
    for (Nanoseconds part = 0; part < kParts && !stop.stop_requested(); ++part) {
      const Nanoseconds begin = range.begin + length * part, end = part + 1 < kParts ? begin + length : range.end;
      std::fill(busy.begin(), busy.end(), 0);  // so it becomes what is counted more than once
      unions.unite(lanes, std::array{begin, end}, wanted);
      for (std::size_t row = 0; row < group.size(); ++row) group[row]->sum.busy += busy[row];
    }
  });
  if (stop.stop_requested()) return;
  for (const Sum& row : rows) sums_[*row.key] = row.sum;
}

Nanoseconds row_busy(const LevelContent& content, TimeRange range, std::size_t sharers) {
  if (sharers < 2) return content.busy(range);
  Nanoseconds sum = 0;
  for (const ContentLane& lane : content.lanes()) sum += lane.visit([range](const auto& events) { return events.busy(range); });
  return sum / static_cast<Nanoseconds>(sharers);
}

namespace {

TimeRange bounds_of_time(TimeRange extent) noexcept {
  if (extent.empty()) return {extent.begin, extent.begin + kEmptyLength};
  const TimeRange wide = padded(extent, kMargin);
  return wide.length() >= kShortestRange ? wide : TimeRange{wide.begin, wide.begin + kShortestRange};
}

}  // namespace

TimeRange bounds_of(const Trace& trace, Clock clock) noexcept {
  TimeRange extent = trace.scope();
  if (const std::optional<SavedPart>& part = trace.provenance().part) extent.begin = std::min(extent.begin, part->first_launch);
  if (clock && *clock > extent.end) extent = {extent.empty() ? std::min<Nanoseconds>(0, *clock) : extent.begin, *clock};
  return bounds_of_time(extent);
}

TimeRange opening_range(const Trace& trace) noexcept { return trace.provenance().part ? bounds_of_time(trace.scope()) : bounds_of(trace); }

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

ViewContent::Base::Base(const ViewContent& content)
    : trace_(content.trace_), sums_(content.sums_), contents_(content.on_demand_ ? content.picture_.contents_ : content.contents_) {
  sums_.set_decoding(SegmentSums::Decoding::kMay);
}

ViewContent::ViewContent(std::shared_ptr<const Trace> trace, Projecting projecting)
    : trace_(std::move(trace)),
      bounds_(bounds_of(*trace_)),
      sums_(known_sums(*trace_)),
      tree_(*trace_, sums_),
      contents_(trace_, projecting),
      on_demand_(!holds_events(*trace_)),
      outlines_(trace_, Projecting::kAsBefore, Lanes::kOutlines) {
  if (on_demand_) picture_.contents_ = contents_;
}

ViewContent::ViewContent(Base before, std::shared_ptr<const Trace> trace, Projecting projecting, Clock clock)
    : trace_(std::move(trace)),
      bounds_(bounds_of(*trace_, clock)),
      continues_(has_same_lanes(*before.trace_, *trace_) && has_same_names(*before.trace_, *trace_)),
      sums_(continues_ ? std::move(before.sums_) : SegmentSums()),
      tree_(*trace_, sums_, clock),
      contents_(continues_ ? std::move(before.contents_) : ContentCache(trace_, projecting)),
      on_demand_(!holds_events(*trace_)),
      outlines_(trace_, Projecting::kAsBefore, Lanes::kOutlines) {
  if (continues_) contents_.grow(trace_, projecting);
  if (on_demand_) picture_.contents_ = contents_;
}

Painted ViewContent::painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport) {
  if (!on_demand_) {
    LevelRasterizer& pixels = rasterizer(viewport);  // lanes that are shown whole are the same in both
    auto contents = contents_.contents_within(kLookedAtAtOnce, levels);
    Painted painted = contents ? Painted{std::move(*contents), &pixels} : Painted{outlines_.contents(levels), &pixels, Painted::Detail::kOutline};
    pixels.prepare(painted.contents, viewport);
    return painted;
  }
  Painted exact{{}, &picture_.pixels_[pane]};
  for (const Level* level : levels)
    if (const LevelContent* content = picture_.contents_.find(*level)) exact.contents.push_back(content);
  if (exact.contents.size() == levels.size() && exact.rasterizer->has(exact.contents, viewport)) return exact;
  Painted outline{outlines_.contents(levels), &outline_pixels_[pane], Painted::Detail::kOutline};
  outline.rasterizer->prepare(outline.contents, viewport);
  return outline;
}

std::vector<Level> ViewContent::overview_to_make(const Viewport& viewport) const {
  if (!on_demand_ || viewport != Viewport{bounds_, viewport.width}.on_grid()) return {};
  std::vector<Level> levels = overview(tree_);
  std::vector<const LevelContent*> known;
  for (const Level& level : levels)
    if (const LevelContent* content = picture_.contents_.find(level)) known.push_back(content);
  const auto pixels = picture_.pixels_.find(Pane::kOverview);
  if (pixels != picture_.pixels_.end() && known.size() == levels.size() && pixels->second.has(known, viewport)) levels.clear();
  return levels;
}

Picture ViewContent::take_picture(std::initializer_list<Pane> panes) {
  Picture taken;
  if (on_demand_) {
    taken.contents_ = picture_.contents_;  // what is available at once stays so
    taken.sums_ = picture_.sums_;
    taken.counters_ = picture_.counters_;
    for (const Pane pane : panes) taken.pixels_.insert(picture_.pixels_.extract(pane));
  } else {
    taken.contents_ = contents_;
    taken.parts_ = Picture::Parts::kLevels;
  }
  return taken;
}

void ViewContent::put(Picture picture) {
  if (!on_demand_) return contents_.add(picture.contents_);
  if (picture.has_forgotten_) picture_.pixels_.clear();
  for (auto& [pane, pixels] : picture.pixels_) picture_.pixels_[pane] = std::move(pixels);
  picture_.contents_ = std::move(picture.contents_);
  picture_.sums_ = std::move(picture.sums_);
  picture_.counters_ = std::move(picture.counters_);
}

CounterColumns ViewContent::counter_columns(CounterId counter, const Viewport& viewport) const {
  if (const auto known = picture_.counters_.find(counter); known != picture_.counters_.end() && known->second.viewport == viewport)
    return {known->second.columns, CounterSeries::Detail::kExact};
  return counter_outline(trace_->counter_series(counter), viewport);
}

bool ViewContent::has_pictures_of(const ViewContent& other) const {
  if (!on_demand_ || !other.on_demand_) return false;
  if (trace_ == other.trace_) return true;
  const auto same_segments = [](const Lane& a, const Lane& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t segment = 0; segment < a.segment_count(); ++segment)
      if (a.segment_identity(segment) != b.segment_identity(segment)) return false;
    return true;
  };
  const std::vector<Lane>&lanes = trace_->lanes(), &others = other.trace_->lanes();
  return std::equal(lanes.begin(), lanes.end(), others.begin(), others.end(), same_segments) && has_same_lanes(*other.trace_, *trace_) &&
         has_same_names(*other.trace_, *trace_);
}

void ViewContent::continue_pictures(ViewContent& other) {
  picture_ = std::exchange(other.picture_, {});
  picture_.forget_sums();
  picture_.counters_.clear();  // the other trace may have values that this one lacks, or the reverse
}

std::optional<Picture::RowSum> ViewContent::sum_of(const std::string& row_key, const Level& level, TimeRange range, std::size_t sharers) {
  const auto found = picture_.sums_.find(row_key);
  if (found != picture_.sums_.end() && found->second.range == range) return found->second;
  const LevelContent* const content = picture_.contents_.find(level);
  const auto rows = picture_.pixels_.find(Pane::kRows);
  if (content == nullptr || rows == picture_.pixels_.end()) return std::nullopt;
  const auto drawn = rows->second.sum(*content, range);
  if (!drawn) return std::nullopt;
  const Nanoseconds busy = sharers < 2 ? drawn->busy : drawn->total / static_cast<Nanoseconds>(sharers);
  return picture_.sums_[row_key] = {range, busy, drawn->count, sharers};
}

const LevelContent* ViewContent::at_hand(const Level& level) {
  if (on_demand_) return picture_.contents_.find(level);
  const Level* const only[] = {&level};
  const auto contents = contents_.contents_within(kLookedAtForOne, only);
  return contents ? contents->front() : nullptr;
}

void ViewContent::make_at_once(std::span<const Level* const> levels) {
  if (!on_demand_) (void)contents_.contents_within(kLookedAtAtOnce, levels);
}

TimeRange ViewContent::range_after(const Sight& sight) const noexcept { return timeline::range_after(sight, bounds_, bounds_of(*trace_).end); }

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
