#include "analysis/longest.h"

#include <span>
#include <vector>

#include "model/analysis/families.h"
#include "model/analysis/idle.h"
#include "model/analysis/loop.h"
#include "model/events/launch_index.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kEventsBetweenLooks = 1 << 12;  // at the stop token

}  // namespace

std::optional<Spot> longest_event(const Trace& trace, const EventFilter& filter, Compared compared, const std::stop_token& stop) {
  const std::vector<EventRef> events = gather_events(trace, EventScope::whole_trace(trace).lanes(), filter, stop);
  if (stop.stop_requested()) return std::nullopt;
  analysis::Families families(trace);
  const analysis::Loop loop = compared == Compared::kIterations ? analysis::Loop(trace, families) : analysis::Loop();
  const auto duration = [&](EventRef event) { return trace.lane(event.lane).duration(event.index); };
  const auto recurs = [&](EventRef event) {
    const Nanoseconds start = trace.lane(event.lane).start(event.index);
    const std::optional<EventRef> launch = trace.launch_of(event);
    return loop.recurrence(trace.track_of(event.lane).key.process, start, launch ? trace.lane(launch->lane).start(launch->index) : start) == analysis::Recurrence::kRecurring;
  };
  EventRef longest, longest_of_loop;
  std::size_t looked_at = 0;
  for (const EventRef event : events) {
    if (++looked_at % kEventsBetweenLooks == 0 && stop.stop_requested()) return std::nullopt;
    if (!longest.valid() || duration(event) > duration(longest)) longest = event;
    if ((!longest_of_loop.valid() || duration(event) > duration(longest_of_loop)) && recurs(event)) longest_of_loop = event;
  }
  if (longest_of_loop.valid()) longest = longest_of_loop;
  if (!longest.valid()) return std::nullopt;
  const Event event = trace.event(longest);
  return Spot{{event.start, event.end()}, longest};
}

std::optional<Spot> longest_idle(const Trace& trace, const std::string& cause, const std::stop_token& stop) {
  const LaunchIndex launches(trace, stop);
  if (stop.stop_requested()) return std::nullopt;
  analysis::Families families(trace);
  const analysis::Loop loop(trace, families);
  Spot longest;
  analysis::visit_idle(
      trace, launches, 1,
      [&](const analysis::IdleGap& gap, std::span<const analysis::IdlePart> parts) {
        const ProcessId process = trace.track_of(gap.next.lane).key.process;
        const auto counts = [&](Nanoseconds t) {
          const Nanoseconds enqueued = gap.launch.valid() ? trace.lane(gap.launch.lane).start(gap.launch.index) : t;
          return loop.recurrence(process, t, enqueued) == analysis::Recurrence::kRecurring;
        };
        if (cause == kAllIdle && gap.range.length() > longest.range.length() && counts(gap.range.begin)) longest = {gap.range, gap.next};
        for (const analysis::IdlePart& part : parts)
          if (analysis::idle_cause_name(part.cause) == cause && part.range.length() > longest.range.length() && counts(part.range.begin))
            longest = {part.range, gap.next};
      },
      stop);
  return stop.stop_requested() || longest.range.empty() ? std::nullopt : std::optional(longest);
}

}  // namespace lanescope::ui
