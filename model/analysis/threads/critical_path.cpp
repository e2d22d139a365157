#include "model/analysis/threads/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "model/analysis/threads/waits.h"
#include "thread_activity.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kMostLooks = 40'000'000;  // at lanes: what an operation waited for is looked up in each lane of its stream
constexpr Nanoseconds kLaunchLatency = 10'000;  // from the end of a call to its work, if nothing else holds it up

// The operation that ends last within the time; if several end at or after its end, the one that ends last of all. Invalid if none overlaps the time.
EventRef last_operation(const Trace& trace, TimeRange time, ProcessId process = kNone) {
  EventRef last;
  std::pair<Nanoseconds, Nanoseconds> latest{time.begin, time.begin};
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind) || (process != kNone && track.key.process != process)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      const EventIndex behind = lane.lower_bound(time.end);
      if (behind == 0) continue;
      const Nanoseconds end = lane.end(behind - 1);
      const std::pair<Nanoseconds, Nanoseconds> ends{std::min(end, time.end), end};
      if (ends <= latest) continue;
      latest = ends;
      last = {id, behind - 1};
    }
  }
  return last;
}

// The thread that enqueued the operation, kNone if that was not recorded.
ThreadId launching_thread(const Trace& trace, EventRef operation) {
  const std::optional<EventRef> launch = trace.launch_of(operation);
  return launch ? trace.track_of(launch->lane).key.thread : kNone;
}

// The thread that enqueued the last operation that began before the end of the time, else the one that enqueued the next.
ThreadId thread_of_nearest_operation(const Trace& trace, TimeRange time, ProcessId process) {
  ThreadId before = kNone, behind = kNone;
  Nanoseconds last = 0, next = 0;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind) || (process != kNone && track.key.process != process)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      const EventIndex first_behind = lane.lower_bound(time.end);
      if (first_behind > 0)
        if (const Nanoseconds start = lane.start(first_behind - 1); before == kNone || start > last)
          if (const ThreadId thread = launching_thread(trace, {id, first_behind - 1}); thread != kNone) std::tie(before, last) = std::tuple(thread, start);
      if (first_behind < lane.size())
        if (const Nanoseconds start = lane.start(first_behind); behind == kNone || start < next)
          if (const ThreadId thread = launching_thread(trace, {id, first_behind}); thread != kNone) std::tie(behind, next) = std::tuple(thread, start);
    }
  }
  return before != kNone ? before : behind;
}

// The thread that NVTX ranges cover for longest within the time; if none does, other events.
ThreadId busiest_thread(const Trace& trace, TimeRange time, ProcessId process) {
  ThreadId found = kNone;
  std::pair<bool, Nanoseconds> most{false, 0};
  for (const Track& track : trace.tracks()) {
    if (track.key.thread == kNone || is_gpu_work(track.key.kind) || (process != kNone && track.key.process != process)) continue;
    for (const LaneId lane : track.lanes) {
      const Nanoseconds busy = trace.lane(lane).busy(time);
      const std::pair<bool, Nanoseconds> covered{busy > 0 && track.key.kind == TrackKind::kNvtxRanges, busy};
      if (covered <= most) continue;
      most = covered;
      found = track.key.thread;
    }
  }
  return found;
}

}  // namespace

// What the paths of a trace share.
struct CriticalPaths::State {
  explicit State(const Trace& of) : trace(of), waits(of), tracks(of), names(of) {}

  // Where nothing was recorded that shows waits, what is between calls is not known to be code that ran.
  [[nodiscard]] bool are_waits_shown(ProcessId process) {
    const auto [known, is_new] = shows_waits_of.try_emplace(process, true);
    if (is_new) known->second = shows_waits(trace, process);
    return known->second;
  }

  const Trace& trace;
  WaitFinder waits;
  ThreadTracks tracks;
  NameClasses names;
  std::map<ProcessId, bool> shows_waits_of;
  std::size_t looked_at = 0;  // lanes, for what operations waited for
};

namespace {

class Walk {
 public:
  Walk(CriticalPaths::State& state, TimeRange step, const std::stop_token& stop) : trace_(state.trace), state_(state), step_(step), stop_(stop) {}

  // `operation`: what ran on a GPU at the end of the step.
  CriticalPath from_operation(EventRef operation) {
    go_to_operation(operation);
    return walk();
  }
  CriticalPath from_thread(ThreadId thread) {
    thread_ = thread;
    return walk();
  }

 private:
  [[nodiscard]] TimeRange time(EventRef event) const {
    const Lane& lane = trace_.lane(event.lane);
    return {lane.start(event.index), lane.end(event.index)};
  }
  [[nodiscard]] ThreadId thread_of(EventRef event) const { return trace_.track_of(event.lane).key.thread; }

