#include "model/analysis/threads/waits.h"

#include <algorithm>
#include <array>
#include <map>

#include "call_class.h"
#include "model/trace/combining/parts.h"
#include "model/trace/domains/python_lock.h"
#include "ranks/collective_waits.h"
#include "thread_activity.h"

namespace lanescope::analysis {
namespace {

constexpr Nanoseconds kLaunchLatency = 10'000;       // between a call and its work on an empty GPU, or between two operations of a stream
constexpr Nanoseconds kLongestLook = 1'000'000'000;  // back along a thread; except in gaps of its GPU, which are described whole (idle.h)
constexpr Nanoseconds kHandOver = 1'000'000;         // between a thread that writes and one that wakes up
constexpr Nanoseconds kTurns = 200'000;              // between a thread that goes on and the one that woke it and waits from then on

bool is_writing_call(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 4> kWrites{"write", "send", "mq_send", "splice"};
  return contains_any(name, kWrites);
}

}  // namespace

struct WaitFinder::State {
  explicit State(const Trace& of) : trace(of), names(of) {}

  [[nodiscard]] const TrackKey& key(EventRef event) const { return trace.track_of(event.lane).key; }
  [[nodiscard]] TimeRange time(EventRef event) const {
    const Lane& lane = trace.lane(event.lane);
    return {lane.start(event.index), lane.end(event.index)};
  }
  [[nodiscard]] CallClass call_class(EventRef call) { return names.cuda_call(trace.lane(call.lane).name(call.index)); }

  // Visits the last event that starts before t in each lane of the wanted tracks.
  template <typename Wanted, typename Visit>
  void for_each_last(Nanoseconds t, Wanted wanted, Visit visit) const {
    for (const Track& track : trace.tracks()) {
      if (!wanted(track.key)) continue;
      for (const LaneId id : track.lanes)
        if (const EventIndex behind = trace.lane(id).lower_bound(t); behind > 0) visit(EventRef{id, behind - 1});
    }
  }

  // The operation that ends last of those that start before t.
  template <typename Wanted>
  [[nodiscard]] EventRef last_operation(Nanoseconds t, Wanted wanted) const {
    EventRef last;
    for_each_last(
        t, [&](const TrackKey& each) { return is_gpu_work(each.kind) && wanted(each); },
        [&](EventRef event) {
          if (!last.valid() || time(event).end > time(last).end) last = event;
        });
    return last;
  }

  [[nodiscard]] EventRef in_front_on_stream(EventRef operation) const {
    const TrackKey& own = key(operation);
    return last_operation(time(operation).begin, [&](const TrackKey& each) {
      return each.process == own.process && each.context == own.context && each.stream == own.stream && each.gpu == own.gpu;
    });
  }

  // The operation of another stream for which this one was made to wait, between the call of the operation in front and its own call.
  [[nodiscard]] EventRef in_front_by_event(EventRef operation, Nanoseconds since, Nanoseconds enqueued) const {
    const TrackKey own = key(operation);
    const Nanoseconds start = time(operation).begin;
    EventRef last;
    bool waits = false;  // for something unknown
    for (const TrackId id : trace.tracks_of(own.process, TrackKind::kSynchronizations)) {
      const Track& track = trace.tracks()[id];
      if (track.key.context != own.context || track.key.stream != own.stream) continue;
      for (const LaneId lane : track.lanes)
        for (EventIndex i = trace.lane(lane).lower_bound(since); i < trace.lane(lane).size() && trace.lane(lane).start(i) <= enqueued; ++i) {
          if (trace.synchronization_detail(trace.lane(lane).detail(i)).type != 2) continue;  // the stream waits for an event
          const std::optional<EventRef> recorded = trace.awaited_event({lane, i});
          if (!recorded) {
            waits = true;
            continue;
          }
          const TrackKey& other = key(*recorded);
          const EventRef work = last_operation(time(*recorded).begin + 1, [&](const TrackKey& each) {
            return each.process == other.process && each.context == other.context && each.stream == other.stream;
          });
          if (work.valid() && (!last.valid() || time(work).end > time(last).end)) last = work;
        }
    }
    if (last.valid() || !waits) return last;
    // The awaited event was not recorded: the operation of another stream that ended just before.
    EventRef just_then;
    for_each_last(
        start,
        [&](const TrackKey& each) {
          return is_gpu_work(each.kind) && each.process == own.process && (each.stream != own.stream || each.context != own.context);
        },
        [&](EventRef event) {
          const Nanoseconds end = time(event).end;
          if (end <= start && start - end <= kLaunchLatency && (!just_then.valid() || end > time(just_then).end)) just_then = event;
        });
    return just_then;
  }

