// Every kernel, copy and set.
#include <algorithm>
#include <map>

#include "by_start.h"
#include "event_columns.h"
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

// What operations were, once for all that are alike: kernels by the number of their detail, copies and sets behind them by theirs.
struct Operation {
  const KernelDetail* kernel = nullptr;
  const MemoryDetail* memory = nullptr;
};

class GpuTrace {
 public:
  GpuTrace(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()),
        options_(options),
        events_(events_by_start(selection, {TrackKind::kKernels, TrackKind::kMemory})),
        ranges_(options.range_prefix == RangePrefix::kInnermostRange ? InnermostRanges(selection) : InnermostRanges()),
        names_(table_, trace_) {
    for (std::size_t kind = 0; kind < std::size(memory_kinds_); ++kind)
      if (kind != static_cast<std::size_t>(MemoryKind::kUnknown))
        memory_kinds_[kind] = table_.add_text(std::string(memory_kind_name(static_cast<MemoryKind>(kind))));
    for (const Track& track : trace_.tracks()) devices_.push_back(device(track.key));
  }

  Table make() && {
    Integers starts, durations, correlations, throughputs;
    Texts names;
    Places tracks, operations;
    count_details();
    run_all({[&] { starts = column_of<Integers>(events_, [&](EventRef e) { return lane(e).start(e.index); }); },
             [&] { durations = column_of<Integers>(events_, [&](EventRef e) { return lane(e).duration(e.index); }); },
             [&] { correlations = column_of<Integers>(events_, [&](EventRef e) { return lane(e).correlation(e.index); }); },
             [&] { throughputs = column_of<Integers>(events_, [&](EventRef e) { return throughput_of(e); }); },
             [&] { tracks = places_of(events_, [&](EventRef e) { return track_number(e); }); },
             [&] { operations = places_of(events_, [&](EventRef e) { return operation_number(e); }); },
             [&] { names = column_of<Texts>(events_, [&](EventRef e) { return name(e); }); }});
    const std::vector<Operation> alike = alike_operations();

    const auto of_kernels = [&](auto value) {
      return shared_integers(operations, alike, [&](const Operation& o) { return o.kernel ? std::int64_t{value(*o.kernel)} : kNoInteger; });
    };
    const auto of_tracks = [&](auto value) { return shared_integers(tracks, trace_.tracks(), value); };
    const auto bytes = [](const Operation& o) { return o.memory ? static_cast<std::int64_t>(o.memory->bytes) : kNoInteger; };
    table_.set_columns({{"Start", Unit::kNanoseconds, std::move(starts)},
                        {"Duration", Unit::kNanoseconds, std::move(durations)},
                        {"CorrId", Unit::kIdentifier, std::move(correlations)},
                        {"GrdX", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.grid[0]; })},
                        {"GrdY", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.grid[1]; })},
                        {"GrdZ", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.grid[2]; })},
                        {"BlkX", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.block[0]; })},
                        {"BlkY", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.block[1]; })},
                        {"BlkZ", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.block[2]; })},
                        {"Reg/Trd", Unit::kNone, of_kernels([](const KernelDetail& d) { return d.registers_per_thread; })},
                        {"StcSMem", Unit::kBytes, of_kernels([](const KernelDetail& d) { return d.static_shared_memory; })},
                        {"DymSMem", Unit::kBytes, of_kernels([](const KernelDetail& d) { return d.dynamic_shared_memory; })},
                        {"Bytes", Unit::kBytes, shared_integers(operations, alike, bytes)},
                        {"Throughput", Unit::kBytesPerSecond, std::move(throughputs)},
                        {"SrcMemKd", Unit::kNone, shared_texts(operations, alike, [&](const Operation& o) { return source(o); })},
                        {"DstMemKd", Unit::kNone, shared_texts(operations, alike, [&](const Operation& o) { return destination(o); })},
                        {"Device", Unit::kNone, Shared<Texts>{tracks, devices_}},
                        {"Ctx", Unit::kIdentifier, of_tracks([](const Track& track) { return track.key.context; })},
                        {"GreenCtx", Unit::kIdentifier, of_tracks([](const Track&) { return kNoInteger; })},
                        {"Strm", Unit::kIdentifier, of_tracks([](const Track& track) { return track.key.stream; })},
                        {"Name", Unit::kNone, std::move(names)}},
                       events_.size());
    return std::move(table_);
  }

 private:
  [[nodiscard]] const Lane& lane(EventRef event) const { return trace_.lane(event.lane); }
  [[nodiscard]] bool is_kernel(EventRef event) const { return trace_.track_of(event.lane).key.kind == TrackKind::kKernels; }
  [[nodiscard]] std::uint32_t track_number(EventRef event) const {
    return static_cast<std::uint32_t>(&trace_.track_of(event.lane) - trace_.tracks().data());
  }

  void count_details() {
    for (const EventRef event : events_) {
      std::uint32_t& count = is_kernel(event) ? kernel_details_ : memory_details_;
      count = std::max(count, lane(event).detail(event.index) + 1);
    }
  }
  [[nodiscard]] std::uint32_t operation_number(EventRef event) const {
    return lane(event).detail(event.index) + (is_kernel(event) ? 0 : kernel_details_);
  }
  [[nodiscard]] std::vector<Operation> alike_operations() const {
    std::vector<Operation> alike;
    for (DetailId id = 0; id < kernel_details_; ++id) alike.push_back({&trace_.kernel_detail(id), nullptr});
    for (DetailId id = 0; id < memory_details_; ++id) alike.push_back({nullptr, &trace_.memory_detail(id)});
    return alike;
  }

  [[nodiscard]] std::int64_t throughput_of(EventRef event) const {
    if (is_kernel(event)) return kNoInteger;
    return throughput(trace_.memory_detail(lane(event).detail(event.index)).bytes, lane(event).duration(event.index));
  }

  TextId device(const TrackKey& key) {
    if (!is_gpu_work(key.kind) || key.gpu >= trace_.gpus().size()) return TextId{0};
    const auto [found, inserted] = device_texts_.try_emplace({key.process, key.gpu});
    if (inserted)
      found->second = table_.add_text(trace_.gpus()[key.gpu].name + " (" + std::to_string(ordinals_(key.process, key.gpu)) + ")");
    return found->second;
  }

  // The memory that a set wrote stands where a copy's source does.
  [[nodiscard]] TextId source(const Operation& operation) const {
    if (!operation.memory) return TextId{0};
    const bool is_set = operation.memory->operation == MemoryOperation::kSet;
    return memory_kinds_[static_cast<std::size_t>(is_set ? operation.memory->destination_memory : operation.memory->source_memory)];
  }
  [[nodiscard]] TextId destination(const Operation& operation) const {
    if (!operation.memory || operation.memory->operation == MemoryOperation::kSet) return TextId{0};
    return memory_kinds_[static_cast<std::size_t>(operation.memory->destination_memory)];
  }

  TextId name(EventRef event) {
    const NameId own = lane(event).name(event.index);
    if (!is_kernel(event)) return names_(own);
    const NameId name = kernel_name(trace_, own, lane(event).detail(event.index), options_.kernel_names);
    if (options_.range_prefix == RangePrefix::kNone) return names_(name);
    const auto [found, inserted] = prefixed_names_.try_emplace({ranges_.name(event), name});
    if (inserted) found->second = table_.add_text(prefixed(trace_, found->first.first, name));
    return found->second;
  }

  const Trace& trace_;
  const ReportOptions& options_;
  std::vector<EventRef> events_;
  InnermostRanges ranges_;
  Table table_;
  NameTexts names_;
  std::uint32_t kernel_details_ = 0;  // one more than the largest that occurs
  std::uint32_t memory_details_ = 0;
  TextId memory_kinds_[8] = {};
  DeviceOrdinals ordinals_{trace_};
  std::map<std::pair<ProcessId, GpuId>, TextId> device_texts_;
  Texts devices_;  // by track
  std::map<std::pair<NameId, NameId>, TextId> prefixed_names_;
};

}  // namespace

Table cuda_gpu_trace(const Selection& selection, const ReportOptions& options) { return GpuTrace(selection, options).make(); }

}  // namespace lanescope::stats
