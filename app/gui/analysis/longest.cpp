#include "analysis/longest.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/events/launch_index.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kEventsBetweenLooks = 1 << 12;  // between checks of the stop token

// The event of the filter with the largest worth(duration), among those of the loop if there are any.
template <typename Worth>
std::optional<Spot> best_event(const Trace& trace, const EventFilter& filter, Compared compared, Worth worth, const std::stop_token& stop) {
  const std::vector<EventRef> events = gather_events(trace, EventScope::whole_trace(trace).lanes(), filter, stop);
  if (stop.stop_requested()) return std::nullopt;
  analysis::Families families(trace);
  const analysis::Loop loop = compared == Compared::kIterations ? analysis::Loop(trace, families) : analysis::Loop();
  const auto worth_of = [&](EventRef event) { return worth(trace.lane(event.lane).duration(event.index)); };
  const auto recurs = [&](EventRef event) {
    const Nanoseconds start = trace.lane(event.lane).start(event.index);
    const std::optional<EventRef> launch = trace.launch_of(event);
    return loop.recurrence(trace.track_of(event.lane).key.process, start, launch ? trace.lane(launch->lane).start(launch->index) : start) ==
           analysis::Recurrence::kRecurring;
  };
  EventRef best, best_of_loop;
  std::size_t looked_at = 0;
  for (const EventRef event : events) {
    if (++looked_at % kEventsBetweenLooks == 0 && stop.stop_requested()) return std::nullopt;
    if (!best.valid() || worth_of(event) > worth_of(best)) best = event;
    if ((!best_of_loop.valid() || worth_of(event) > worth_of(best_of_loop)) && recurs(event)) best_of_loop = event;
  }
  if (best_of_loop.valid()) best = best_of_loop;
  if (!best.valid()) return std::nullopt;
  const Event event = trace.event(best);
  return Spot{{event.start, event.end()}, best, {}};
}

}  // namespace

std::optional<Spot> longest_event(const Trace& trace, const EventFilter& filter, Compared compared, const std::stop_token& stop) {
  return best_event(
      trace, filter, compared, [](Nanoseconds duration) { return duration; }, stop);
}

std::optional<Spot> event_like(const Trace& trace, const EventFilter& filter, Compared compared, Nanoseconds duration, const std::stop_token& stop) {
  return best_event(
      trace, filter, compared, [duration](Nanoseconds other) { return -std::abs(other - duration); }, stop);
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
        const bool counts_in_part = std::any_of(parts.begin(), parts.end(), [&](const analysis::IdlePart& part) { return counts(part.range.begin); });
        if (cause == kAllIdle && gap.range.length() > longest.range.length() && counts_in_part) longest = {gap.range, gap.next, gap.range};
        for (const analysis::IdlePart& part : parts)
          if (analysis::idle_cause_name(part.cause) == cause && part.range.length() > longest.range.length() && counts(part.range.begin))
            longest = {part.range, gap.next, gap.range};
      },
      stop);
  return stop.stop_requested() || longest.range.empty() ? std::nullopt : std::optional(longest);
}

}  // namespace lanescope::ui