  // Each turn goes further back, or on to an operation that was not visited.
  CriticalPath walk() {
    t_ = step_.end;
    while (t_ > step_.begin && !stop_.stop_requested()) {
      if (operation_.valid())
        past_operation();
      else if (thread_ != kNone)
        along_thread();
      else
        take(step_.begin, PathKind::kUnknown, {});
    }
    if (stop_.stop_requested()) return {step_, {}};
    std::reverse(parts_.begin(), parts_.end());
    return {step_, std::move(parts_)};
  }

  // Adds a part from `begin`, or the start of the step, to the present position, at the present thread.
  void take(Nanoseconds begin, PathKind kind, EventRef event, IdleCause cause = IdleCause::kUnknown) {
    begin = std::max(begin, step_.begin);
    if (begin >= t_) return;
    parts_.push_back({{begin, t_}, kind, event, cause, thread_});
    t_ = begin;
  }

  void go_to_operation(EventRef operation) {
    thread_ = kNone;
    operation_ = visited_.insert(operation).second ? operation : EventRef{};  // times of a damaged trace may lead in a circle
  }
  void go_to_thread(ThreadId thread) {
    operation_ = {};
    thread_ = thread;
  }

  void past_operation() {
    const EventRef operation = operation_;
    state_.looked_at += trace_.track_of(operation.lane).lanes.size();
    if (state_.looked_at > kMostLooks) return take(step_.begin, PathKind::kUnknown, {});
    if (const auto collective = state_.waits.collective_wait(operation); collective && time(collective->last).begin > time(operation).begin) {
      take(time(collective->last).begin, PathKind::kGpuWork, operation);
      return go_to_operation(collective->last);
    }
    take(time(operation).begin, PathKind::kGpuWork, operation);
    const std::optional<Wait> wait = state_.waits.before(operation);
    const bool is_for_work = wait && wait->event.valid() && is_gpu_work(trace_.track_of(wait->event.lane).key.kind);
    if (is_for_work) {
      take(time(wait->event).end, PathKind::kOnTheWay, operation);
      return go_to_operation(wait->event);
    }
    const std::optional<EventRef> launch = trace_.launch_of(operation);
    if (!launch) return go_to_thread(kNone);
    const TimeRange call = time(*launch);
    take(call.end, t_ - call.end > kLaunchLatency ? PathKind::kEnqueued : PathKind::kOnTheWay, operation);
    go_to_thread(thread_of(*launch));
    take(call.begin, PathKind::kThread, *launch, thread_ == kNone ? IdleCause::kLaunch : cause_at(call.begin));
  }

  // Follows what the thread did until now, piece by piece, until it waited for something known.
  void along_thread() {
    const std::vector<Activity>& done = activities(thread_);
    auto piece = std::partition_point(done.begin(), done.end(), [&](const Activity& each) { return each.range.begin < t_; });
    if (piece == done.begin()) return take(step_.begin, PathKind::kUnknown, {});
    --piece;
    const EventRef call = piece->call == 0 ? EventRef{} : event_of(*piece);
    if (call.valid() ? leaves(*piece, call) : piece->cause == IdleCause::kOsBlocked && was_handed_over(*piece, piece->range, {})) return;
    const Nanoseconds begin = call.valid() ? std::max(piece->range.begin, time(call).begin) : piece->range.begin;
    take(begin, PathKind::kThread, call.valid() ? call : piece->nvtx, shown_cause(*piece, call));
  }

  [[nodiscard]] IdleCause shown_cause(const Activity& piece, EventRef call) {
    if (piece.cause != IdleCause::kCpuCode || call.valid()) return piece.cause;
    return state_.are_waits_shown(trace_.threads()[thread_].process) ? piece.cause : IdleCause::kUnknown;
  }

  // Returns true if the call waited for something else, with which the way continues.
  bool leaves(const Activity& piece, EventRef call) {
    if (piece.cause == IdleCause::kSynchronize || piece.cause == IdleCause::kCopy) {
      EventRef work = awaited_work(call);
      // If the call still waits here, for work that ends after the step, the way goes back from the last operation before.
      const bool still_waits = !work.valid() && time(call).end > t_;
      if (still_waits) work = last_operation(trace_, {time(call).begin, t_}, trace_.track_of(call.lane).key.process);
      if (!work.valid() || visited_.contains(work)) return false;
      take(time(work).end, still_waits ? PathKind::kThread : PathKind::kReturn, call, piece.cause);
      go_to_operation(work);
      return true;
    }
    if (piece.cause == IdleCause::kOsLock && was_handed_over(piece, time(call), call)) return true;
    if ((piece.cause == IdleCause::kOsQueue || piece.cause == IdleCause::kOsIo) && goes_on_in(state_.waits.waker(thread_, time(call)), piece, time(call), call))
      return true;
    const std::optional<Wait> wait = state_.waits.before(call);
    if (!wait || !wait->event.valid() || (wait->kind != WaitKind::kWriter && wait->kind != WaitKind::kLockHolder)) return false;
    const TimeRange other = time(wait->event);
    if (other.begin >= t_ || other.end <= piece.range.begin || thread_of(wait->event) == kNone || !visited_.insert(call).second) return false;
    take(other.end, PathKind::kReturn, call, piece.cause);
    go_to_thread(thread_of(wait->event));
    return true;
  }

