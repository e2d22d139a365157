// cuda_kern_exec_sum, cuda_kern_exec_trace: from the launching call to the end of the kernel.
//
// Of a kernel: T is the time from the call's start until call and kernel have ended; A the call; Q the wait between the call's end and the
// kernel's start, where the kernel did not start before; K the kernel.
#include <algorithm>
#include <map>

#include "grid_text.h"
#include "kernel_names.h"
#include "label_groups.h"
#include "launches.h"
#include "model/stats/device_ordinals.h"
#include "report_functions.h"

namespace lanescope::stats {
namespace {

// What the two reports ask of a launch.
class Executions {
 public:
  Executions(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()),
        options_(options),
        ranges_(options.range_prefix == RangePrefix::kInnermostRange ? InnermostRanges(selection) : InnermostRanges()),
        threads_(launches_by_thread(selection, {TrackKind::kKernels})) {}

  [[nodiscard]] const std::map<ThreadId, std::vector<Launch>>& threads() const { return threads_; }
  [[nodiscard]] NameId range(const Launch& launch) const {
    return options_.range_prefix == RangePrefix::kInnermostRange ? ranges_.name(launch.operation) : NameId{0};
  }
  [[nodiscard]] NameId kernel(const Launch& launch) const {
    const Lane& lane = trace_.lane(launch.operation.lane);
    return kernel_name(trace_, lane.name(launch.operation.index), lane.detail(launch.operation.index), options_.kernel_names);
  }

 private:
  const Trace& trace_;
  const ReportOptions& options_;
  InnermostRanges ranges_;
  std::map<ThreadId, std::vector<Launch>> threads_;
};

Nanoseconds total_time(const Launch& launch) { return std::max(launch.call_time.end, launch.operation_time.end) - launch.call_time.begin; }
Nanoseconds queue_time(const Launch& launch) { return launch.operation_time.begin - launch.call_time.end; }

struct Group {
  Samples total, call, queue, kernel;

  void add(const Launch& launch) {
    total.push_back(total_time(launch));
    call.push_back(launch.call_time.length());
    if (queue_time(launch) >= 0) queue.push_back(queue_time(launch));
    kernel.push_back(launch.operation_time.length());
  }
  void add(const Group& other) {
    total.insert(total.end(), other.total.begin(), other.total.end());
    call.insert(call.end(), other.call.begin(), other.call.end());
    queue.insert(queue.end(), other.queue.begin(), other.queue.end());
    kernel.insert(kernel.end(), other.kernel.begin(), other.kernel.end());
  }
};

struct GroupKey {
  std::int64_t pid, tid, device;
  std::string_view call;
  NameId range, kernel;
  auto operator<=>(const GroupKey&) const = default;
};

std::map<GroupKey, Group> group(const Trace& trace, const Executions& executions) {
  const DeviceOrdinals device(trace);
  std::map<GroupKey, Group> groups;
  for (const auto& [thread_id, launches] : executions.threads()) {
    // First by ids, which are quick to compare; versions of a call then meet under its name.
    GroupsByIds<4, Group> of_thread;
    for (const Launch& launch : launches)
      of_thread[{trace.track_of(launch.operation.lane).key.gpu, trace.lane(launch.call.lane).name(launch.call.index),
                 executions.range(launch), executions.kernel(launch)}]
          .add(launch);
    const Thread& thread = trace.threads()[thread_id];
    for (auto& [ids, of_ids] : of_thread)
      groups[{trace.processes()[thread.process].pid, thread.tid, device(thread.process, ids[0]), api_display_name(trace.name(ids[1])),
              ids[2], ids[3]}]
          .add(of_ids);
  }
  return groups;
}

struct SummaryColumns {
  double average = kNoReal, median = kNoReal;
  std::int64_t minimum = kNoInteger, maximum = kNoInteger;
  double deviation = 0;
};

SummaryColumns columns_of(Samples& samples) {
  if (samples.empty()) return {};
  const Summary s = summarize(samples);
  return {s.average, s.median, s.minimum, s.maximum, s.deviation};
}

}  // namespace

Table cuda_kern_exec_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const Executions executions(selection, options);
  std::map<GroupKey, Group> groups = group(trace, executions);

