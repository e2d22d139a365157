// Events of all kinds, grouped by chosen columns.
#include <algorithm>
#include <memory>

#include "../report_functions.h"
#include "model/events/event_pivot.h"
#include "model/stats/pivot_table.h"

namespace lanescope::stats {
namespace {

// Samples and states of threads are not events to be counted: they have reports of their own.
bool is_counted(TrackKind kind) noexcept {
  return kind != TrackKind::kThreadStates && kind != TrackKind::kProcessors && kind != TrackKind::kCpuSamples && kind != TrackKind::kBacktraces;
}

std::vector<PivotGroup> groups_of(const Selection& selection, const std::vector<PivotColumn>& columns, const std::vector<EventKind>& kinds) {
  constexpr std::size_t kAtOnce = 1u << 14;
  const Trace& trace = selection.trace();
  const EventValues values(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace), EventScope::whole_trace(trace));
  PivotSums sums(values, columns, selection.stop());
  std::vector<EventRef> events;
  const auto add = [&] {
    sums.add(events);
    events.clear();
  };
  for (int kind = 0; kind <= static_cast<int>(kLastTrackKind); ++kind)
    if (is_counted(static_cast<TrackKind>(kind)))
      selection.for_each(static_cast<TrackKind>(kind), [&](const Track&, const EventView& event) {
        if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), event_kind(trace, event.ref)) == kinds.end()) return;
        events.push_back(event.ref);
        if (events.size() >= kAtOnce) add();
      });
  add();
  return sums.take();
}

}  // namespace

Table event_sum(const Selection& selection, const ReportOptions& options) {
  const std::vector<PivotColumn> by = options.by.empty() ? std::vector{PivotColumn::kKind} : options.by;
  return pivot_table(by, groups_of(selection, by, options.kinds), ValuesAt::kBack);
}

}  // namespace lanescope::stats
