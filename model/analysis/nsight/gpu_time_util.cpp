// How much a GPU was used in equal parts of the time.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "common.h"
#include "device_work.h"
#include "nsight_rules.h"

namespace lanescope::analysis {
namespace {

struct PartOfTime {
  TimeRange time;
  Nanoseconds used = 0;  // concurrent operations add up
  const DeviceWork* device = nullptr;
  [[nodiscard]] double percent() const { return time.length() > 0 ? 100.0 * static_cast<double>(used) / static_cast<double>(time.length()) : 0.0; }
};

std::vector<PartOfTime> cut(const stats::Selection& selection, const DeviceWork& device, std::int64_t chunks) {
  const TimeRange extent = device.extent;
  const Nanoseconds length = std::max<Nanoseconds>(1, (extent.length() + chunks - 1) / chunks);
  std::vector<PartOfTime> parts;
  for (Nanoseconds begin = extent.begin; begin < extent.end; begin += length) parts.push_back({{begin, std::min(begin + length, extent.end)}, 0, &device});
  for_each_operation(selection, device, [&](TimeRange operation) {
    for (auto i = static_cast<std::size_t>((operation.begin - extent.begin) / length); i < parts.size() && parts[i].time.begin < operation.end; ++i)
      parts[i].used += parts[i].time.intersected(operation).length();
  });
  return parts;
}

// Keeps the parts below the threshold; neighbours are united.
void keep_low(const std::vector<PartOfTime>& parts, double threshold, std::vector<PartOfTime>& low) {
  bool continues = false;
  for (const PartOfTime& part : parts) {
    const bool is_low = part.percent() < threshold;
    if (is_low && continues) {
      low.back().time.end = part.time.end;
      low.back().used += part.used;
    } else if (is_low) {
      low.push_back(part);
    }
    continues = is_low;
  }
}

}  // namespace

Result<RuleAnswer> find_low_gpu_use(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  constexpr std::int64_t kMostChunks = 1000;
  const std::int64_t chunks = arguments.integer("chunks");
  if (chunks < 1 || chunks > kMostChunks) return Error{"chunks=" + std::to_string(chunks) + " is not a number from 1 to 1000.", ErrorKind::kUsage};
  const auto selection = select(context, arguments);
  if (!selection) return selection.error();
  const std::vector<DeviceWork> devices = work_by_device(*selection);
  std::vector<PartOfTime> low;
  for (const DeviceWork& device : devices) keep_low(cut(*selection, device, chunks), arguments.real("threshold"), low);
  // For parts that show the same share, the shorter comes first.
  const auto order = [](const PartOfTime& part) { return std::tuple(std::round(part.percent() * 10), part.time.length(), part.time.begin); };
  std::stable_sort(low.begin(), low.end(), [&](const PartOfTime& a, const PartOfTime& b) { return order(a) < order(b); });

  using stats::Unit;
  stats::Table table({stats::identifiers("Row#"), stats::reals("In-Use", Unit::kPercent), stats::integers("Duration", Unit::kNanoseconds),
                      stats::integers("Start", Unit::kNanoseconds), stats::identifiers("PID"), stats::identifiers("Device ID"),
                      stats::identifiers("Context ID")});
  for (const PartOfTime& part : low) {
    if (table.row_count() >= row_limit(arguments)) break;
    table.add_row(static_cast<std::int64_t>(table.row_count() + 1), part.percent(), part.time.length(), part.time.begin,
                  std::int64_t{trace.processes()[part.device->process].pid}, part.device->device, std::int64_t{part.device->context});
  }
  return answer("gpu_time_util", "Low use of GPUs", std::move(table), low.size(), "Every part of the time was used more than the threshold.");
}

}  // namespace lanescope::analysis
