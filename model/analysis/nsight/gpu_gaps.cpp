// Idle time of a GPU between two operations of a process.
#include <algorithm>
#include <map>

#include "common.h"
#include "device_work.h"
#include "nsight_rules.h"

namespace lanescope::analysis {
namespace {

struct Gap {
  TimeRange time;
  const DeviceWork* device;
};

// Time in which the profiler held a process, by begin. It explains a gap, so it counts as use.
std::map<ProcessId, std::vector<TimeRange>> overhead_by_process(const stats::Selection& selection) {
  std::map<ProcessId, std::vector<TimeRange>> processes;
  selection.for_each(TrackKind::kOverhead, [&](const Track& track, const stats::EventView& overhead) {
    processes[track.key.process].push_back({overhead.start(), overhead.end()});
  });
  for (auto& [process, ranges] : processes)
    std::sort(ranges.begin(), ranges.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  return processes;
}

void find_gaps(const DeviceWork& device, const std::vector<TimeRange>& overhead, Nanoseconds longer_than, std::vector<Gap>& gaps) {
  auto next_overhead = overhead.begin();
  Nanoseconds busy_until = device.operations.front().begin;
  const auto meet = [&](TimeRange use) {
    if (use.begin - busy_until > longer_than) gaps.push_back({{busy_until, use.begin}, &device});
    busy_until = std::max(busy_until, use.end);
  };
  for (const TimeRange operation : device.operations) {
    for (; next_overhead != overhead.end() && next_overhead->begin < operation.begin; ++next_overhead) meet(*next_overhead);
    meet(operation);
  }
}

}  // namespace

Result<RuleAnswer> find_gpu_gaps(const Trace& trace, const RuleArguments& arguments) {
  const auto selection = select(trace, arguments);
  if (!selection) return selection.error();
  const std::vector<DeviceWork> devices = work_by_device(*selection);
  const auto overhead = overhead_by_process(*selection);
  std::vector<Gap> gaps;
  for (const DeviceWork& device : devices) {
    const auto found = overhead.find(device.process);
    find_gaps(device, found == overhead.end() ? std::vector<TimeRange>{} : found->second, arguments.duration("gap"), gaps);
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return a.time.length() != b.time.length() ? a.time.length() > b.time.length() : a.time.begin < b.time.begin;
  });

  using stats::Unit;
  stats::Table table({stats::identifiers("Row#"), stats::integers("Duration", Unit::kNanoseconds),
                      stats::integers("Start", Unit::kNanoseconds), stats::identifiers("PID"), stats::identifiers("Device ID"),
                      stats::identifiers("Context ID")});
  for (const Gap& gap : gaps) {
    if (table.row_count() >= row_limit(arguments)) break;
    table.add_row(static_cast<std::int64_t>(table.row_count() + 1), gap.time.length(), gap.time.begin,
                  std::int64_t{trace.processes()[gap.device->process].pid}, gap.device->device, std::int64_t{gap.device->context});
  }
  return answer("gpu_gaps", "Gaps on GPUs", std::move(table),
                "No GPU was idle for longer than the threshold between its first and last operation.");
}

}  // namespace lanescope::analysis
