#include "timeline/core/level_pixels.h"

#include <algorithm>
#include <cstdlib>

namespace lanescope::timeline {
namespace {

// First event at or after t, looked for from `from` on, where about `expected` events lie between.
EventIndex gallop(const Lane& lane, Nanoseconds t, EventIndex from, EventIndex expected) {
  const EventIndex size = lane.size();
  if (from >= size || lane.start(from) >= t) return from;
  EventIndex low = from;  // start(low) < t
  EventIndex step = std::max<EventIndex>(1, expected);
  while (size - low > step && lane.start(low + step) < t) {
    low += step;
    step *= 2;
  }
  EventIndex high = size - low > step ? low + step : size;  // start(high) >= t, or the end
  while (high - low > 1) {
    const EventIndex middle = low + (high - low) / 2;
    (lane.start(middle) < t ? low : high) = middle;
  }
  return high;
}

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

void consider_longest(Column& column, const ContentLane& content, EventIndex index, Nanoseconds duration) {
  if (duration <= column.longest_duration) return;
  column.longest = content.ref(index);
  column.longest_duration = duration;
  if (column.weight == 0 && duration == 0) {  // instants hold no time, so none outweighs another
    column.dominant = content.lane->name(index);
    column.kind = content.kind;
  }
}

// What the events that start in [first, last) and the one before add to the column [begin, end).
void add_events(Column& column, const ContentLane& content, TimeRange window, EventIndex first, EventIndex last, Nanoseconds busy) {
  const Lane& lane = *content.lane;
  column.total += busy;
  if (first > 0 && lane.end(first - 1) > window.begin) {
    ++column.carried;
    consider_longest(column, content, first - 1, lane.duration(first - 1));
    vote(column, lane.name(first - 1), std::min(lane.end(first - 1), window.end) - window.begin, content.kind);
  }
  if (first == last) return;
  column.count += last - first;
  const EventIndex final_event = last - 1;  // the only one that may run on
  if (first < final_event) {
    const LaneSummary summary = lane.summarize(first, final_event);
    consider_longest(column, content, summary.longest, summary.longest_duration);
    vote(column, summary.dominant, summary.weight, content.kind);
  }
  consider_longest(column, content, final_event, lane.duration(final_event));
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

}  // namespace

void LevelRasterizer::rasterize(const LevelContent& content, const Viewport& viewport, LevelPixels& into) {
  constexpr std::size_t kMostLanes = 256;  // kept: some 100 KB each
  const auto width = static_cast<std::size_t>(viewport.width);
  if (viewport != viewport_ || computed_.size() > kMostLanes) computed_.clear();
  if (viewport != viewport_) {
    viewport_ = viewport;
    times_.resize(width + 1);
    for (std::size_t x = 0; x <= width; ++x) times_[x] = viewport.time_at(static_cast<std::int64_t>(x));
  }
  into.columns.assign(width, Column{});
  into.boxes.clear();
  for (const ContentLane& lane : content.lanes()) {
    const LevelPixels& pixels = lane_pixels(lane);
    for (std::size_t x = 0; x < pixels.columns.size(); ++x) merge(into.columns[x], pixels.columns[x]);
    into.boxes.insert(into.boxes.end(), pixels.boxes.begin(), pixels.boxes.end());
  }
  if (content.lanes().size() > 1) {
    set_union(content.merged(), into);
    std::sort(into.boxes.begin(), into.boxes.end(), [](const Box& a, const Box& b) { return a.left < b.left; });
  } else {
    for (Column& column : into.columns) column.busy = column.total;
  }
}

const LevelPixels& LevelRasterizer::lane_pixels(const ContentLane& lane) {
  const auto [entry, is_new] = computed_.try_emplace(lane.lane.get());
  LevelPixels& pixels = entry->second;
  if (!is_new) return pixels;
  const auto [first, last] = lane.lane->overlapping(viewport_.range);
  if (first == last) return pixels;
  pixels.columns.resize(times_.size() - 1);
  locate(*lane.lane);
  fill_columns(lane, pixels);
  add_boxes(lane, pixels);
  return pixels;
}

// Passes of their own, so that misses of the cache overlap.
void LevelRasterizer::locate(const Lane& lane) {
  first_.resize(times_.size());
  busy_.resize(times_.size());
  first_[0] = lane.lower_bound(times_[0]);
  EventIndex expected = 1;
  for (std::size_t edge = 1; edge < times_.size(); ++edge) {
    first_[edge] = gallop(lane, times_[edge], first_[edge - 1], expected);
    expected = first_[edge] - first_[edge - 1];
  }
  busy_[0] = lane.busy_before(times_[0], first_[0]);
  Nanoseconds last_end = first_[0] > 0 ? lane.end(first_[0] - 1) : times_[0];
  for (std::size_t edge = 1; edge < times_.size(); ++edge) {
    if (first_[edge] == first_[edge - 1]) {
      busy_[edge] = busy_[edge - 1] + std::max<Nanoseconds>(0, std::min(last_end, times_[edge]) - times_[edge - 1]);
    } else {
      busy_[edge] = lane.busy_before(times_[edge], first_[edge]);
      last_end = lane.end(first_[edge] - 1);
    }
  }
}

void LevelRasterizer::fill_columns(const ContentLane& lane, LevelPixels& into) const {
  for (std::size_t x = 0; x < into.columns.size(); ++x) {
    const Nanoseconds busy = busy_[x + 1] - busy_[x];
    if (busy == 0 && first_[x] == first_[x + 1]) continue;
    add_events(into.columns[x], lane, {times_[x], times_[x + 1]}, first_[x], first_[x + 1], busy);
  }
}

// The event before an edge is seen singly if no other starts until the next edge: so every box is found at an edge, however many events
// there are.
void LevelRasterizer::add_boxes(const ContentLane& content, LevelPixels& into) const {
  const Lane& lane = *content.lane;
  EventIndex previous = kNone;
  for (const EventIndex edge : first_) {
    if (edge == 0 || edge == previous) continue;
    previous = edge;
    const EventIndex index = edge - 1;
    const Box box{viewport_.x_at(lane.start(index)), viewport_.x_at(lane.end(index)), content.ref(index), content.kind, lane.name(index)};
    if (box.right > 0 && box.right - box.left >= kNarrowestBox) into.boxes.push_back(box);
  }
}

void LevelRasterizer::set_union(const IntervalUnion& merged, LevelPixels& into) const {
  std::size_t position = merged.lower_bound(times_[0]);
  Nanoseconds before = merged.busy_before(times_[0], position);
  for (std::size_t x = 0; x < into.columns.size(); ++x) {
    position = merged.lower_bound(times_[x + 1], position);
    const Nanoseconds after = merged.busy_before(times_[x + 1], position);
    into.columns[x].busy = after - before;
    before = after;
  }
}

PixelHit hit_test(const LevelContent& content, const Viewport& viewport, std::int32_t x) {
  PixelHit hit;
  const TimeRange window{viewport.time_at(x), std::max(viewport.time_at(x) + 1, viewport.time_at(std::int64_t{x} + 1))};
  Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();
  for (const ContentLane& lane : content.lanes()) {
    const EventIndex first = lane.lane->lower_bound(window.begin);
    const EventIndex last = lane.lane->lower_bound(window.end);
    add_events(hit.column, lane, window, first, last, lane.lane->busy(window));
    const bool carried = first > 0 && lane.lane->end(first - 1) > window.begin;
    if (!carried && first == last) continue;
    const EventIndex candidate = last > first ? last - 1 : first - 1;
    const bool single = (last - first) + (carried ? 1 : 0) == 1;
    const bool wide = static_cast<double>(lane.lane->duration(candidate)) >= kNarrowestBox * viewport.step();
    if ((single || wide) && lane.lane->start(candidate) >= latest) {
      latest = lane.lane->start(candidate);
      hit.event = lane.ref(candidate);
    }
  }
  hit.column.busy = content.busy(window);
  return hit;
}

std::optional<Nanoseconds> nearest_edge(const LevelContent& content, Nanoseconds time, Nanoseconds tolerance) {
  std::optional<Nanoseconds> nearest;
  const auto consider = [&](Nanoseconds edge) {
    if (std::abs(edge - time) > tolerance) return;
    if (!nearest || std::abs(edge - time) < std::abs(*nearest - time)) nearest = edge;
  };
  for (const ContentLane& content_lane : content.lanes()) {
    const Lane& lane = *content_lane.lane;
    const EventIndex next = lane.lower_bound(time);
    if (next < lane.size()) consider(lane.start(next));
    if (next == 0) continue;
    consider(lane.start(next - 1));
    consider(lane.end(next - 1));
    if (next > 1) consider(lane.end(next - 2));
  }
  return nearest;
}

}  // namespace lanescope::timeline
