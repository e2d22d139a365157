#include "lost_lead.h"

#include <algorithm>

namespace lanescope::analysis {
namespace {

// A stream's queue holds 1,024 launches, each of which may come with a call that asks for something. The loss by a wait that lies further back was made
// up for. This also bounds the work for a thread that launches on many GPUs.
constexpr EventIndex kMostCallsBetween = 2'048;

}  // namespace

// An asynchronous copy that takes as long has waited as well: pageable memory makes it.
LostLead::Waiting LostLead::waiting(std::string_view name) {
  const CallClass kind = classify_cuda_call(name);
  if (kind == CallClass::kCopy) return Waiting::kAlways;
  if (kind == CallClass::kSynchronize) return asks_gpu(name) ? Waiting::kNever : Waiting::kAlways;
  return name.find("Memcpy") != std::string_view::npos ? Waiting::kWhereLong : Waiting::kNever;
}

bool LostLead::waits(const Lane& calls, EventIndex call) {
  const Waiting waiting = waiting_(calls.name(call));
  return waiting == Waiting::kAlways || (waiting == Waiting::kWhereLong && calls.duration(call) >= kLongLaunch);
}

EventIndex LostLead::first_at(const Lane& calls, LaneId lane, const IdleGap& gap) {
  const Nanoseconds start = gap.launch_time.begin;
  if (gap.launch.lane != lane) return calls.lower_bound(start);
  EventIndex first = gap.launch.index;
  while (first > 0 && calls.start(first - 1) == start) --first;  // behind calls that take no time
  return first;
}

Nanoseconds LostLead::take(const IdleGap& gap, Nanoseconds idle) {
  const Track& track = trace_.track_of(gap.launch.lane);
  const LaneId lane = track.lanes.front();  // of outermost calls
  const Lane& calls = trace_.lane(lane);
  Thread& thread = threads_[{gap.gpu, lane}];
  const EventIndex launch = first_at(calls, lane, gap);
  const EventIndex first = std::max(thread.next_call, launch - std::min(launch, kMostCallsBetween));
  for (EventIndex i = first; i < launch; ++i) {
    if (!waits(calls, i) || loop_.recurrence(track.key.process, calls.start(i), calls.end(i)) != Recurrence::kRecurring) continue;
    thread.waits.push_back({i, calls.duration(i)});
    blocked_[calls.name(i)] += calls.duration(i);
  }
  thread.next_call = std::max(thread.next_call, launch);
  while (!thread.waits.empty() && thread.waits.front().call + kMostCallsBetween < launch) thread.waits.pop_front();
  Nanoseconds due = 0;
  while (!thread.waits.empty() && due < idle) {
    const Nanoseconds own = std::min(idle - due, thread.waits.front().lost);
    due += own;
    thread.waits.front().lost -= own;
    if (thread.waits.front().lost == 0) thread.waits.pop_front();
  }
  return due;
}

NameId LostLead::call() const noexcept {
  const auto most = std::max_element(blocked_.begin(), blocked_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == blocked_.end() ? 0 : most->first;
}

}  // namespace lanescope::analysis