  [[nodiscard]] bool communicates(EventRef kernel) {
    return key(kernel).kind == TrackKind::kKernels && names.communication(trace.lane(kernel.lane).name(kernel.index));
  }

  [[nodiscard]] std::optional<CollectiveWait> of_collective(EventRef kernel) {
    if (!communicates(kernel)) return std::nullopt;
    if (!collectives) collectives.emplace(trace);
    const std::optional<EventRef> last = collectives->last_of(kernel);
    return last ? std::optional(CollectiveWait{*last, time(kernel).length() - time(*last).length()}) : std::nullopt;
  }

  [[nodiscard]] std::optional<Wait> of_operation(EventRef operation) {
    if (const std::optional<CollectiveWait> wait = of_collective(operation)) {
      const Nanoseconds begin = time(operation).begin;
      return Wait{WaitKind::kLateRank, wait->last, {begin, std::max(begin, time(wait->last).begin)}, IdleCause::kCommunication};
    }
    const Nanoseconds start = time(operation).begin;
    const std::optional<EventRef> launch = trace.launch_of(operation);
    const EventRef front = in_front_on_stream(operation);
    const Nanoseconds front_end = front.valid() ? std::min(time(front).end, start) : std::numeric_limits<Nanoseconds>::min();
    const Nanoseconds enqueued = launch ? std::min(time(*launch).end, start) : std::numeric_limits<Nanoseconds>::min();
    EventRef other;
    Nanoseconds other_end = std::numeric_limits<Nanoseconds>::min();
    if (launch) {
      const std::optional<EventRef> front_launch = front.valid() ? trace.launch_of(front) : std::nullopt;
      other = in_front_by_event(operation, front_launch ? time(*front_launch).begin : time(*launch).begin - kLongestLook, time(*launch).begin);
      if (other.valid()) other_end = std::min(time(other).end, start);
    }
    const bool launched_before = !launch || front_end > time(*launch).begin;
    if (other.valid() && other_end >= front_end && start - other_end <= kLaunchLatency)
      return Wait{WaitKind::kOtherStream, other, {time(other).begin, other_end}, IdleCause::kDependency};
    const bool front_ended_just_then = front.valid() && start - front_end <= kLaunchLatency;
    if (front_ended_just_then && (front_end >= enqueued || launched_before))
      return Wait{WaitKind::kStream, front, {time(front).begin, front_end}, IdleCause::kDependency};
    // Enqueued behind work that ended long before it began: it waited for something that was not recorded, such as a function of the host.
    if (!launch || (front.valid() && front_end >= enqueued)) return std::nullopt;
    if (call_class(*launch) == CallClass::kCopy) return of_call_start(*launch);  // the call and its copy are one
    return Wait{WaitKind::kEnqueued, *launch, time(*launch), IdleCause::kLaunch};
  }

  // The event of a thread that covers t and has this name.
  [[nodiscard]] EventRef event_at(ThreadId thread, Nanoseconds t, NameId name) const {
    for (const Track& track : trace.tracks()) {
      if (track.key.thread != thread || track.key.kind == TrackKind::kCpuSamples || track.key.kind == TrackKind::kBacktraces) continue;
      for (const LaneId id : track.lanes)
        if (const auto index = trace.lane(id).at(t); index && trace.lane(id).name(*index) == name) return {id, *index};
    }
    return {};
  }

  // What the thread did most in this time: the place at which it did that longest without a break.
  [[nodiscard]] std::optional<Wait> of_thread(ThreadId thread, TimeRange window) {
    window.begin = std::max(window.begin, trace.extent().begin);
    if (thread == kNone || window.empty()) return std::nullopt;
    std::vector<Activity> pieces;
    ThreadActivity(trace, tracks, thread, names).describe(window, pieces);
    if (pieces.empty()) return std::nullopt;
    const auto most_of = [most = main_cause(pieces)](const Activity& piece) { return piece.cause == most ? piece.range.length() : Nanoseconds{-1}; };
    const auto longest = std::max_element(pieces.begin(), pieces.end(), [&](const Activity& a, const Activity& b) { return most_of(a) < most_of(b); });
    if (longest->call != 0)
      if (const EventRef event = event_at(thread, longest->range.begin, longest->call); event.valid())
        return Wait{WaitKind::kCall, event, longest->range, longest->cause};
    return Wait{WaitKind::kCode, longest->nvtx, longest->range, longest->cause};
  }

