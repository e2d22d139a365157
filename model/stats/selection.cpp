#include "model/stats/selection.h"

#include <algorithm>
#include <set>

#include "model/trace/combining/parts.h"

namespace lanescope::stats {

Result<Selection> Selection::of(const Trace& trace, const ReportOptions& options, std::shared_ptr<SharedLaunchIndex> index) {
  Selection selection(trace, index ? std::move(index) : std::make_shared<SharedLaunchIndex>());
  selection.stop_ = options.stop;
  if (options.range) {
    auto range = selection.find_range(*options.range);
    if (!range) return selection.no_such_range(*options.range);
    selection.collect_launches(*range);
    selection.range_ = std::move(range);
  }
  selection.window_ = options.time_range;  // the range, and the call that enqueued its work, may lie outside of the window
  return selection;
}

template <typename Visit>
void Selection::for_each_range_named(std::string_view text, Visit visit) const {
  const auto name = trace_->find_name(text);
  if (!name) return;
  for (const TrackKind kind : {TrackKind::kNvtxRanges, TrackKind::kNvtxProcessRanges})
    for_each(kind, [&](const Track& track, const EventView& event) {
      if (event.name() == *name) visit(track.key.process, trace_->domain_name(track.key.process, track.key.domain), event);
    });
}

namespace {

// Without a domain, the default domain is meant.
bool is_in(std::string_view domain, const RangeFilter& filter) { return filter.domain ? *filter.domain == "*" || domain == *filter.domain : domain.empty(); }

// The text escaped as parse_range_filter() expects it.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '@' || c == '/' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::size_t Selection::ranges_named(const Trace& trace, const RangeFilter& filter) {
  std::map<ProcessId, std::size_t> counts;
  std::size_t most = 0;
  Selection(trace, nullptr).for_each_range_named(filter.range, [&](ProcessId process, std::string_view domain, const EventView&) {
    if (is_in(domain, filter)) most = std::max(most, ++counts[process]);
  });
  return most;
}

Error Selection::no_such_range(const RangeFilter& filter) const {
  std::set<std::string, std::less<>> other_domains;
  for_each_range_named(filter.range, [&](ProcessId, std::string_view domain, const EventView&) {
    if (!is_in(domain, filter)) other_domains.emplace(domain);
  });
  std::string text;
  if (const std::size_t most = ranges_named(*trace_, filter); most > 0) {
    text = "The NVTX range " + filter.range + " comes " + (most == 1 ? "once" : std::to_string(most) + " times") +
           " in a process at most, and indexes count from 0: there is none with index " + std::to_string(filter.index) + ".";
  } else if (other_domains.empty()) {
    text = "The trace has no NVTX range " + filter.range + ". See the names with: lanescope stats -r nvtx_sum";
  } else if (other_domains.begin()->empty()) {
    text = "The NVTX range " + filter.range + " is in the default domain: name it without one.";
  } else {
    text = "The NVTX range " + filter.range + " is in another domain: name it as " + escaped(filter.range) + "@" + escaped(*other_domains.begin()) + ".";
  }
  return {std::move(text), ErrorKind::kUsage};
}

std::map<ProcessId, EventRef> Selection::range_events(const Trace& trace, const RangeFilter& filter) {
  std::map<ProcessId, std::vector<std::pair<Nanoseconds, EventRef>>> found;  // with their starts
  Selection(trace, nullptr).for_each_range_named(filter.range, [&](ProcessId process, std::string_view domain, const EventView& event) {
    if (is_in(domain, filter)) found[process].emplace_back(event.start(), event.ref);
  });
  std::map<ProcessId, EventRef> events;
  for (auto& [process, ranges] : found) {
    if (filter.index >= ranges.size()) continue;
    const auto nth = ranges.begin() + static_cast<std::ptrdiff_t>(filter.index);
    std::nth_element(ranges.begin(), nth, ranges.end());
    events[process] = nth->second;
  }
  return events;
}

std::optional<Selection::Range> Selection::find_range(const RangeFilter& filter) const {
  Range range;
  for (const auto& [process, event] : range_events(*trace_, filter)) {
    const Lane& lane = trace_->lane(event.lane);
    const TimeRange time{lane.start(event.index), lane.end(event.index)};
    range.hull = range.times.empty() ? time : TimeRange{std::min(range.hull.begin, time.begin), std::max(range.hull.end, time.end)};
    range.times[process] = time;
  }
  return range.times.empty() ? std::nullopt : std::optional(std::move(range));
}

std::optional<TimeRange> Selection::time_on(const Track& track) const noexcept {
  if (track.key.process == kNone) return range_->hull;
  const auto time = range_->times.find(track.key.process);
  return time == range_->times.end() ? std::nullopt : std::optional(time->second);
}

std::vector<Selection::Stretch> Selection::stretches(TrackKind kind) const {
  std::vector<Stretch> found;
  for_each_lane(kind, [&](const Track& track, LaneId id) {
    const auto [first, last] = bounds_in(track, trace_->lane(id));
    for (EventIndex i = first; i < last;) {
      const EventIndex stop = std::min(last, i - i % LaneSegment::kCapacity + LaneSegment::kCapacity);
      found.push_back({&track, id, i, stop});
      i = stop;
    }
  });
  return found;
}

std::pair<EventIndex, EventIndex> Selection::bounds_in(const Track& track, const Lane& lane) const {
  std::pair<EventIndex, EventIndex> bounds{0, lane.size()};
  const auto narrow = [&](TimeRange time) {
    const auto within = lane.overlapping(time);
    bounds = {std::max(bounds.first, within.first), std::min(bounds.second, within.second)};
  };
  if (window_) {
    narrow(*window_);
    // For several recordings the window spans all of them: events in front of one saved part may be within the window because of another.
    if (const TracePart* const part = part_of(*trace_, track))
      if (const std::optional<SavedPart> saved = saved_part_of(*trace_, part)) narrow(saved->time);
  }
  if (range_ && !is_gpu(track.key.kind)) {
    const std::optional<TimeRange> time = time_on(track);
    if (!time) return {};
    const auto within = lane.overlapping(*time);
    bounds = {std::max(bounds.first, within.first), std::min(bounds.second, within.second)};
  }
  return bounds;
}

bool Selection::begins_in_range(EventRef call, ProcessId process) const {
  if (!call.valid()) return false;
  const auto time = range_->times.find(process);
  return time != range_->times.end() && time->second.contains(trace_->lane(call.lane).start(call.index));
}

void Selection::collect_launches(Range& range) const {
  for_each(TrackKind::kCudaApi, [&](const Track& track, const EventView& call) {
    const auto time = range.times.find(track.key.process);
    if (time != range.times.end() && time->second.contains(call.start())) range.launches.insert(launch_key(track.key.process, call.correlation()));
  });
}

}  // namespace lanescope::stats