  // Returns true if another thread ended the wait of this one by handing over to it, and the way continues there.
  bool was_handed_over(const Activity& piece, TimeRange wait, EventRef call) { return goes_on_in(state_.waits.hand_over(thread_, wait), piece, wait, call); }

  // Returns true if the way continues in the thread that ended the wait of this one.
  bool goes_on_in(const std::optional<Wait>& other, const Activity& piece, TimeRange wait, EventRef call) {
    if (wait.end > t_ || !other || !left_.insert({thread_, wait.begin}).second) return false;
    take(other->time.end, PathKind::kReturn, call, piece.cause);
    go_to_thread(thread_of(other->event));
    return true;
  }

  // The work that the call waited for, which ended before the present position: its own work, or that of others.
  [[nodiscard]] EventRef awaited_work(EventRef call) {
    const TimeRange own = time(call);
    EventRef last;
    const auto consider = [&](EventRef work) {
      if (time(work).end > own.begin && time(work).end <= t_ && (!last.valid() || time(work).end > time(last).end)) last = work;
    };
    for (const EventRef work : trace_.work_of(call)) consider(work);
    if (const std::optional<Wait> wait = state_.waits.before(call); wait && wait->kind == WaitKind::kGpuWork) consider(wait->event);
    return last;
  }

  // In adjoining pieces that cover the step.
  const std::vector<Activity>& activities(ThreadId thread) {
    const auto [found, is_new] = activities_.try_emplace(thread);
    if (is_new) ThreadActivity(trace_, state_.tracks, thread, state_.names).describe(step_, found->second);
    return found->second;
  }

  [[nodiscard]] IdleCause cause_at(Nanoseconds t) {
    const std::vector<Activity>& done = activities(thread_);
    const auto piece = std::partition_point(done.begin(), done.end(), [&](const Activity& each) { return each.range.end <= t; });
    return piece == done.end() ? IdleCause::kLaunch : piece->cause;
  }

  // The call that the piece belongs to: of the calls with its name, the one that was running at the present position.
  [[nodiscard]] EventRef event_of(const Activity& piece) const {
    for (const TrackId id : state_.tracks.of(thread_)) {
      const Track& track = trace_.tracks()[id];
      if (track.key.kind == TrackKind::kCpuSamples || track.key.kind == TrackKind::kBacktraces || track.key.kind == TrackKind::kThreadStates) continue;
      for (const LaneId lane : track.lanes)
        if (const auto index = trace_.lane(lane).at(std::min(t_, piece.range.end) - 1); index && trace_.lane(lane).name(*index) == piece.call)
          return {lane, *index};
    }
    return {};
  }

  const Trace& trace_;
  CriticalPaths::State& state_;
  TimeRange step_;
  std::stop_token stop_;
  std::map<ThreadId, std::vector<Activity>> activities_;  // of threads on the way
  std::set<EventRef> visited_;                            // operations, and calls from which the way went to another thread
  std::set<std::pair<ThreadId, Nanoseconds>> left_;       // waits, by their begin, from which the way went to the thread that ended them
  Nanoseconds t_ = 0;                                     // the present position: how far back the way has come
  EventRef operation_;                                    // the next operation on the way,
  ThreadId thread_ = kNone;                               // or else the thread whose activity is next
  std::vector<PathPart> parts_;                           // the last part first
};

// Of the work that the process enqueued within the range, the one that ends last.
EventRef last_work(const Trace& trace, ProcessId process, TimeRange range, const std::stop_token& stop) {
  EventRef last;
  for (const TrackId id : trace.tracks_of(process, TrackKind::kCudaApi))
    for (const LaneId lane : trace.tracks()[id].lanes)
      for (EventIndex i = trace.lane(lane).lower_bound(range.begin); i < trace.lane(lane).size() && trace.lane(lane).start(i) < range.end; ++i) {
        if (stop.stop_requested()) return {};
        for (const EventRef work : trace.work_of({lane, i}))
          if (!last.valid() || trace.event(work).end() > trace.event(last).end()) last = work;
      }
  return last;
}

CriticalPath path_of_time(CriticalPaths::State& state, TimeRange time, ProcessId process, const std::stop_token& stop) {
  const Trace& trace = state.trace;
  if (time.empty() || trace.provenance().outline_only || !has_known_times(trace.provenance())) return {time, {}};
  const EventRef last = last_operation(trace, time, process);
  if (last.valid() && trace.event(last).end() >= time.end) return Walk(state, time, stop).from_operation(last);
  ThreadId thread = last.valid() ? launching_thread(trace, last) : thread_of_nearest_operation(trace, time, process);
  if (last.valid() && thread == kNone) return Walk(state, {time.begin, trace.event(last).end()}, stop).from_operation(last);
  if (thread == kNone) thread = busiest_thread(trace, time, process);
  return thread == kNone ? CriticalPath{time, {}} : Walk(state, time, stop).from_thread(thread);
}

}  // namespace