  // What held up a call that enqueues, since the GPU of its work fell idle, or since its stream did if the GPU is busy with something else. If neither
  // fell idle, the call came in time. For a call that enqueues nothing, nobody can say when it was due.
  [[nodiscard]] std::optional<Wait> of_call_start(EventRef call) {
    const Nanoseconds start = time(call).begin;
    const std::vector<EventRef> work = trace.work_of(call);
    if (work.empty()) return std::nullopt;
    Nanoseconds since = start - kLongestLook;
    const GpuId gpu = key(work.front()).gpu;
    const EventRef busy = last_operation(start, [gpu](const TrackKey& each) { return each.gpu == gpu; });
    const EventRef front = in_front_on_stream(work.front());
    if (busy.valid() && time(busy).end < start)
      since = time(busy).end;
    else if (front.valid() && time(front).end < start)
      since = std::max(since, time(front).end);
    else if (busy.valid())
      return std::nullopt;
    return of_thread(key(call).thread, {since, start});
  }

  // The work of its process with whose end the call ended.
  [[nodiscard]] std::optional<Wait> of_synchronization(EventRef call) {
    const TimeRange own = time(call);
    const ProcessId process = key(call).process;
    EventRef last;
    for_each_last(
        own.end, [&](const TrackKey& each) { return is_gpu_work(each.kind) && each.process == process; },
        [&](EventRef event) {
          if (time(event).end > own.begin && time(event).end <= own.end + kLaunchLatency && (!last.valid() || time(event).end > time(last).end)) last = event;
        });
    if (!last.valid()) return std::nullopt;
    return Wait{WaitKind::kGpuWork, last, time(last).intersected(own), IdleCause::kSynchronize};
  }

  [[nodiscard]] std::optional<Wait> of_python_lock(EventRef wait) {
    const TimeRange own = time(wait);
    const ProcessId process = key(wait).process;
    EventRef holder;
    Nanoseconds longest = 0;
    for (const TrackId id : trace.tracks_of(process, TrackKind::kNvtxProcessRanges)) {
      const Track& track = trace.tracks()[id];
      if (track.key.thread == key(wait).thread || !is_of_python_lock(trace, track.key)) continue;
      for (const LaneId lane : track.lanes) {
        const auto [first, last] = trace.lane(lane).overlapping(own);
        for (EventIndex i = first; i < last; ++i) {
          const TimeRange held = time({lane, i}).intersected(own);
          if (held.length() <= longest || !trace.name(trace.lane(lane).name(i)).starts_with(kHoldsPythonLock)) continue;
          longest = held.length();
          holder = {lane, i};
        }
      }
    }
    if (!holder.valid()) return std::nullopt;
    return Wait{WaitKind::kLockHolder, holder, time(holder).intersected(own), IdleCause::kOsLock};
  }

  [[nodiscard]] std::optional<Wait> of_wait_for_data(EventRef call) {
    const TimeRange own = time(call);
    const ThreadId thread = key(call).thread;
    const std::optional<Wait> waker = thread == kNone ? std::nullopt : of_waker(thread, own, woken(thread, own));
    const ThreadId by = waker ? key(waker->event).thread : kNone;
    EventRef writer;
    for_each_last(
        own.end, [&](const TrackKey& each) { return each.kind == TrackKind::kOsRuntime && each.thread != thread && (by == kNone || each.thread == by); },
        [&](EventRef event) {
          if (own.end - time(event).end > kHandOver || !is_writing_call(trace.name(trace.lane(event.lane).name(event.index)))) return;
          if (!writer.valid() || time(event).begin > time(writer).begin) writer = event;
        });
    if (!writer.valid()) return waker;
    return Wait{WaitKind::kWriter, writer, time(writer), IdleCause::kOsQueue};
  }

  [[nodiscard]] bool is_in_state(ThreadId thread, Nanoseconds t, ThreadState state) const {
    for (const TrackId id : tracks.of(thread)) {
      if (trace.tracks()[id].key.kind != TrackKind::kThreadStates) continue;
      for (const LaneId lane : trace.tracks()[id].lanes)
        if (const auto index = trace.lane(lane).at(t)) return trace.thread_state_detail(trace.lane(lane).detail(*index)).state == state;
    }
    return false;
  }

