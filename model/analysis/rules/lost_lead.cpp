#include "lost_lead.h"

#include <algorithm>

namespace lanescope::analysis {
namespace {

// A stream's queue holds 1,024 launches, each of which may come with a call that asks for something: a wait that lies further back was made up for. It bounds
// the work, too, of a thread that launches on many GPUs.
constexpr EventIndex kMostCallsBetween = 2'048;

}  // namespace

// An asynchronous copy that takes as long has waited as well: pageable memory makes it.
bool LostLead::waits(const Lane& calls, EventIndex call) {
  const CallClass kind = classes_(calls.name(call));
  if (kind == CallClass::kCopy) return true;
  const std::string_view name = trace_.name(calls.name(call));
  if (kind == CallClass::kSynchronize) return !asks_gpu(name);
  return calls.duration(call) >= kLongLaunch && name.find("Memcpy") != std::string_view::npos;
}

Nanoseconds LostLead::take(const IdleGap& gap, Nanoseconds idle) {
  const Track& track = trace_.track_of(gap.launch.lane);
  const LaneId lane = track.lanes.front();  // of outermost calls
  const Lane& calls = trace_.lane(lane);
  Thread& thread = threads_[{gap.gpu, lane}];
  const EventIndex launch = calls.lower_bound(trace_.lane(gap.launch.lane).start(gap.launch.index));
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
