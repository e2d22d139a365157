// Every kernel, copy and set.
#include <algorithm>
#include <map>

#include "../by_start.h"
#include "../columns/kernel_names.h"
#include "../columns/run_column.h"
#include "../label_groups.h"
#include "../report_functions.h"
#include "event_columns.h"
#include "model/stats/device_ordinals.h"

namespace lanescope::stats {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

// Bytes per second: bytes times the whole number of such operations in a second, as Nsight Systems counts.
std::int64_t throughput(std::uint64_t bytes, Nanoseconds duration) {
  if (duration <= 0) return kNoInteger;
  return static_cast<std::int64_t>(bytes) * (kNanosecondsPerSecond / duration);
}

// Data that cells read beside lanes: details by their numbers, and texts.
struct Details {
  std::vector<bool> is_kernel;  // by lane
  std::vector<KernelDetail> kernels;
  std::vector<MemoryDetail> memory;
  TextId memory_kinds[8] = {};
};

// Appends the missing details, up to `last`.
template <typename Detail, typename Get>
void keep_up_to(std::vector<Detail>& details, DetailId last, Get get) {
  for (auto id = static_cast<DetailId>(details.size()); id <= last; ++id) details.push_back(get(id));
}

std::int64_t absent(std::int64_t) { return kNoInteger; }
TextId absent(TextId) { return TextId{0}; }

// The value is value(detail, duration) for operations whose detail is in this table: kernels, or all others.
template <typename Detail, typename Value>
auto of_operations(const SharedEvents& listed, const std::shared_ptr<const Details>& details, std::vector<Detail> Details::*kept, Value value) {
  using Result = decltype(value(std::declval<const Detail&>(), Nanoseconds{}));
  constexpr bool kOfKernels = std::is_same_v<Detail, KernelDetail>;
  return Computed<Result>([listed, details, kept, value](std::size_t row) {
    const EventRef event = listed->events[row];
    const Lane& lane = listed->lanes[event.lane];
    if (details->is_kernel[event.lane] != kOfKernels) return absent(Result{});
    return value(((*details).*kept)[lane.detail(event.index)], lane.duration(event.index));
  });
}

class GpuTrace {
 public:
  GpuTrace(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()),
        options_(options),
        listed_(list_events(trace_, events_by_start(selection, {TrackKind::kKernels, TrackKind::kMemory}))),
        ranges_(selection, options) {}

