#include "model/export/left_out.h"

#include <set>
#include <string_view>

#include "model/trace/text/grouped_digits.h"
#include "trace/trace_kernels.h"

namespace lanescope {
namespace {

using namespace exporters;

std::string number_of(std::uint64_t count, std::string_view noun) { return grouped_digits(count).append(" ").append(noun).append(count == 1 ? "" : "s"); }

void add(std::string& list, std::string_view part) { list.append(list.empty() ? "" : ", ").append(part); }

bool has_place_for(ForeignFormat format, const Counter& counter) {
  return format == ForeignFormat::kNsysTables && counter.gpu != kNone && counter.process == kNone;
}

void add_counters(const Trace& trace, const ExportSelection& selection, ForeignFormat format, std::string& list) {
  std::uint64_t counters = 0, values = 0;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    if (has_place_for(format, trace.counters()[id])) continue;
    const auto [first, last] = selection.values(trace, id);
    std::uint64_t own = 0;
    CounterReader reader(trace.counter_series(id));
    for (std::size_t i = first; i < last; ++i) own += reader.sample(i).has_value() ? 1 : 0;
    counters += own > 0 ? 1 : 0;
    values += own;
  }
  if (counters > 0) add(list, number_of(values, "value") + " of " + number_of(counters, "counter"));
}

// Records of kernels as .trace files contain them.
void add_records_of_kernels(const Trace& trace, const ExportSelection& selection, std::string& list) {
  if (trace.kernel_records().empty()) return;
  std::uint64_t measured = 0, samples = 0, counted = 0;
  const KernelRecordsWriter records(trace);
  for (ProcessId process = 0; process < trace.processes().size(); ++process) {
    std::set<std::uint32_t> launches;  // whose instructions were counted
    const auto add_samples = [&](const proto::PcSamples& window) {
      for (const std::uint32_t count : window.samples()) samples += count;
      return true;
    };
    const auto add_measured = [&](const proto::KernelMetrics& metrics) {
      measured += static_cast<std::uint64_t>(metrics.launches_size());
      return true;
    };
    const auto add_counted = [&](const proto::InstructionCounts& counts) {
      launches.insert(counts.correlation());
      return true;
    };
    if (!records.write(
            process, selection, [](const proto::CodeObject&) { return true; }, add_samples, add_measured, add_counted))
      return;
    counted += launches.size();
  }
  if (measured > 0) add(list, "hardware counters of " + number_of(measured, "kernel"));
  if (counted > 0) add(list, "instruction counts of " + number_of(counted, "kernel"));
  if (samples > 0) add(list, number_of(samples, "PC sample"));
}

// Source lines of the functions in call chains.
void add_source_lines(const Trace& trace, std::string& list) {
  const CallStacks& stacks = trace.call_stacks();
  std::uint64_t lines = 0;
  for (CodeLocationId id = 1; id < stacks.location_count(); ++id)
    for (const CodeFunction& function : stacks.functions(id)) lines += function.source_file != 0 ? 1 : 0;
  if (lines > 0) add(list, number_of(lines, "source line") + " of call chains");
}

}  // namespace

std::string left_out_of(const Trace& trace, const ExportSelection& selection, ForeignFormat format) {
  std::string list;
  add_counters(trace, selection, format, list);
  add_records_of_kernels(trace, selection, list);
  add_source_lines(trace, list);
  return list;
}

}  // namespace lanescope