  std::vector<Column> columns = {identifiers("PID"), identifiers("TID"), identifiers("DevId"), integers("Count"), integers("QCount")};
  for (const std::string prefix : {"T", "A", "Q", "K"})
    for (Column column : {reals("Avg", Unit::kNanoseconds), reals("Med", Unit::kNanoseconds), integers("Min", Unit::kNanoseconds),
                          integers("Max", Unit::kNanoseconds), reals("StdDev", Unit::kNanoseconds)}) {
      column.title = prefix + column.title;
      columns.push_back(std::move(column));
    }
  columns.push_back(texts("API Name"));
  columns.push_back(texts("Kernel Name"));
  Table table(std::move(columns));

  struct Row {
    const GroupKey* key;
    std::int64_t count, queued;
    SummaryColumns t, a, q, k;
  };
  std::vector<Row> rows;
  for (auto& [key, group] : groups)
    rows.push_back({&key, static_cast<std::int64_t>(group.total.size()), static_cast<std::int64_t>(group.queue.size()),
                    columns_of(group.total), columns_of(group.call), columns_of(group.queue), columns_of(group.kernel)});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.t.average > b.t.average; });
  for (const auto& [key, count, queued, t, a, q, k] : rows)
    table.add_row(key->pid, key->tid, key->device, count, queued, t.average, t.median, t.minimum, t.maximum, t.deviation, a.average,
                  a.median, a.minimum, a.maximum, a.deviation, q.average, q.median, q.minimum, q.maximum, q.deviation, k.average, k.median,
                  k.minimum, k.maximum, k.deviation, table.add_text(std::string(key->call)),
                  table.add_text(prefixed(trace, key->range, key->kernel)));
  return table;
}

Table cuda_kern_exec_trace(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const Executions executions(selection, options);
  const DeviceOrdinals device(trace);
  std::vector<std::pair<const Launch*, ThreadId>> rows;
  for (const auto& [thread, launches] : executions.threads())
    for (const Launch& launch : launches) rows.emplace_back(&launch, thread);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first->call_time.begin < b.first->call_time.begin; });

  Table table({integers("API Start", Unit::kNanoseconds), integers("API Dur", Unit::kNanoseconds),
               integers("Queue Start", Unit::kNanoseconds), integers("Queue Dur", Unit::kNanoseconds),
               integers("Kernel Start", Unit::kNanoseconds), integers("Kernel Dur", Unit::kNanoseconds),
               integers("Total Dur", Unit::kNanoseconds), identifiers("PID"), identifiers("TID"), identifiers("DevId"),
               texts("API Function"), texts("GridXYZ"), texts("BlockXYZ"), texts("Kernel Name")});
  table.reserve(rows.size());
  NameTexts calls(table, trace);
  std::map<std::pair<NameId, NameId>, TextId> kernels;
  std::map<DetailId, std::pair<TextId, TextId>> shapes;
  for (const auto& [launch, thread_id] : rows) {
    const Thread& thread = trace.threads()[thread_id];
    const TrackKey& track = trace.track_of(launch->operation.lane).key;
    const bool queued = queue_time(*launch) >= 0;
    const auto [kernel, is_new_kernel] = kernels.try_emplace({executions.range(*launch), executions.kernel(*launch)});
    if (is_new_kernel) kernel->second = table.add_text(prefixed(trace, kernel->first.first, kernel->first.second));
    const auto [shape, is_new_shape] = shapes.try_emplace(trace.lane(launch->operation.lane).detail(launch->operation.index));
    if (is_new_shape) {
      const KernelDetail& detail = trace.kernel_detail(shape->first);
      shape->second = {table.add_text(grid_text(detail.grid)), table.add_text(grid_text(detail.block))};
    }
    const NameId call = trace.lane(launch->call.lane).name(launch->call.index);
    table.add_row(launch->call_time.begin, launch->call_time.length(), queued ? launch->call_time.end : kNoInteger,
                  queued ? queue_time(*launch) : kNoInteger, launch->operation_time.begin, launch->operation_time.length(),
                  total_time(*launch), std::int64_t{trace.processes()[thread.process].pid}, std::int64_t{thread.tid},
                  device(track.process, track.gpu), calls(call, [&](NameId name) { return api_display_name(trace.name(name)); }),
                  shape->second.first, shape->second.second, kernel->second);
  }
  return table;
}

}  // namespace lanescope::stats
