#include "passage.h"

#include <algorithm>

#include "model/events/name_family.h"
#include "model/trace/domains/python_lock.h"

namespace lanescope {
namespace {

constexpr std::size_t kLookedAtOnce = 1u << 14;  // events between two checks of the stop token

// One byte per name: whether it contains the text.
std::vector<std::uint8_t> matching_names(const Trace& trace, std::string_view part) {
  std::vector<std::uint8_t> matches(trace.name_count());
  for (std::size_t i = 0; i < matches.size(); ++i) matches[i] = name_matches(trace.name(static_cast<NameId>(i)), part) ? 1 : 0;
  return matches;
}

// One byte per call node: whether a function of the chain has a matching name.
std::vector<std::uint8_t> matching_chains(const Trace& trace, const std::vector<std::uint8_t>& names) {
  const CallStacks& stacks = trace.call_stacks();
  std::vector<std::uint8_t> matches(stacks.node_count());
  for (CallNodeId node = 1; node < matches.size(); ++node) {  // callers come before their callees
    matches[node] = matches[stacks.node(node).parent];
    for (const CodeFunction& function : stacks.functions(stacks.node(node).location)) matches[node] |= names[function.function];
  }
  return matches;
}

bool has_chains(TrackKind kind) noexcept { return kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces; }

bool may_match(const Trace& trace, const TrackKey& key, const EventFilter& filter) noexcept {
  if (filter.thread && (is_on_stream(key.kind) || key.thread != *filter.thread)) return false;
  if (filter.stream && (!is_on_stream(key.kind) || StreamName{key.process, key.context, key.stream} != *filter.stream)) return false;
  if (!filter.kind) return true;
  switch (*filter.kind) {
    case EventKind::kKernel:
      return key.kind == TrackKind::kKernels;
    case EventKind::kCopy:
    case EventKind::kSet:
      return key.kind == TrackKind::kMemory;
    case EventKind::kGraphLaunch:
      return key.kind == TrackKind::kGraphLaunches;
    case EventKind::kSynchronization:
      return key.kind == TrackKind::kSynchronizations;
    case EventKind::kCudaApi:
      return key.kind == TrackKind::kCudaApi;
    case EventKind::kNvtxRange:
      return key.kind == TrackKind::kNvtxRanges || (key.kind == TrackKind::kNvtxProcessRanges && !is_of_python_lock(trace, key));
    case EventKind::kPythonLock:
      return is_of_python_lock(trace, key);
    case EventKind::kNvtxMark:
      return key.kind == TrackKind::kNvtxMarks;
    case EventKind::kOsRuntime:
      return key.kind == TrackKind::kOsRuntime;
    case EventKind::kOverhead:
      return key.kind == TrackKind::kOverhead;
    case EventKind::kCompilation:
      return key.kind == TrackKind::kCompilation;
    case EventKind::kPageFault:
      return key.kind == TrackKind::kPageFaults;
    case EventKind::kThreadState:
      return key.kind == TrackKind::kThreadStates;
    case EventKind::kProcessor:
      return key.kind == TrackKind::kProcessors;
    case EventKind::kCpuSample:
      return key.kind == TrackKind::kCpuSamples;
    case EventKind::kBacktrace:
      return key.kind == TrackKind::kBacktraces;
    case EventKind::kMemoryUsage:
      return key.kind == TrackKind::kMemoryUsage;
    case EventKind::kCudaEvent:
      return key.kind == TrackKind::kCudaEvents;
  }
  return true;
}

}  // namespace

Passage::Passage(const Trace& trace, std::span<const LaneId> lanes, const EventFilter& filter)
    : trace_(trace), filter_(filter), names_(filter.text.empty() ? std::vector<std::uint8_t>() : matching_names(trace, filter.text)) {
  if (!names_.empty()) chains_ = matching_chains(trace, names_);
  if (!filter.values.empty()) has_values_.emplace(trace, filter.values);
  for (const LaneId id : lanes) {
    const TrackKey& key = trace.track_of(id).key;
    if (!may_match(trace, key, filter) || (has_values_ && !has_values_->may_hold(trace.track_of(id)))) continue;
    const Lane& lane = trace.lane(id);
    const auto [first, last] = filter.window ? lane.overlapping(*filter.window) : std::pair<EventIndex, EventIndex>(0, lane.size());
    if (first < last) stretches_.push_back({id, first, last, has_chains(key.kind)});
  }
}

void Passage::reserve_for_all(std::vector<EventRef>& events, std::size_t most) const {
  if (const std::size_t count = event_count(stretches_); filter_ == EventFilter{}) reserve(events, count <= most ? count : most + kLookedAtOnce);
}

void Passage::gather(const Stretch& stretch, std::vector<EventRef>& into, const std::stop_token& stop, std::size_t most) const {
  const bool by_operation = filter_.kind == EventKind::kCopy || filter_.kind == EventKind::kSet;
  const Lane& lane = trace_.lane(stretch.lane);
  for (EventIndex begin = stretch.first; begin < stretch.last; begin += std::min<EventIndex>(kLookedAtOnce, stretch.last - begin)) {
    if (stop.stop_requested() || into.size() > most) return;
    const EventIndex end = begin + std::min<EventIndex>(kLookedAtOnce, stretch.last - begin);
    const std::size_t before = into.size();
    for (EventIndex i = begin; i < end; ++i) {
      if (!names_.empty() && !is_found(lane, stretch.chained, i)) continue;
      if (filter_.minimum_duration > 0 && lane.duration(i) < filter_.minimum_duration) continue;
      if (by_operation && event_kind(trace_, {stretch.lane, i}) != *filter_.kind) continue;
      into.push_back({stretch.lane, i});
    }
    if (has_values_) has_values_->keep(into, before);
  }
}

}  // namespace lanescope
