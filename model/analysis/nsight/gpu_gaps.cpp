// Idle time of a GPU between two operations of a process.
#include <algorithm>

#include "common.h"
#include "device_work.h"
#include "nsight_rules.h"

namespace lanescope::analysis {
namespace {

struct Gap {
  TimeRange time;
  const DeviceWork* device;
};

// The longest gap comes first.
bool comes_before(const Gap& a, const Gap& b) {
  if (a.time.length() != b.time.length()) return a.time.length() > b.time.length();
  return a.time.begin != b.time.begin ? a.time.begin < b.time.begin : a.device < b.device;
}

}  // namespace

Result<RuleAnswer> find_gpu_gaps(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const auto selection = select(context, arguments);
  if (!selection) return selection.error();
  const std::vector<DeviceWork> devices = work_by_device(*selection);
  Foremost<Gap, decltype(&comes_before)> longest(row_limit(arguments), comes_before);
  const Nanoseconds longer_than = arguments.duration("gap");
  for (const DeviceWork& device : devices) {
    Nanoseconds busy_until = device.extent.begin;
    for_each_operation(*selection, device, [&](TimeRange operation) {
      if (operation.begin - busy_until > longer_than) longest.add({{busy_until, operation.begin}, &device});
      busy_until = std::max(busy_until, operation.end);
    });
  }

  using stats::Unit;
  stats::Table table({stats::identifiers("Row#"), stats::integers("Duration", Unit::kNanoseconds), stats::integers("Start", Unit::kNanoseconds),
                      stats::identifiers("PID"), stats::identifiers("Device ID"), stats::identifiers("Context ID")});
  for (const Gap& gap : longest.take())
    table.add_row(static_cast<std::int64_t>(table.row_count() + 1), gap.time.length(), gap.time.begin, std::int64_t{trace.processes()[gap.device->process].pid},
                  gap.device->device, std::int64_t{gap.device->context});
  return answer("gpu_gaps", "Gaps on GPUs", std::move(table), longest.added(),
                "No process left a GPU without work for longer than the threshold between its first and last operation there.");
}

}  // namespace lanescope::analysis
