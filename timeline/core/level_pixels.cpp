#include "timeline/core/level_pixels.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

// Weighted majority: what outweighs all others together stays.
void vote(Column& column, NameId name, Nanoseconds weight, TrackKind kind) {
  if (name == column.dominant && kind == column.kind) {
    column.weight += weight;
  } else if (weight > column.weight) {
    column.dominant = name;
    column.kind = kind;
    column.weight = weight - column.weight;
  } else {
    column.weight -= weight;
  }
}

template <typename Events>
void consider_longest(Column& column, const ContentLane& content, const Events& events, EventIndex index, Nanoseconds duration) {
  if (duration <= column.longest_duration) return;
  column.longest = content.ref(index);
  column.longest_duration = duration;
  if (column.weight == 0 && duration == 0) {  // instants hold no time, so none outweighs another
    column.dominant = events.name(index);
    column.kind = content.kind;
  }
}

// What the events that start in [first, last) and the one before add to the column [begin, end).
template <typename Events>
void add_events(Column& column, const ContentLane& content, const Events& lane, TimeRange window, EventIndex first, EventIndex last,
                Nanoseconds busy) {
  column.total += busy;
  if (first > 0 && lane.end(first - 1) > window.begin) {
    ++column.carried;
    consider_longest(column, content, lane, first - 1, lane.duration(first - 1));
    vote(column, lane.name(first - 1), std::min(lane.end(first - 1), window.end) - window.begin, content.kind);
  }
  if (first == last) return;
  column.count += last - first;
  const EventIndex final_event = last - 1;  // the only one that may run on
  if (first < final_event) {
    const LaneSummary summary = lane.summarize(first, final_event);
    consider_longest(column, content, lane, summary.longest, summary.longest_duration);
    vote(column, summary.dominant, summary.weight, content.kind);
  }
  consider_longest(column, content, lane, final_event, lane.duration(final_event));
  vote(column, lane.name(final_event), std::min(lane.end(final_event), window.end) - lane.start(final_event), content.kind);
}

// Adds what another lane has in the same column.
void merge(Column& column, const Column& other) {
  if (!other.longest.valid()) return;
  column.total += other.total;
  column.count += other.count;
  column.carried += other.carried;
  const bool first = !column.longest.valid();
  if (other.longest_duration > column.longest_duration) {
    column.longest = other.longest;
    column.longest_duration = other.longest_duration;
  }
  if (first) {
    column.dominant = other.dominant;
    column.kind = other.kind;
    column.weight = other.weight;
  } else {
    vote(column, other.dominant, other.weight, other.kind);
  }
}

constexpr std::size_t kAhead = 12;  // columns: by then what was prefetched is there

// Busy time before each edge of a column.
template <typename Events>
std::vector<Nanoseconds> busy_before_edges(const Events& lane, std::span<const Nanoseconds> times, std::span<const EventIndex> edges) {
  std::vector<Nanoseconds> busy(times.size());
  busy[0] = lane.busy_before(times[0], edges[0]);
  Nanoseconds last_end = edges[0] > 0 ? lane.end(edges[0] - 1) : times[0];
  for (std::size_t edge = 1; edge < times.size(); ++edge) {
    if (edge + kAhead < edges.size()) lane.prefetch(edges[edge + kAhead]);
    if (edges[edge] == edges[edge - 1]) {
      busy[edge] = busy[edge - 1] + std::max<Nanoseconds>(0, std::min(last_end, times[edge]) - times[edge - 1]);
    } else {
      busy[edge] = lane.busy_before(times[edge], edges[edge]);
      last_end = lane.end(edges[edge] - 1);
    }
  }
  return busy;
}

template <typename Events>
void fill_columns(const ContentLane& content, const Events& lane, std::span<const Nanoseconds> times, std::span<const EventIndex> edges,
                  LevelPixels& into) {
  const std::vector<Nanoseconds> busy_before = busy_before_edges(lane, times, edges);
  for (std::size_t x = 0; x < into.columns.size(); ++x) {
    const Nanoseconds busy = busy_before[x + 1] - busy_before[x];
    if (busy == 0 && edges[x] == edges[x + 1]) continue;
    add_events(into.columns[x], content, lane, {times[x], times[x + 1]}, edges[x], edges[x + 1], busy);
    into.columns[x].busy = busy;
  }
}