CriticalPaths::CriticalPaths(const Trace& trace) : state_(std::make_unique<State>(trace)) {}
CriticalPaths::~CriticalPaths() = default;

CriticalPath CriticalPaths::of(TimeRange time, const std::stop_token& stop) { return path_of_time(*state_, time, kNone, stop); }

Nanoseconds end_of_step(const Trace& trace, EventRef nvtx_range, const std::stop_token& stop) {
  const Event event = trace.event(nvtx_range);
  const EventRef last = last_work(trace, trace.track_of(nvtx_range.lane).key.process, {event.start, event.end()}, stop);
  return last.valid() ? std::max(event.end(), trace.event(last).end()) : event.end();
}

CriticalPath CriticalPaths::of(EventRef nvtx_range, const std::stop_token& stop) {
  const Trace& trace = state_->trace;
  const Event event = trace.event(nvtx_range);
  const TimeRange range{event.start, event.end()};
  if (range.empty() || trace.provenance().outline_only) return {range, {}};
  const TrackKey& key = trace.track_of(nvtx_range.lane).key;
  const EventRef last = last_work(trace, key.process, range, stop);
  if (last.valid() && trace.event(last).end() > range.end) return Walk(*state_, {range.begin, trace.event(last).end()}, stop).from_operation(last);
  return key.thread == kNone ? path_of_time(*state_, range, key.process, stop) : Walk(*state_, range, stop).from_thread(key.thread);
}

CriticalPath critical_path(const Trace& trace, TimeRange time, const std::stop_token& stop) { return CriticalPaths(trace).of(time, stop); }
CriticalPath critical_path(const Trace& trace, EventRef nvtx_range, const std::stop_token& stop) { return CriticalPaths(trace).of(nvtx_range, stop); }

std::optional<std::uint32_t> rank_of(const Trace& trace, const PathPart& part) {
  const ProcessId process = part.event.valid() ? trace.track_of(part.event.lane).key.process : kNone;
  return process == kNone ? std::nullopt : trace.processes()[process].place.rank;
}

Message path_words(const PathPart& part) {
  switch (part.kind) {
    case PathKind::kGpuWork:
      return Message("Work of the GPU");
    case PathKind::kEnqueued:
      return Message(idle_cause_name(IdleCause::kDependency));
    case PathKind::kOnTheWay:
      return Message("On its way to the GPU");
    case PathKind::kThread:
      return part.cause == IdleCause::kUnknown ? Message("Between recorded calls, running or waiting") : Message(idle_cause_name(part.cause));
    case PathKind::kReturn:
      return Message("Returning from the wait");
    case PathKind::kUnknown:
      break;
  }
  return Message("What was waited for was not recorded");
}

std::vector<PathSum> path_sums(const Trace& trace, const CriticalPath& path) {
  // Parts of one process, thread or GPU each, as a sum is shown with the place of its longest part.
  std::map<std::tuple<PathKind, IdleCause, NameId, ProcessId, ThreadId, GpuId>, PathSum> sums;
  for (const PathPart& part : path.parts) {
    const TrackKey place = part.event.valid() ? trace.track_of(part.event.lane).key : TrackKey{.thread = part.thread};
    const NameId name = part.event.valid() ? trace.event(part.event).name : NameId{};
    PathSum& sum = sums[{part.kind, part.cause, name, place.process, place.thread, place.gpu}];
    if (part.range.length() > sum.longest.range.length()) sum.longest = part;
    sum.time += part.range.length();
    ++sum.parts;
  }
  std::vector<PathSum> sorted;
  for (const auto& [key, sum] : sums) sorted.push_back(sum);
  std::stable_sort(sorted.begin(), sorted.end(), [](const PathSum& a, const PathSum& b) { return a.time > b.time; });
  return sorted;
}

}  // namespace lanescope::analysis
