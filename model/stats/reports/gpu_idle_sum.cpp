// Idle time of GPUs, by cause.
#include <algorithm>
#include <array>

#include "../columns/device_text.h"
#include "../report_functions.h"
#include "model/analysis/idle/idle.h"
#include "model/stats/table.h"
#include "model/trace/workers/usable_cores.h"

namespace lanescope::stats {
namespace {

using namespace analysis;

struct CauseTime {
  IdleCause cause = IdleCause::kUnknown;
  Nanoseconds total = 0;
  Nanoseconds longest = 0;
  std::int64_t parts = 0;

  void add(const CauseTime& other) {
    if (other.parts == 0) return;
    cause = other.cause;
    total += other.total;
    longest = std::max(longest, other.longest);
    parts += other.parts;
  }
};

}  // namespace

Table gpu_idle_sum(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  using Causes = std::vector<std::array<CauseTime, kIdleCauses>>;  // by GPU
  // More parts than cores: with two parts, one might hold nearly all gaps.
  std::vector<Causes> parts(std::size_t{8} * usable_cores(), Causes(trace.gpus().size()));
  std::vector<IdleVisitor> visitors;
  for (Causes& part : parts)
    visitors.push_back([&part, &selection](const IdleGap& gap, std::span<const IdlePart> pieces) {
      for (const IdlePart& piece : pieces) {
        const Nanoseconds time = selection.time() ? piece.range.intersected(*selection.time()).length() : piece.range.length();
        if (time > 0) part[gap.gpu][static_cast<std::size_t>(piece.cause)].add({piece.cause, time, time, 1});
      }
    });
  const auto gpus = visit_idle_in_parts(trace, selection.launch_index(), 0, visitors, selection.stop());
  Causes causes(trace.gpus().size());
  for (const Causes& part : parts)
    for (std::size_t gpu = 0; gpu < part.size(); ++gpu)
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) causes[gpu][cause].add(part[gpu][cause]);

  Table table({reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers("Parts"), integers("Longest", Unit::kNanoseconds),
               words("Cause"), reals("Busy", Unit::kPercent), integers("Span", Unit::kNanoseconds), integers("Busy", Unit::kNanoseconds),
               integers("Idle", Unit::kNanoseconds), texts("Device")});
  if (!has_known_times(trace.provenance())) return table;
  const DeviceTexts devices(trace);
  for (const GpuIdle& gpu : gpus) {
    const Nanoseconds span = selection.time() ? gpu.extent.intersected(*selection.time()).length() : gpu.extent.length();
    if (span == 0) continue;
    auto& of_gpu = causes[gpu.gpu];
    std::sort(of_gpu.begin(), of_gpu.end(), [](const CauseTime& a, const CauseTime& b) { return a.total > b.total; });
    Nanoseconds idle = 0;
    for (const CauseTime& cause : of_gpu) idle += cause.total;
    const auto share = [](Nanoseconds part, Nanoseconds whole) { return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0; };
    const TextId name = table.add_text(devices.of(gpu.gpu));
    const auto add = [&](const CauseTime& cause, TextId text) {
      table.add_row(share(cause.total, idle), cause.total, cause.parts, cause.longest, text, share(span - idle, span), span, span - idle, idle, name);
    };
    if (idle == 0) add({}, TextId{0});  // a GPU that was never idle has a row, too
    for (const CauseTime& cause : of_gpu)
      if (cause.total > 0) add(cause, table.add_text(std::string(idle_cause_name(cause.cause))));
  }
  return table;
}

}  // namespace lanescope::stats