// The event before an edge is seen singly if no other starts until the next edge: so every box is found at an edge, however many events
// there are.
template <typename Events>
void add_boxes(const ContentLane& content, const Events& lane, const Viewport& viewport, std::span<const EventIndex> edges,
               LevelPixels& into) {
  EventIndex previous = kNone;
  for (const EventIndex edge : edges) {
    if (edge == 0 || edge == previous) continue;
    previous = edge;
    const EventIndex index = edge - 1;
    const Box box{viewport.x_at(lane.start(index)), viewport.x_at(lane.end(index)), content.ref(index), content.kind, lane.name(index)};
    if (box.right > 0 && box.right - box.left >= kNarrowestBox) into.boxes.push_back(box);
  }
}

}  // namespace

void LevelRasterizer::look_at(const Viewport& viewport) {
  if (viewport == viewport_) return;
  forget();
  viewport_ = viewport;
  times_.resize(static_cast<std::size_t>(viewport.width) + 1);
  for (std::size_t x = 0; x < times_.size(); ++x) times_[x] = viewport.time_at(static_cast<std::int64_t>(x));
}

void LevelRasterizer::forget() {
  for (auto& [key, pixels] : lanes_) spare_.push_back(std::move(pixels));
  for (auto& [key, pixels] : combined_) spare_.push_back(std::move(pixels));
  edges_.clear();
  lanes_.clear();
  combined_.clear();
}

LevelPixels LevelRasterizer::take_spare() {
  if (spare_.empty()) return {};
  LevelPixels pixels = std::move(spare_.back());
  spare_.pop_back();
  pixels.columns.clear();
  pixels.boxes.clear();
  return pixels;
}

void LevelRasterizer::prepare(std::span<const LevelContent* const> contents, const Viewport& viewport) {
  look_at(viewport);
  // Three steps, each of parts that are independent: edges in lanes of the trace, then columns of lanes, then of levels that combine lanes.
  std::vector<std::pair<const Lane*, Edges*>> new_edges;
  std::vector<std::pair<const ContentLane*, LevelPixels*>> new_lanes;
  std::vector<std::pair<const LevelContent*, LevelPixels*>> new_levels;
  for (const LevelContent* content : contents) {
    for (const ContentLane& lane : content->lanes()) {
      if (const auto [entry, is_new] = edges_.try_emplace(lane.lane.get()); is_new) new_edges.emplace_back(entry->first, &entry->second);
      if (lanes_.contains({lane.lane.get(), lane.subset.get()})) continue;
      const auto entry = lanes_.emplace(LaneKey{lane.lane.get(), lane.subset.get()}, take_spare()).first;
      new_lanes.emplace_back(&lane, &entry->second);
    }
    if (content->lanes().size() == 1 || combined_.contains(content)) continue;
    new_levels.emplace_back(content, &combined_.emplace(content, take_spare()).first->second);
  }
  parallel_for(new_edges.size(), [&](std::size_t index) {
    const auto [lane, edges] = new_edges[index];
    edges->resize(times_.size());
    lane->lower_bounds(times_, *edges);
  });
  parallel_for(new_lanes.size(), [&](std::size_t index) { compute_lane(*new_lanes[index].first, *new_lanes[index].second); });
  parallel_for(new_levels.size(), [&](std::size_t index) { combine_lanes(*new_levels[index].first, *new_levels[index].second); });
}

const LevelPixels& LevelRasterizer::rasterize(const LevelContent& content, const Viewport& viewport) {
  const LevelContent* const only[] = {&content};
  prepare(only, viewport);
  if (content.lanes().size() != 1) return combined_.at(&content);
  const ContentLane& lane = content.lanes().front();
  LevelPixels& pixels = lanes_.at({lane.lane.get(), lane.subset.get()});
  pixels.columns.resize(times_.size() - 1);
  return pixels;
}

void LevelRasterizer::compute_lane(const ContentLane& content, LevelPixels& into) const {
  content.visit([&](const auto& lane) {
    const auto [first, last] = lane.overlapping(viewport_.range);
    if (first == last) return;
    into.columns.resize(times_.size() - 1);
    const Edges& of_lane = edges_.at(content.lane.get());
    if (content.subset) {
      Edges edges(of_lane.size());
      content.subset->ranks(of_lane, edges);
      fill_columns(content, lane, times_, edges, into);
      add_boxes(content, lane, viewport_, edges, into);
    } else {
      fill_columns(content, lane, times_, of_lane, into);
      add_boxes(content, lane, viewport_, of_lane, into);
    }
  });
}

