#include "thread_activity.h"

#include <algorithm>
#include <limits>

#include "model/trace/domains/file_access.h"
#include "model/trace/domains/kernel_domains.h"
#include "model/trace/domains/python_lock.h"
#include "model/trace/kernel_records.h"

namespace lanescope::analysis {
namespace {

// The tracks of the thread, and the tracks of its process that belong to no known thread; in the order of the trace.
std::vector<TrackId> tracks_of(const Trace& trace, const ThreadTracks& tracks, ThreadId thread) {
  std::vector<TrackId> all(tracks.of(thread).begin(), tracks.of(thread).end());
  for (const TrackKind kind : {TrackKind::kOverhead, TrackKind::kCompilation}) {
    const std::vector<TrackId> more = tracks.of_no_thread(trace.threads()[thread].process, kind);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The cause for a state in which the thread did not run.
std::optional<IdleCause> cause_of(ThreadState state) {
  switch (state) {
    case ThreadState::kBlocked:
      return IdleCause::kOsBlocked;
    case ThreadState::kRunnable:
      return IdleCause::kOsProcessor;
    case ThreadState::kRunning:
    case ThreadState::kUnknown:
      break;
  }
  return std::nullopt;
}

}  // namespace

ThreadActivity::ThreadActivity(const Trace& trace, const ThreadTracks& tracks, ThreadId thread, NameClasses& names, std::size_t few_lanes)
    : trace_(&trace), names_(&names), few_lanes_(few_lanes) {
  const ProcessId process = trace.threads()[thread].process;
  for (const TrackId id_of_track : tracks_of(trace, tracks, thread)) {
    const Track& track = trace.tracks()[id_of_track];
    if (track.lanes.empty()) continue;
    const auto add = [&](Layer layer, LaneId id) { sources_.push_back({layer, id, LaneCursor(trace.lane(id))}); };
    switch (track.key.kind) {
      case TrackKind::kCudaApi:
        add(Layer::kCudaCall, track.lanes.front());  // outermost calls
        break;
      case TrackKind::kOsRuntime:
        add(Layer::kOsCall, track.lanes.front());
        break;
      case TrackKind::kThreadStates:
        for (const LaneId id : track.lanes) add(Layer::kHeldBack, id);
        break;
      case TrackKind::kOverhead:
        for (const LaneId id : track.lanes) add(Layer::kOverhead, id);
        break;
      case TrackKind::kCompilation:
        for (const LaneId id : track.lanes) add(Layer::kCompilation, id);
        break;
      case TrackKind::kNvtxRanges:
      case TrackKind::kNvtxProcessRanges: {
        const std::string_view domain = trace.domain_name(process, track.key.domain);
        if (domain == kFileAccessDomain) break;  // the calls themselves are recorded on another track
        const bool is_of_system = domain == kPythonLockDomain || domain == kSystemCallDomain;
        const Layer layer = is_of_system ? Layer::kOsCall : is_communication_domain(domain) ? Layer::kCommunication : Layer::kRange;
        for (const LaneId id : track.lanes) add(layer, id);
        break;
      }
      default:
        break;
    }
  }
}

ThreadActivity::Layer ThreadActivity::layer_of(const Source& source, EventIndex index) {
  const Lane& lane = source.cursor.lane();
  switch (source.layer) {
    case Layer::kOsCall:  // the holder of Python's lock is not waiting
      return trace_->name(lane.name(index)).starts_with(kHoldsPythonLock) ? Layer::kRange : source.layer;
    case Layer::kHeldBack:
      return cause_of(trace_->thread_state_detail(lane.detail(index)).state) ? source.layer : Layer::kRange;
    case Layer::kRange:
      return names_->communication(lane.name(index)) ? Layer::kCommunication : source.layer;
    default:
      return source.layer;
  }
}

void ThreadActivity::take(const Source& source, EventIndex index, Layer layer, Activity& activity) {
  const NameId name = source.cursor.lane().name(index);
  activity.call = layer == Layer::kHeldBack ? 0 : name;
  switch (layer) {
    case Layer::kOverhead:
      activity.cause = IdleCause::kOverhead;
      break;
    case Layer::kCommunication:
      activity.cause = IdleCause::kCommunication;
      break;
    case Layer::kCudaCall: {
      constexpr IdleCause kCauses[] = {IdleCause::kLaunch, IdleCause::kSynchronize, IdleCause::kCopy, IdleCause::kCudaSetup};
      activity.cause = kCauses[static_cast<std::size_t>(names_->cuda_call(name))];
      if (names_->measured.contains(trace_->track_of(source.id).key.process, source.cursor.lane().correlation(index))) activity.cause = IdleCause::kOverhead;
      break;
    }
    case Layer::kCompilation:
      activity.cause = IdleCause::kCudaSetup;
      break;
    case Layer::kOsCall:
      activity.cause = names_->os_call(name);
      break;
    case Layer::kHeldBack:
      activity.cause = *cause_of(trace_->thread_state_detail(source.cursor.lane().detail(index)).state);
      break;
    case Layer::kRange:
      break;
  }
}

void ThreadActivity::enter(std::uint32_t source, Nanoseconds t) {
  const EventIndex at = sources_[source].cursor.seek(t);
  const Lane& lane = sources_[source].cursor.lane();
  sweep_.covering[source] = lane.size();
  sweep_.next[source] = std::numeric_limits<Nanoseconds>::max();
  if (at == lane.size()) return;
  const TimeRange time = sources_[source].cursor.time();
  sweep_.next[source] = time.begin > t ? time.begin : time.end;
  sweep_.changes.emplace(sweep_.next[source], source);
  if (time.begin > t) return;
  sweep_.covering[source] = at;
  if (is_range(sources_[source])) sweep_.ranges.emplace(time.begin, source);
  if (const Layer layer = layer_of(sources_[source], at); layer != Layer::kRange) sweep_.by_layer[static_cast<std::size_t>(layer)].insert(source);
}

void ThreadActivity::leave(std::uint32_t source) {
  const Lane& lane = sources_[source].cursor.lane();
  if (sweep_.covering[source] == lane.size()) return;
  if (is_range(sources_[source])) sweep_.ranges.erase({lane.start(sweep_.covering[source]), source});
  for (std::set<std::uint32_t>& of_layer : sweep_.by_layer) of_layer.erase(source);
}

bool ThreadActivity::move_to(Nanoseconds t) {
  if (!sweep_.has_begun) {
    sweep_.has_begun = true;
    sweep_.covering.resize(sources_.size());
    sweep_.next.resize(sources_.size());
    for (std::uint32_t source = 0; source < sources_.size(); ++source) enter(source, t);
    sweep_.time = t;
  }
  if (t < sweep_.time) return false;
  advance(t);
  advanced_.clear();
  sweep_.time = t;
  return true;
}

void ThreadActivity::advance(Nanoseconds t) {
  for (; !sweep_.changes.empty(); sweep_.changes.pop()) {
    const auto [time, source] = sweep_.changes.top();
    if (time != sweep_.next[source]) continue;  // outdated: it was added before going back
    if (time > t) return;
    leave(source);
    enter(source, t);
    advanced_.push_back(source);
  }
}

void ThreadActivity::go_back() {
  std::sort(advanced_.begin(), advanced_.end());
  advanced_.erase(std::unique(advanced_.begin(), advanced_.end()), advanced_.end());
  for (const std::uint32_t source : advanced_) {
    leave(source);
    enter(source, sweep_.time);
  }
  advanced_.clear();
}

Activity ThreadActivity::at_in_many(Nanoseconds t, Nanoseconds& until) {
  advance(t);
  if (!sweep_.changes.empty()) until = std::min(until, sweep_.changes.top().first);
  Activity activity;
  if (!sweep_.ranges.empty()) activity.nvtx = {sources_[sweep_.ranges.rbegin()->second].id, sweep_.covering[sweep_.ranges.rbegin()->second]};
  for (std::size_t i = 0; i < sweep_.by_layer.size(); ++i) {
    const std::set<std::uint32_t>& of_layer = sweep_.by_layer[i];
    if (of_layer.empty()) continue;
    const auto layer = static_cast<Layer>(i);
    const std::uint32_t source = layer == Layer::kCommunication ? *of_layer.rbegin() : *of_layer.begin();
    take(sources_[source], sweep_.covering[source], layer, activity);
    break;
  }
  return activity;
}

// What the thread did at time t; `until` is lowered to the time at which that may change.
Activity ThreadActivity::at(Nanoseconds t, std::vector<Scan>& scans, Nanoseconds& until) {
  Activity activity;
  Nanoseconds range_start = 0;
  Layer best = Layer::kRange;
  for (Scan& scan : scans) {
    const Lane& lane = scan.source->cursor.lane();
    while (scan.at < lane.size() && scan.time.end <= t)
      if (++scan.at < lane.size()) scan.time = {lane.start(scan.at), lane.end(scan.at)};
    if (scan.at == lane.size()) continue;
    if (scan.time.begin > t) {
      until = std::min(until, scan.time.begin);
      continue;
    }
    until = std::min(until, scan.time.end);
    if (is_range(*scan.source) && (!activity.nvtx.valid() || scan.time.begin >= range_start)) {
      activity.nvtx = {scan.source->id, scan.at};
      range_start = scan.time.begin;
    }
    const Layer layer = layer_of(*scan.source, scan.at);
    if (layer == Layer::kRange || layer > best || (layer == best && layer != Layer::kCommunication)) continue;  // for communication, the last one counts
    best = layer;
    take(*scan.source, scan.at, layer, activity);
  }
  return activity;
}

void ThreadActivity::describe(TimeRange window, std::vector<Activity>& pieces) {
  scans_.clear();
  const bool is_swept = has_many() && move_to(window.begin);
  for (Source& source : sources_) {
    if (is_swept) break;
    const EventIndex at = source.cursor.seek(window.begin);
    if (at < source.cursor.lane().size() && source.cursor.time().begin < window.end) scans_.push_back({&source, at, source.cursor.time()});
  }
  for (Nanoseconds t = window.begin; t < window.end;) {
    Nanoseconds until = window.end;
    Activity activity = is_swept ? at_in_many(t, until) : at(t, scans_, until);
    activity.range = {t, until};
    const bool goes_on = !pieces.empty() && pieces.back().range.end == t && pieces.back().cause == activity.cause && pieces.back().call == activity.call &&
                         pieces.back().nvtx == activity.nvtx;
    if (goes_on)
      pieces.back().range.end = until;
    else
      pieces.push_back(activity);
    t = until;
  }
  if (is_swept) go_back();
}

EventRef ThreadActivity::innermost_range(Nanoseconds t) {
  EventRef innermost;
  if (has_many() && (!sweep_.has_begun || t >= sweep_.time)) {
    if (!sweep_.has_begun && !move_to(t)) return {};
    advance(t);
    if (!sweep_.ranges.empty()) innermost = {sources_[sweep_.ranges.rbegin()->second].id, sweep_.covering[sweep_.ranges.rbegin()->second]};
    go_back();
    return innermost;
  }
  Nanoseconds begin = 0;
  for (Source& source : sources_) {
    if (source.layer != Layer::kRange && source.layer != Layer::kCommunication) continue;
    const std::optional<EventIndex> range = source.cursor.at(t);
    if (!range || (innermost.valid() && source.cursor.time().begin < begin)) continue;
    innermost = {source.id, *range};
    begin = source.cursor.time().begin;
  }
  return innermost;
}

NameId ThreadActivity::stream_wait_before(EventRef call) const {
  const Lane& lane = trace_->lane(call.lane);
  for (EventIndex i = call.index; i > 0 && call.index - i < kCallsBeforeLaunch; --i) {
    const NameId name = lane.name(i - 1);
    if (names_->stream_wait(name)) return name;
  }
  return 0;
}

}  // namespace lanescope::analysis
