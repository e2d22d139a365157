#include "idle_groups.h"

#include <algorithm>
#include <tuple>

namespace lanescope::analysis {
IdleGroups group_idle(const RuleContext& context, Families& families, const Loop& loop, Nanoseconds threshold) {
  const Trace& trace = context.trace;
  IdleGroups collected;
  const samples::ThreadSamples samples(trace);
  Nanoseconds last_recurring = 0;
  std::map<std::tuple<Recurrence, IdleCause, FamilyId, NameId>, Group> groups;
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    std::array<CauseSum, kIdleCauses>& causes = collected.causes[gap.gpu];
    const Nanoseconds enqueued = gap.launch.valid() ? trace.lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
    const ProcessId process = trace.track_of(gap.next.lane).key.process;
    for (const IdlePart& part : parts) {
      const Recurrence recurrence = loop.recurrence(process, part.range.begin, enqueued);
      if (recurrence == Recurrence::kRecurring) last_recurring = std::max(last_recurring, part.range.end);
      causes[static_cast<std::size_t>(part.cause)].add(part);
      (recurrence == Recurrence::kOnce ? collected.once : collected.recurring[static_cast<std::size_t>(part.cause)]).add(part);
      const FamilyId family = families.of(part.nvtx);
      Group& group = groups[{recurrence, part.cause, family, part.call}];
      group.recurrence = recurrence;
      group.cause = part.cause;
      group.family = family;
      group.call = part.call;
      ++group.parts;
      group.total += part.range.length();
      if (part.cause == IdleCause::kCpuCode) samples.count(trace.track_of(gap.launch.lane).key.thread, part.range, group.samples);
      if (part.range.length() > group.longest) {
        group.longest = part.range.length();
        group.longest_gap = gap;
      }
    }
  };
  collected.gpus = visit_idle(trace, context.launches(), threshold, add, context.stop);
  const TimeRange loop_time = loop.known() ? TimeRange{loop.hull().begin, std::max(loop.hull().end, last_recurring)} : trace.extent();
  for (const GpuIdle& gpu : collected.gpus) collected.span += gpu.extent.intersected(loop_time).length();
  for (const auto& [key, group] : groups) collected.groups.push_back(group);
  std::stable_sort(collected.groups.begin(), collected.groups.end(), [](const Group& a, const Group& b) { return a.total > b.total; });
  return collected;
}

}  // namespace lanescope::analysis