  [[nodiscard]] bool has_states(ThreadId thread) const {
    const std::span<const TrackId> all = tracks.of(thread);
    return std::any_of(all.begin(), all.end(), [&](TrackId id) { return trace.tracks()[id].key.kind == TrackKind::kThreadStates; });
  }

  struct Waking {
    Nanoseconds time = 0;
    std::uint32_t waker = 0;  // by its number on the machine; 0 if it is not known
  };
  // How the thread was woken that was in a wait: at the end of its last blocked state in it, or else at the end of the wait.
  [[nodiscard]] Waking woken(ThreadId thread, TimeRange wait) const {
    std::optional<Waking> woken;
    for (const TrackId id : tracks.of(thread)) {
      if (trace.tracks()[id].key.kind != TrackKind::kThreadStates) continue;
      for (const LaneId lane : trace.tracks()[id].lanes) {
        const auto [first, end] = trace.lane(lane).overlapping(wait);
        for (EventIndex i = first; i < end; ++i) {
          const ThreadStateDetail& state = trace.thread_state_detail(trace.lane(lane).detail(i));
          const Nanoseconds until = trace.lane(lane).end(i);
          if (state.state == ThreadState::kBlocked && (!woken || until > woken->time))
            woken = Waking{std::min(wait.end, until), until > wait.end ? 0 : state.waker};
        }
      }
    }
    return woken.value_or(Waking{wait.end, 0});
  }

  // The state in which a thread, by its number on the machine, ran at a time; of the threads that were recorded together with another one.
  [[nodiscard]] EventRef running_state(std::uint32_t tid, ThreadId beside, Nanoseconds t) const {
    const TracePart* const part = part_of_process(trace, trace.threads()[beside].process);
    for (const Track& track : trace.tracks()) {
      if (track.key.kind != TrackKind::kThreadStates || track.key.thread == kNone || trace.threads()[track.key.thread].tid != tid) continue;
      if (part_of_process(trace, track.key.process) != part) continue;
      for (const LaneId lane : track.lanes)
        for (const Nanoseconds at : {t - 1, t})  // clocks of processors differ a little
          if (const auto index = trace.lane(lane).at(at); index && trace.thread_state_detail(trace.lane(lane).detail(*index)).state == ThreadState::kRunning)
            return {lane, *index};
    }
    return {};
  }

  [[nodiscard]] std::optional<Wait> of_waker(ThreadId thread, TimeRange wait, const Waking& waking) const {
    if (waking.waker == 0 || waking.waker == trace.threads()[thread].tid) return std::nullopt;
    const EventRef ran = running_state(waking.waker, thread, waking.time);
    if (!ran.valid()) return std::nullopt;
    return Wait{WaitKind::kWaker, ran, {wait.begin, waking.time}, IdleCause::kOsLock};
  }

  // The first wait of each other thread of the process that begins about that time: a call that waits for a lock or a condition, or a blocked state.
  [[nodiscard]] std::map<ThreadId, EventRef> waits_that_begin(ProcessId process, ThreadId thread, TimeRange window) {
    std::map<ThreadId, EventRef> begun;
    for (const TrackKind kind : {TrackKind::kOsRuntime, TrackKind::kThreadStates})
      for (const TrackId id : trace.tracks_of(process, kind)) {
        const Track& track = trace.tracks()[id];
        if (track.key.thread == thread || track.key.thread == kNone) continue;
        for (const LaneId lane_id : track.lanes) {
          const Lane& lane = trace.lane(lane_id);
          for (EventIndex i = lane.lower_bound(window.begin); i < lane.size() && lane.start(i) < window.end; ++i) {
            const bool waits = kind == TrackKind::kOsRuntime ? names.os_call(lane.name(i)) == IdleCause::kOsLock
                                                             : trace.thread_state_detail(lane.detail(i)).state == ThreadState::kBlocked;
            if (!waits) continue;
            EventRef& first = begun.try_emplace(track.key.thread, EventRef{lane_id, i}).first->second;
            if (lane.start(i) < time(first).begin) first = {lane_id, i};
            break;
          }
        }
      }
    return begun;
  }

