#include "thread_activity.h"

#include <algorithm>

#include "model/trace/file_access.h"
#include "model/trace/kernel_domains.h"
#include "model/trace/kernel_records.h"
#include "model/trace/python_lock.h"

namespace lanescope::analysis {
namespace {

// Its own, and what its process does on no thread that is known; in the order of the trace.
std::vector<TrackId> tracks_of(const Trace& trace, const ThreadTracks& tracks, ThreadId thread) {
  std::vector<TrackId> all(tracks.of(thread).begin(), tracks.of(thread).end());
  for (const TrackKind kind : {TrackKind::kOverhead, TrackKind::kCompilation}) {
    const std::vector<TrackId> more = tracks.of_no_thread(trace.threads()[thread].process, kind);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Of a state in which the thread did not run.
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

std::unordered_set<std::uint64_t> NameClasses::measured_launches(const Trace& trace) {
  std::unordered_set<std::uint64_t> launches;
  for (const auto& launch : trace.kernel_records().measured) {
    const std::uint64_t process = std::uint64_t{launch->process} << 32;
    launches.insert(process | launch->correlation);
    for (const std::uint32_t other : launch->other_launches) launches.insert(process | other);
  }
  for (const auto& counts : trace.kernel_records().counted) launches.insert(std::uint64_t{counts->process} << 32 | counts->correlation);
  return launches;
}

ThreadActivity::ThreadActivity(const Trace& trace, const ThreadTracks& tracks, ThreadId thread, NameClasses& names) : trace_(&trace), names_(&names) {
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
        if (domain == kFileAccessDomain) break;  // the calls themselves are there
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

// Takes over what the event says where it says more than what is known so far.
void ThreadActivity::consider(const Source& source, EventIndex index, Activity& activity, Layer& best) {
  const NameId name = source.cursor.lane().name(index);
  const bool is_range = source.layer == Layer::kRange || source.layer == Layer::kCommunication;
  if (is_range) {
    const EventRef range{source.id, index};
    const bool inner = !activity.nvtx.valid() || source.cursor.lane().start(index) >= trace_->lane(activity.nvtx.lane).start(activity.nvtx.index);
    if (inner) activity.nvtx = range;
  }
  if (source.layer == Layer::kOsCall && trace_->name(name).starts_with(kHoldsPythonLock)) return;  // whoever holds it goes on
  std::optional<IdleCause> held_back;
  if (source.layer == Layer::kHeldBack) {
    held_back = cause_of(trace_->thread_state_detail(source.cursor.lane().detail(index)).state);
    if (!held_back) return;
  }
  const Layer layer = source.layer == Layer::kRange && names_->communication(name) ? Layer::kCommunication : source.layer;
  if (layer == Layer::kRange || layer > best || (layer == best && layer != Layer::kCommunication)) return;
  best = layer;
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
      if (names_->is_measured(trace_->track_of(source.id).key.process, source.cursor.lane().correlation(index))) activity.cause = IdleCause::kOverhead;
      break;
    }
    case Layer::kCompilation:
      activity.cause = IdleCause::kCudaSetup;
      break;
    case Layer::kOsCall:
      activity.cause = names_->os_call(name);
      break;
    case Layer::kHeldBack:
      activity.cause = *held_back;
      break;
    case Layer::kRange:
      break;
  }
}

// What is known of time t; `until` becomes the time at which that may change.
Activity ThreadActivity::at(Nanoseconds t, std::vector<Scan>& scans, Nanoseconds& until) {
  Activity activity;
  Layer best = Layer::kRange;
  for (Scan& scan : scans) {
    const Lane& lane = scan.source->cursor.lane();
    while (scan.at < lane.size() && lane.end(scan.at) <= t) ++scan.at;
    if (scan.at == lane.size()) continue;
    if (lane.start(scan.at) > t) {
      until = std::min(until, lane.start(scan.at));
      continue;
    }
    until = std::min(until, lane.end(scan.at));
    consider(*scan.source, scan.at, activity, best);
  }
  return activity;
}

void ThreadActivity::describe(TimeRange window, std::vector<Activity>& pieces) {
  scans_.clear();
  for (Source& source : sources_) {
    const EventIndex at = source.cursor.seek(window.begin);
    if (at < source.cursor.lane().size() && source.cursor.lane().start(at) < window.end) scans_.push_back({&source, at});
  }
  for (Nanoseconds t = window.begin; t < window.end;) {
    Nanoseconds until = window.end;
    Activity activity = at(t, scans_, until);
    activity.range = {t, until};
    const bool goes_on = !pieces.empty() && pieces.back().range.end == t && pieces.back().cause == activity.cause && pieces.back().call == activity.call &&
                         pieces.back().nvtx == activity.nvtx;
    if (goes_on)
      pieces.back().range.end = until;
    else
      pieces.push_back(activity);
    t = until;
  }
}

EventRef ThreadActivity::innermost_range(Nanoseconds t) {
  EventRef innermost;
  Nanoseconds begin = 0;
  for (Source& source : sources_) {
    if (source.layer != Layer::kRange && source.layer != Layer::kCommunication) continue;
    const std::optional<EventIndex> range = source.cursor.at(t);
    if (!range || (innermost.valid() && source.cursor.lane().start(*range) < begin)) continue;
    innermost = {source.id, *range};
    begin = source.cursor.lane().start(*range);
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
