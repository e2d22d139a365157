// gpu_bubbles: every gap of a GPU, and who is to blame.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "../own_rules.h"
#include "../wording.h"
#include "idle_groups.h"
#include "model/analysis/families.h"
#include "model/analysis/idle.h"
#include "model/analysis/stream_idle.h"
#include "model/events/event_values.h"
#include "model/samples/most_sampled.h"

namespace lanescope::analysis {
namespace {

double share(Nanoseconds part, Nanoseconds whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// What the threads of a group were mostly seen to run; empty where there are no samples.
std::string sampled_text(const Trace& trace, const Group& group, std::size_t functions) {
  return samples::most_sampled_text(trace, group.samples, samples::ChainPart::kInnermostPython, functions);
}

stats::Table group_table(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, std::int64_t rows) {
  stats::Table table({stats::reals("Idle", stats::Unit::kPercent), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Parts"), stats::integers("Longest", stats::Unit::kNanoseconds),
                      stats::integers("Longest Gap Start", stats::Unit::kNanoseconds), stats::integers("GPU"), stats::texts("Cause"),
                      stats::texts("NVTX Range"), stats::texts("Call"), stats::texts("When"), stats::texts("Sampled Code")});
  const Nanoseconds idle = collected.idle();
  for (const Group& group : collected.groups) {
    if (rows >= 0 && table.row_count() >= static_cast<std::size_t>(rows)) break;
    table.add_row(share(group.total, idle), group.total, static_cast<std::int64_t>(group.parts), group.longest,
                  group.longest_gap.range.begin, static_cast<std::int64_t>(trace.gpus()[group.longest_gap.gpu].ordinal),
                  table.add_text(std::string(idle_cause_name(group.cause))), table.add_text(families.text(group.family)),
                  table.add_text(std::string(api_display_name(trace.name(group.call)))),
                  table.add_text(group.recurrence == Recurrence::kOnce ? "once"
                                 : loop.known()                        ? "loop"
                                                                       : ""),
                  table.add_text(sampled_text(trace, group, 1)));
  }
  return table;
}

// One row a GPU and cause, with the gaps below the threshold as the last: the rows of a GPU add up to its idle time.
stats::Table cause_table(const Trace& trace, const IdleGroups& collected) {
  stats::Table table({stats::integers("GPU"), stats::reals("Idle", stats::Unit::kPercent),
                      stats::integers("Total Time", stats::Unit::kNanoseconds), stats::integers("Parts"), stats::texts("Cause")});
  for (const GpuIdle& gpu : collected.gpus) {
    const auto ordinal = static_cast<std::int64_t>(trace.gpus()[gpu.gpu].ordinal);
    const auto found = collected.causes.find(gpu.gpu);
    if (found != collected.causes.end()) {
      for (std::size_t i = 0; i < kIdleCauses; ++i) {
        const CauseSum& sum = found->second[i];
        if (sum.parts == 0) continue;
        table.add_row(ordinal, share(sum.total, gpu.idle), sum.total, static_cast<std::int64_t>(sum.parts),
                      table.add_text(std::string(idle_cause_name(static_cast<IdleCause>(i)))));
      }
    }
    table.add_row(ordinal, share(gpu.short_idle, gpu.idle), gpu.short_idle, static_cast<std::int64_t>(gpu.short_gaps),
                  table.add_text("Gaps below the threshold"));
  }
  return table;
}

stats::Table gpu_table(const Trace& trace, const IdleGroups& collected) {
  stats::Table table({stats::texts("GPU"), stats::integers("Span", stats::Unit::kNanoseconds),
                      stats::integers("Busy", stats::Unit::kNanoseconds), stats::integers("Idle", stats::Unit::kNanoseconds),
                      stats::reals("Idle Share", stats::Unit::kPercent), stats::integers("Operations"), stats::integers("Gaps"),
                      stats::integers("Short Gaps")});
  for (const GpuIdle& gpu : collected.gpus)
    table.add_row(table.add_text(gpu_label(trace, gpu.gpu)), gpu.extent.length(), gpu.busy(), gpu.idle,
                  share(gpu.idle, gpu.extent.length()), static_cast<std::int64_t>(gpu.operations), static_cast<std::int64_t>(gpu.gaps),
                  static_cast<std::int64_t>(gpu.short_gaps));
  return table;
}

stats::Table stream_table(const RuleContext& context) {
  const Trace& trace = context.trace;
  stats::Table table({stats::integers("PID"), stats::integers("GPU"), stats::integers("Context"), stats::integers("Stream"),
                      stats::integers("Operations"), stats::integers("Busy", stats::Unit::kNanoseconds),
                      stats::integers("Host Wait", stats::Unit::kNanoseconds), stats::integers("Kernel Wait", stats::Unit::kNanoseconds),
                      stats::integers("Other", stats::Unit::kNanoseconds)});
  for (const StreamIdle& stream : break_down_stream_idle(trace, context.launches(), kDefaultKernelGap, context.stop))
    table.add_row(std::int64_t{trace.processes()[stream.process].pid}, std::int64_t{trace.gpus()[stream.gpu].ordinal},
                  std::int64_t{stream.context}, std::int64_t{stream.stream}, static_cast<std::int64_t>(stream.operations), stream.busy,
                  stream.host_wait, stream.kernel_wait, stream.other);
  return table;
}

std::uint64_t sample_count(const Group& group) {
  std::uint64_t count = 0;
  for (const auto& [chain, samples] : group.samples) count += samples;
  return count;
}

std::string where_mostly(const Trace& trace, const Families& families, const Group& group) {
  std::string text;
  if (group.family != 0) text.append(" in NVTX range \"").append(families.text(group.family)).append("\"");
  if (group.call != 0) text.append(" (").append(api_display_name(trace.name(group.call))).append(")");
  return text.empty() ? text : ", mostly" + text;
}

std::string gpus_text(const Trace& trace, const IdleGroups& collected) {
  return collected.gpus.size() == 1 ? gpu_label(trace, collected.gpus.front().gpu) + " was"
                                    : counted(collected.gpus.size(), "GPU") + " were together";
}

// What a finding says of idle time `sum`, of which `group` is the largest group.
Finding describe(const Trace& trace, const Group& group, CauseSum sum) {
  Finding finding;
  finding.rule = "gpu_bubbles";
  finding.seen = counted(sum.parts, "part") + "; the largest group holds " + duration_text(group.total) + " in " +
                 counted(group.parts, "part") + ", the longest of them " + duration_text(group.longest) + ".";
  constexpr std::size_t kNamed = 3;
  if (const std::string sampled = sampled_text(trace, group, kNamed); !sampled.empty())
    finding.seen += " Its " + counted(sample_count(group), "sample") + " of the CPU are mostly in " + sampled + ".";
  finding.place.range = group.longest_gap.range;
  finding.place.event = group.longest_gap.next;
  finding.place.gpu = group.longest_gap.gpu;
  finding.place.process = trace.track_of(group.longest_gap.next.lane).key.process;
  if (group.longest_gap.launch.valid()) finding.place.thread = trace.track_of(group.longest_gap.launch.lane).key.thread;
  finding.cost = sum.total;
  finding.advice = idle_cause_advice(group.cause);
  finding.recurrence = group.recurrence;
  return finding;
}

Finding describe_cause(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, const Group& group) {
  const CauseSum sum = collected.recurring[static_cast<std::size_t>(group.cause)];
  Finding finding = describe(trace, group, sum);
  finding.key = idle_cause_key(group.cause);
  finding.title = gpus_text(trace, collected) + " idle for " + duration_text(sum.total) + " (" + percent_text(sum.total, collected.span) +
                  (loop.known() ? " of the loop \"" + families.text(loop.family()) + "\") " : " of the time) ") +
                  std::string(idle_cause_clause(group.cause)) + where_mostly(trace, families, group);
  const std::string sampled = sampled_text(trace, group, 1);
  finding.title += sampled.empty() ? "." : ": " + sampled + ".";
  return finding;
}

Finding describe_setup(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, const Group& group) {
  Finding finding = describe(trace, group, collected.once);
  finding.key = "setup";
  finding.title = gpus_text(trace, collected) + " idle for " + duration_text(collected.once.total) + " before and after the loop \"" +
                  families.text(loop.family()) + "\" (setup and warm-up, paid once), mostly " +
                  std::string(idle_cause_clause(group.cause)) + ".";
  return finding;
}

// A finding for each cause that matters in the loop, and one for all that lies outside of it.
std::vector<Finding> describe_causes(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected) {
  Nanoseconds largest = 0;
  for (const CauseSum& sum : collected.recurring) largest = std::max(largest, sum.total);
  constexpr Nanoseconds kLeastShare = 100;  // but for the largest, a cause of less than one hundredth of the time is left to the table
  std::vector<Finding> findings;
  std::array<bool, kIdleCauses> done{};
  bool setup_done = collected.once.total < collected.idle() / kLeastShare;
  for (const Group& group : collected.groups) {  // the first of each cause is its largest
    if (group.recurrence == Recurrence::kOnce) {
      if (!std::exchange(setup_done, true)) findings.push_back(describe_setup(trace, families, loop, collected, group));
      continue;
    }
    const auto cause = static_cast<std::size_t>(group.cause);
    const Nanoseconds total = collected.recurring[cause].total;
    if (std::exchange(done[cause], true) || (total < collected.span / kLeastShare && total < largest)) continue;
    findings.push_back(describe_cause(trace, families, loop, collected, group));
  }
  rank(findings);
  return findings;
}

}  // namespace

Result<RuleAnswer> find_gpu_bubbles(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  Families families(trace);
  const Loop loop(trace, families);
  const IdleGroups collected = group_idle(context, families, loop, std::max<Nanoseconds>(1, arguments.duration("gap")));
  RuleAnswer answer;
  if (collected.gpus.empty()) {
    answer.message = "The trace holds no GPU work.";
    return answer;
  }
  answer.findings = describe_causes(trace, families, loop, collected);
  answer.tables.push_back(
      {"gpu_bubbles", "Idle time by cause, NVTX range and call", group_table(trace, families, loop, collected, arguments.integer("rows"))});
  answer.tables.push_back({"gpu_bubbles_causes", "Idle time by GPU and cause", cause_table(trace, collected)});
  answer.tables.push_back({"gpu_bubbles_gpus", "GPUs", gpu_table(trace, collected)});
  answer.tables.push_back({"gpu_bubbles_streams", "Idle time of streams", stream_table(context)});
  std::erase_if(answer.tables, [](const NamedTable& table) { return table.table.empty(); });
  if (answer.findings.empty()) answer.message = "No GPU was idle for " + duration_text(arguments.duration("gap")) + " or longer at a time.";
  return answer;
}

}  // namespace lanescope::analysis