  [[nodiscard]] std::optional<Wait> of_hand_over(ThreadId thread, TimeRange wait) {
    if (thread == kNone) return std::nullopt;
    const Waking waking = woken(thread, wait);
    if (waking.waker != 0) return of_waker(thread, wait, waking);
    const Nanoseconds at = waking.time;
    const TimeRange window{std::max(wait.begin + 1, at - kTurns), at + kTurns};
    EventRef other;
    for (const auto& [candidate, begun] : waits_that_begin(trace.threads()[thread].process, thread, window)) {
      const Nanoseconds last = std::min(at, time(begun).begin) - 1;  // it ran then, if it is the one
      if (has_states(candidate) && !is_in_state(candidate, last, ThreadState::kRunning)) continue;
      if (other.valid()) return std::nullopt;
      other = begun;
    }
    if (!other.valid()) return std::nullopt;
    return Wait{WaitKind::kHandOver, other, {wait.begin, std::min(at, time(other).begin)}, IdleCause::kOsLock};
  }

  // The holder of a lock of the C library is not recorded, but the other thread of the process that ran meanwhile is.
  [[nodiscard]] std::optional<Wait> of_lock(EventRef call) {
    const TimeRange own = time(call);
    EventRef busiest;
    Nanoseconds longest = own.length() / 2;
    for (const TrackId id : trace.tracks_of(key(call).process, TrackKind::kThreadStates)) {
      const Track& track = trace.tracks()[id];
      if (track.key.thread == key(call).thread) continue;
      for (const LaneId lane : track.lanes) {
        Nanoseconds ran = 0;
        EventRef last;
        const auto [first, end] = trace.lane(lane).overlapping(own);
        for (EventIndex i = first; i < end; ++i) {
          if (trace.thread_state_detail(trace.lane(lane).detail(i)).state != ThreadState::kRunning) continue;
          ran += time({lane, i}).intersected(own).length();
          last = {lane, i};
        }
        if (ran <= longest) continue;
        longest = ran;
        busiest = last;
      }
    }
    if (!busiest.valid()) return std::nullopt;
    return Wait{WaitKind::kOtherThread, busiest, time(busiest).intersected(own), IdleCause::kOsLock};
  }

  // A call that writes is late because of what its thread did since its previous write.
  [[nodiscard]] std::optional<Wait> of_writing(EventRef call) {
    const Lane& lane = trace.lane(call.lane);
    const Nanoseconds start = lane.start(call.index);
    EventIndex before = call.index;
    while (before > 0 && lane.name(before - 1) != lane.name(call.index) && start - lane.start(before - 1) < kLongestLook) --before;
    return of_thread(key(call).thread, {std::max(start - kLongestLook, before > 0 ? lane.end(before - 1) : start - kLongestLook), start});
  }

  [[nodiscard]] std::optional<Wait> before(EventRef event) {
    const TrackKey own = key(event);
    if (is_gpu_work(own.kind)) return of_operation(event);
    const NameId name = trace.lane(event.lane).name(event.index);
    if (own.kind == TrackKind::kCudaApi) {
      const CallClass what = call_class(event);
      if (what == CallClass::kSynchronize || what == CallClass::kCopy)
        if (const std::optional<Wait> work = of_synchronization(event); work && (what == CallClass::kSynchronize || trace.launch_of(work->event) != event))
          return work;
      return of_call_start(event);
    }
    if (own.kind == TrackKind::kNvtxProcessRanges && trace.name(name).starts_with(kAwaitsPythonLock)) return of_python_lock(event);
    if (own.kind != TrackKind::kOsRuntime) return std::nullopt;
    if (is_writing_call(trace.name(name))) return of_writing(event);
    const IdleCause cause = names.os_call(name);
    if (cause == IdleCause::kOsLock) {
      const std::optional<Wait> turns = of_hand_over(own.thread, time(event));
      return turns || (own.thread != kNone && woken(own.thread, time(event)).waker != 0) ? turns : of_lock(event);
    }
    return cause == IdleCause::kOsQueue || cause == IdleCause::kOsIo ? of_wait_for_data(event) : std::nullopt;
  }