void LevelRasterizer::combine_lanes(const LevelContent& content, LevelPixels& into) const {
  into.columns.resize(times_.size() - 1);
  for (const ContentLane& lane : content.lanes()) {
    const LevelPixels& pixels = lanes_.at({lane.lane.get(), lane.subset.get()});
    for (std::size_t x = 0; x < pixels.columns.size(); ++x) merge(into.columns[x], pixels.columns[x]);
    into.boxes.insert(into.boxes.end(), pixels.boxes.begin(), pixels.boxes.end());
  }
  std::vector<Nanoseconds> busy(times_.size());
  content.merged().busy_before(times_, busy);
  for (std::size_t x = 0; x < into.columns.size(); ++x) into.columns[x].busy = busy[x + 1] - busy[x];
  std::sort(into.boxes.begin(), into.boxes.end(), [](const Box& a, const Box& b) { return a.left < b.left; });
}

std::vector<std::uint8_t> LevelRasterizer::matching_columns(const LevelContent& content, EventMatches& matches) const {
  std::vector<std::uint8_t> matching(times_.size() - 1);
  for (const ContentLane& lane : content.lanes()) {
    const LevelPixels& pixels = lanes_.at({lane.lane.get(), lane.subset.get()});
    if (pixels.columns.empty()) continue;
    if (lane.subset || lane.projected) {  // where events have one name, or are wide
      for (std::size_t x = 0; x < matching.size(); ++x)
        if (pixels.columns[x].longest.valid() && matches.matches(pixels.columns[x].dominant)) matching[x] = 1;
      continue;
    }
    const LaneSubset& found = matches.in_lane(lane.source);
    if (found.empty()) continue;
    std::vector<EventIndex> ranks(times_.size());
    found.ranks(edges_.at(lane.lane.get()), ranks);
    for (std::size_t x = 0; x < matching.size(); ++x)
      if (ranks[x + 1] > ranks[x] || (ranks[x] > 0 && found.end(ranks[x] - 1) > times_[x])) matching[x] = 1;
  }
  return matching;
}

PixelHit hit_test(const LevelContent& content, const Viewport& viewport, std::int32_t x) {
  PixelHit hit;
  const TimeRange window{viewport.time_at(x), std::max(viewport.time_at(x) + 1, viewport.time_at(std::int64_t{x} + 1))};
  Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();
  for (const ContentLane& each : content.lanes())
    each.visit([&](const auto& lane) {
      const EventIndex first = lane.lower_bound(window.begin);
      const EventIndex last = lane.lower_bound(window.end);
      add_events(hit.column, each, lane, window, first, last, lane.busy(window));
      const bool carried = first > 0 && lane.end(first - 1) > window.begin;
      if (!carried && first == last) return;
      const EventIndex candidate = last > first ? last - 1 : first - 1;
      const bool single = (last - first) + (carried ? 1 : 0) == 1;
      const bool wide = static_cast<double>(lane.duration(candidate)) >= kNarrowestBox * viewport.step();
      if ((single || wide) && lane.start(candidate) >= latest) {
        latest = lane.start(candidate);
        hit.event = each.ref(candidate);
      }
    });
  hit.column.busy = content.busy(window);
  return hit;
}

std::optional<Nanoseconds> nearest_edge(const LevelContent& content, Nanoseconds time, Nanoseconds tolerance) {
  std::optional<Nanoseconds> nearest;
  const auto consider = [&](Nanoseconds edge) {
    if (std::abs(edge - time) > tolerance) return;
    if (!nearest || std::abs(edge - time) < std::abs(*nearest - time)) nearest = edge;
  };
  for (const ContentLane& each : content.lanes())
    each.visit([&](const auto& lane) {
      const EventIndex next = lane.lower_bound(time);
      if (next < lane.size()) consider(lane.start(next));
      if (next == 0) return;
      consider(lane.start(next - 1));
      consider(lane.end(next - 1));
      if (next > 1) consider(lane.end(next - 2));
    });
  return nearest;
}

}  // namespace lanescope::timeline
