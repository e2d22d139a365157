// Every kernel, copy and set.
#include <map>

#include "by_start.h"
#include "kernel_names.h"
#include "label_groups.h"
#include "model/stats/device_ordinals.h"
#include "report_functions.h"

namespace lanescope::stats {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

// Bytes per second, by the whole number of such operations in a second, as Nsight Systems counts.
std::int64_t throughput(std::uint64_t bytes, Nanoseconds duration) {
  if (duration <= 0) return kNoInteger;
  return static_cast<std::int64_t>(bytes) * (kNanosecondsPerSecond / duration);
}

class GpuTrace {
 public:
  GpuTrace(const Selection& selection, const ReportOptions& options)
      : selection_(selection),
        trace_(selection.trace()),
        options_(options),
        ranges_(options.range_prefix == RangePrefix::kInnermostRange ? InnermostRanges(selection) : InnermostRanges()),
        ordinals_(trace_),
        names_(table_, trace_) {
    for (std::size_t kind = 0; kind < std::size(memory_kinds_); ++kind)
      if (kind != static_cast<std::size_t>(MemoryKind::kUnknown))
        memory_kinds_[kind] = table_.add_text(std::string(memory_kind_name(static_cast<MemoryKind>(kind))));
  }

  Table make() && {
    const std::vector<StartedEvent> events = events_by_start(selection_, {TrackKind::kKernels, TrackKind::kMemory});
    table_.reserve(events.size());
    for (const StartedEvent& event : events)
      if (event.kind == TrackKind::kKernels)
        add_kernel(event.ref);
      else
        add_memory_operation(event.ref);
    return std::move(table_);
  }

 private:
  TextId device(const TrackKey& key) {
    const auto [found, inserted] = devices_.try_emplace({key.process, key.gpu});
    if (inserted && key.gpu < trace_.gpus().size())
      found->second = table_.add_text(trace_.gpus()[key.gpu].name + " (" + std::to_string(ordinals_(key.process, key.gpu)) + ")");
    return found->second;
  }

  TextId kernel_text(EventRef ref, NameId name) {
    if (options_.range_prefix == RangePrefix::kNone) return names_(name);
    const auto [found, inserted] = prefixed_names_.try_emplace({ranges_.name(ref), name});
    if (inserted) found->second = table_.add_text(prefixed(trace_, found->first.first, name));
    return found->second;
  }

  void add_kernel(EventRef ref) {
    const Event kernel = trace_.event(ref);
    const KernelDetail& d = trace_.kernel_detail(kernel.detail);
    const TrackKey& key = trace_.track_of(ref.lane).key;
    const NameId name = kernel_name(trace_, kernel.name, kernel.detail, options_.kernel_names);
    const auto count = [](std::uint32_t value) { return std::int64_t{value}; };
    table_.add_row(kernel.start, kernel.duration, count(kernel.correlation), count(d.grid[0]), count(d.grid[1]), count(d.grid[2]),
                   count(d.block[0]), count(d.block[1]), count(d.block[2]), count(d.registers_per_thread), count(d.static_shared_memory),
                   count(d.dynamic_shared_memory), kNoInteger, kNoInteger, TextId{0}, TextId{0}, device(key), count(key.context),
                   kNoInteger, count(key.stream), kernel_text(ref, name));
  }

  void add_memory_operation(EventRef ref) {
    const Event operation = trace_.event(ref);
    const MemoryDetail& d = trace_.memory_detail(operation.detail);
    const TrackKey& key = trace_.track_of(ref.lane).key;
    const auto kind = [&](MemoryKind memory) { return memory_kinds_[static_cast<std::size_t>(memory)]; };
    // The memory that a set wrote stands where a copy's source does.
    const bool is_set = d.operation == MemoryOperation::kSet;
    constexpr std::int64_t none = kNoInteger;
    table_.add_row(operation.start, operation.duration, std::int64_t{operation.correlation}, none, none, none, none, none, none, none, none,
                   none, static_cast<std::int64_t>(d.bytes), throughput(d.bytes, operation.duration),
                   kind(is_set ? d.destination_memory : d.source_memory), is_set ? TextId{0} : kind(d.destination_memory), device(key),
                   std::int64_t{key.context}, none, std::int64_t{key.stream}, names_(operation.name));
  }

  const Selection& selection_;
  const Trace& trace_;
  const ReportOptions& options_;
  InnermostRanges ranges_;
  DeviceOrdinals ordinals_;
  Table table_{{integers("Start", Unit::kNanoseconds),
                integers("Duration", Unit::kNanoseconds),
                identifiers("CorrId"),
                integers("GrdX"),
                integers("GrdY"),
                integers("GrdZ"),
                integers("BlkX"),
                integers("BlkY"),
                integers("BlkZ"),
                integers("Reg/Trd"),
                integers("StcSMem", Unit::kBytes),
                integers("DymSMem", Unit::kBytes),
                integers("Bytes", Unit::kBytes),
                integers("Throughput", Unit::kBytesPerSecond),
                texts("SrcMemKd"),
                texts("DstMemKd"),
                texts("Device"),
                identifiers("Ctx"),
                identifiers("GreenCtx"),
                identifiers("Strm"),
                texts("Name")}};
  NameTexts names_;
  TextId memory_kinds_[8] = {};
  std::map<std::pair<ProcessId, GpuId>, TextId> devices_;
  std::map<std::pair<NameId, NameId>, TextId> prefixed_names_;
};

}  // namespace

Table cuda_gpu_trace(const Selection& selection, const ReportOptions& options) { return GpuTrace(selection, options).make(); }

}  // namespace lanescope::stats