  const Trace& trace;
  ThreadTracks tracks{trace};
  NameClasses names;
  std::optional<CollectiveWaits> collectives;
};

namespace {

// Outlines have no single events, and some files do not say in which order things happened.
bool tells_waits(const Trace& trace) { return !trace.provenance().outline_only && has_known_times(trace.provenance()); }

}  // namespace

WaitFinder::WaitFinder(const Trace& trace) : state_(std::make_unique<State>(trace)) {}
WaitFinder::~WaitFinder() = default;

std::optional<Wait> WaitFinder::before(EventRef event) {
  if (!event.valid() || !tells_waits(state_->trace)) return std::nullopt;
  return state_->before(event);
}

std::optional<Wait> WaitFinder::hand_over(ThreadId thread, TimeRange wait) {
  return !tells_waits(state_->trace) ? std::nullopt : state_->of_hand_over(thread, wait);
}

std::optional<Wait> WaitFinder::waker(ThreadId thread, TimeRange wait) {
  if (thread == kNone || !tells_waits(state_->trace)) return std::nullopt;
  return state_->of_waker(thread, wait, state_->woken(thread, wait));
}

std::optional<WaitFinder::CollectiveWait> WaitFinder::collective_wait(EventRef kernel) {
  if (!kernel.valid() || !tells_waits(state_->trace)) return std::nullopt;
  return state_->of_collective(kernel);
}

void WaitFinder::for_each_collective_wait(const std::function<void(EventRef kernel, const CollectiveWait&)>& visit, const std::stop_token& stop) {
  if (!tells_waits(state_->trace)) return;
  CollectiveWaits(state_->trace).for_each([&](const CollectiveWaits::Waiting& wait) { visit(wait.kernel, {wait.last, wait.waited}); }, stop);
}

bool WaitFinder::communicates(NameId kernel) { return state_->names.communication(kernel); }

std::vector<Wait> WaitFinder::chain(EventRef event, std::size_t most) {
  std::vector<Wait> waits;
  std::vector<EventRef> seen{event};
  Nanoseconds until = std::numeric_limits<Nanoseconds>::max();
  while (waits.size() < most) {
    std::optional<Wait> wait = before(event);
    if (!wait || wait->time.begin >= until || std::find(seen.begin(), seen.end(), wait->event) != seen.end()) break;
    until = wait->time.end;
    event = wait->event;
    seen.push_back(event);
    waits.push_back(*std::move(wait));
    if (waits.back().kind == WaitKind::kCode || !event.valid()) break;
  }
  return waits;
}

Message wait_words(const Trace& trace, const Wait& wait) {
  const auto thread_of = [&] {
    const ThreadId thread = trace.track_of(wait.event.lane).key.thread;
    return thread == kNone ? std::string() : std::to_string(trace.threads()[thread].tid);
  };
  switch (wait.kind) {
    case WaitKind::kStream:
      return Message("the operation in front of it on its stream");
    case WaitKind::kOtherStream:
      return Message("an operation of another stream, for which its stream was made to wait");
    case WaitKind::kEnqueued:
      return Message("the call that enqueued it");
    case WaitKind::kCall:
      return Message("its thread, which was in this call");
    case WaitKind::kCode:
      if (wait.cause != IdleCause::kCpuCode) {  // it ran no code, and it is not known in which call it was
        const Message what(idle_cause_name(wait.cause));
        return wait.event.valid() ? Message("its thread, in this range: {what}", {{"what", what}}) : Message("its thread: {what}", {{"what", what}});
      }
      return wait.event.valid() ? Message("its thread, which ran code in this range") : Message("its thread, which ran code");
    case WaitKind::kGpuWork:
      return Message("this work of the GPU");
    case WaitKind::kLockHolder: {
      const std::string thread = thread_of();
      return thread.empty() ? Message("the lock, which another thread held") : Message("the lock, which another thread held: {thread}", {{"thread", thread}});
    }
    case WaitKind::kWriter:
      return Message("data, which another thread wrote with this call");
    case WaitKind::kLateRank: {
      const ProcessId process = trace.track_of(wait.event.lane).key.process;
      const std::optional<std::uint32_t> rank = process == kNone ? std::nullopt : trace.processes()[process].place.rank;
      return rank ? Message("the rank that came last to this collective, rank {rank}", {{"rank", std::to_string(*rank)}})
                  : Message("the rank that came last to this collective");
    }
    case WaitKind::kWaker: {
      const std::string thread = thread_of();
      return Message("thread {thread}, which woke it", {{"thread", thread}});
    }
    case WaitKind::kHandOver: {
      const std::string thread = thread_of();
      return Message("thread {thread}, which woke it and then waited itself", {{"thread", thread}});
    }
    case WaitKind::kOtherThread: {
      const std::string thread = thread_of();
      return thread.empty() ? Message("a lock; meanwhile another thread of its process ran")
                            : Message("a lock; meanwhile another thread of its process ran: {thread}", {{"thread", thread}});
    }
  }
  return {};
}

}  // namespace lanescope::analysis
