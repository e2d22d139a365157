#include "tables.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/idle/stream_idle.h"
#include "model/events/event_values.h"
#include "model/text/to_translate.h"
#include "sampled_code.h"
#include "wording.h"

namespace lanescope::analysis::bubbles {

stats::Table group_table(const Trace& trace, const Families& families, const Loop& loop, const IdleGroups& collected, std::int64_t rows) {
  stats::Table table({stats::reals("Idle", stats::Unit::kPercent), stats::integers("Total Time", stats::Unit::kNanoseconds), stats::integers("Parts"),
                      stats::integers("Longest", stats::Unit::kNanoseconds), stats::integers("Longest Gap Start", stats::Unit::kNanoseconds),
                      stats::integers("GPU"), stats::words("Cause"), stats::texts("NVTX Range"), stats::texts("Call"), stats::words("When"),
                      stats::texts("Sampled Code")});
  const std::array<Nanoseconds, 2> idle{collected.idle(Recurrence::kRecurring), collected.idle(Recurrence::kOnce)};
  struct Row {
    const Group* group;
    GpuId gpu;
    const Group::OfGpu* of_gpu;
  };
  std::vector<Row> all;
  for (const Group& group : collected.groups)
    for (const auto& [gpu, of_gpu] : group.by_gpu) all.push_back({&group, gpu, &of_gpu});
  std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.of_gpu->total > b.of_gpu->total; });
  if (rows >= 0 && all.size() > static_cast<std::size_t>(rows)) all.resize(static_cast<std::size_t>(rows));
  std::vector<GpuId> gpus;
  for (const auto& [group, gpu, of_gpu] : all) {
    gpus.push_back(gpu);
    table.add_row(percent_of(of_gpu->total, idle[static_cast<std::size_t>(group->recurrence)]), of_gpu->total, static_cast<std::int64_t>(of_gpu->parts),
                  of_gpu->longest, of_gpu->longest_gap_begin, static_cast<std::int64_t>(trace.gpus()[gpu].ordinal),
                  table.add_text(std::string(idle_cause_name(group->cause))), table.add_text(families.text(group->family)),
                  table.add_text(std::string(api_display_name(trace.name(group->call)))), table.add_text(std::string(when_text(loop, group->recurrence))),
                  table.add_text(sampled_text(trace, group->samples, 1)));
  }
  add_files(trace, gpus, table);
  return table;
}

stats::Table cause_table(const Trace& trace, const Loop& loop, const IdleGroups& collected) {
  stats::Table table({stats::integers("GPU"), stats::reals("Idle", stats::Unit::kPercent), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Parts"), stats::words("Cause"), stats::words("When")});
  std::vector<GpuId> gpus;
  for (const GpuIdle& gpu : collected.gpus) {
    const auto add = [&](const CauseSum& sum, std::string_view cause, Recurrence recurrence) {
      if (sum.parts == 0) return;
      const Nanoseconds idle = collected.by_gpu.at(gpu.gpu)[static_cast<std::size_t>(recurrence)].total();
      table.add_row(std::int64_t{trace.gpus()[gpu.gpu].ordinal}, percent_of(sum.total, idle), sum.total, static_cast<std::int64_t>(sum.parts),
                    table.add_text(std::string(cause)), table.add_text(std::string(when_text(loop, recurrence))));
      gpus.push_back(gpu.gpu);
    };
    for (const Recurrence recurrence : {Recurrence::kRecurring, Recurrence::kOnce}) {
      const IdleGroups::OfGpu& idle = collected.by_gpu.at(gpu.gpu)[static_cast<std::size_t>(recurrence)];
      std::array<std::size_t, kIdleCauses> order;
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) { return idle.causes[one].total > idle.causes[other].total; });
      for (const std::size_t cause : order) add(idle.causes[cause], idle_cause_name(static_cast<IdleCause>(cause)), recurrence);
      add(idle.in_short_gaps, to_translate("Gaps below the threshold"), recurrence);
    }
  }
  add_files(trace, gpus, table);
  return table;
}

stats::Table gpu_table(const Trace& trace, const IdleGroups& collected) {
  stats::Table table({stats::texts("GPU"), stats::integers("Span", stats::Unit::kNanoseconds), stats::integers("Busy", stats::Unit::kNanoseconds),
                      stats::integers("Idle", stats::Unit::kNanoseconds), stats::reals("Idle Share", stats::Unit::kPercent), stats::integers("Operations"),
                      stats::integers("Gaps"), stats::integers("Short Gaps")});
  std::vector<GpuId> gpus;
  for (const GpuIdle& gpu : collected.gpus) {
    gpus.push_back(gpu.gpu);
    table.add_row(table.add_text(gpu_label(trace, gpu.gpu)), gpu.extent.length(), gpu.busy(), gpu.idle, percent_of(gpu.idle, gpu.extent.length()),
                  static_cast<std::int64_t>(gpu.operations), static_cast<std::int64_t>(gpu.gaps), static_cast<std::int64_t>(gpu.short_gaps));
  }
  add_files(trace, gpus, table);
  return table;
}

stats::Table stream_table(const RuleContext& context) {
  const Trace& trace = context.trace;
  stats::Table table({stats::integers("PID"), stats::integers("GPU"), stats::integers("Context"), stats::integers("Stream"), stats::integers("Operations"),
                      stats::integers("Busy", stats::Unit::kNanoseconds), stats::integers("Host Wait", stats::Unit::kNanoseconds),
                      stats::integers("Kernel Wait", stats::Unit::kNanoseconds), stats::integers("Other", stats::Unit::kNanoseconds)});
  std::vector<GpuId> gpus;
  for (const StreamIdle& stream : break_down_stream_idle(trace, context.launches(), context.time, kDefaultKernelGap, context.stop)) {
    gpus.push_back(stream.gpu);
    table.add_row(std::int64_t{trace.processes()[stream.process].pid}, std::int64_t{trace.gpus()[stream.gpu].ordinal}, std::int64_t{stream.context},
                  std::int64_t{stream.stream}, static_cast<std::int64_t>(stream.operations), stream.busy, stream.host_wait, stream.kernel_wait, stream.other);
  }
  add_files(trace, gpus, table);
  return table;
}

}  // namespace lanescope::analysis::bubbles