  Table make() && {
    Texts names = add_names();
    const std::shared_ptr<const Details> details = keep_details();
    std::vector<TextId> devices;  // by track
    for (const Track& track : trace_.tracks()) devices.push_back(device(track.key));

    const auto of_lanes = [&](auto value) { return of_events(listed_, value); };
    // Cells of kernels only, and of copies and sets only.
    const auto of_kernels = [&](auto value) { return of_operations(listed_, details, &Details::kernels, value); };
    const auto of_memory = [&](auto value) { return of_operations(listed_, details, &Details::memory, value); };
    const auto of_all = [&](auto value) { return of_tracks(listed_, trace_, value); };
    const auto memory_kind = [details](MemoryKind kind) { return details->memory_kinds[static_cast<std::size_t>(kind)]; };
    const auto device_of = [&](const Track& track) { return devices[static_cast<std::size_t>(&track - trace_.tracks().data())]; };
    // The memory that a set wrote is shown in the column of a copy's source.
    const auto is_set = [](const MemoryDetail& d) { return d.operation == MemoryOperation::kSet; };
    const auto source = [=](const MemoryDetail& d, Nanoseconds) { return memory_kind(is_set(d) ? d.destination_memory : d.source_memory); };
    const auto destination = [=](const MemoryDetail& d, Nanoseconds) { return is_set(d) ? TextId{0} : memory_kind(d.destination_memory); };
    table_.set_columns(
        {{"Start", Unit::kNanoseconds, of_lanes([](const Lane& lane, EventIndex i) { return lane.start(i); })},
         {"Duration", Unit::kNanoseconds, of_lanes([](const Lane& lane, EventIndex i) { return lane.duration(i); })},
         {"CorrId", Unit::kIdentifier, of_lanes([](const Lane& lane, EventIndex i) { return std::int64_t{lane.correlation(i)}; })},
         {"GrdX", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.grid[0]}; })},
         {"GrdY", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.grid[1]}; })},
         {"GrdZ", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.grid[2]}; })},
         {"BlkX", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.block[0]}; })},
         {"BlkY", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.block[1]}; })},
         {"BlkZ", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.block[2]}; })},
         {"Reg/Trd", Unit::kNone, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.registers_per_thread}; })},
         {"StcSMem", Unit::kBytes, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.static_shared_memory}; })},
         {"DymSMem", Unit::kBytes, of_kernels([](const KernelDetail& d, Nanoseconds) { return std::int64_t{d.dynamic_shared_memory}; })},
         {"Bytes", Unit::kBytes, of_memory([](const MemoryDetail& d, Nanoseconds) { return static_cast<std::int64_t>(d.bytes); })},
         {"Throughput", Unit::kBytesPerSecond, of_memory([](const MemoryDetail& d, Nanoseconds duration) { return throughput(d.bytes, duration); })},
         {"SrcMemKd", Unit::kNone, of_memory(source)},
         {"DstMemKd", Unit::kNone, of_memory(destination)},
         {"Device", Unit::kNone, of_all(device_of)},
         {"Ctx", Unit::kIdentifier, of_all([](const Track& track) { return std::int64_t{track.key.context}; })},
         {"GreenCtx", Unit::kIdentifier, of_all([](const Track&) { return kNoInteger; })},
         {"Strm", Unit::kIdentifier, of_all([](const Track& track) { return std::int64_t{track.key.stream}; })},
         {"Name", Unit::kNone, std::move(names)}},
        listed_->events.size());
    add_origins(trace_, table_, [&](std::size_t row) { return trace_.track_of(listed_->events[row].lane).key.process; });
    return std::move(table_);
  }

 private:
  std::shared_ptr<const Details> keep_details() {
    auto details = std::make_shared<Details>();
    for (LaneId id = 0; id < trace_.lanes().size(); ++id) details->is_kernel.push_back(trace_.track_of(id).key.kind == TrackKind::kKernels);
    for (const EventRef event : listed_->events) {
      const DetailId detail = listed_->lanes[event.lane].detail(event.index);
      if (details->is_kernel[event.lane])
        keep_up_to(details->kernels, detail, [&](DetailId id) { return trace_.kernel_detail(id); });
      else
        keep_up_to(details->memory, detail, [&](DetailId id) { return trace_.memory_detail(id); });
    }
    for (std::size_t kind = 0; kind < std::size(details->memory_kinds); ++kind)
      if (kind != static_cast<std::size_t>(MemoryKind::kUnknown))
        details->memory_kinds[kind] = table_.add_text(std::string(memory_kind_name(static_cast<MemoryKind>(kind))));
    return details;
  }

  TextId device(const TrackKey& key) {
    if (!is_gpu_work(key.kind) || key.gpu >= trace_.gpus().size()) return TextId{0};
    const auto [found, inserted] = device_texts_.try_emplace({key.process, key.gpu});
    if (inserted) found->second = table_.add_text(trace_.gpus()[key.gpu].name + " (" + std::to_string(ordinals_(key.process, key.gpu)) + ")");
    return found->second;
  }

  Texts add_names() {
    Texts names;
    names.reserve(listed_->events.size());
    GroupsByIds<2, TextId> known;  // by range and name
    for (const EventRef event : listed_->events) {
      const Lane& lane = listed_->lanes[event.lane];
      const TrackKey& track = trace_.track_of(event.lane).key;
      NameId name = lane.name(event.index), range = 0;
      if (track.kind == TrackKind::kKernels) {
        name = kernel_name(trace_, name, lane.detail(event.index), options_.kernel_names);
        range = ranges_.of_kernel(track.process, lane.correlation(event.index), lane.start(event.index));
      }
      TextId& text = known[{range, name}];
      if (text == TextId{0}) text = table_.add_text(prefixed(trace_, range, name));
      names.push_back(text);
    }
    return names;
  }

  const Trace& trace_;
  const ReportOptions& options_;
  SharedEvents listed_;
  InnermostRanges ranges_;
  Table table_;
  DeviceOrdinals ordinals_{trace_};
  std::map<std::pair<ProcessId, GpuId>, TextId> device_texts_;
};

}  // namespace

Table cuda_gpu_trace(const Selection& selection, const ReportOptions& options) { return GpuTrace(selection, options).make(); }

}  // namespace lanescope::stats
