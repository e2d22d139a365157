#include "event_tables.h"

#include <algorithm>
#include <array>

#include "model/trace/combining/parts.h"

namespace lanescope::exporters {
namespace {

using Row = const EventRow&;
using Source = EventColumnSource;
constexpr auto kInt = ColumnType::kInt64;
constexpr auto kUnsigned = ColumnType::kUint64;
constexpr auto kBool = ColumnType::kBool;
constexpr auto kText = ColumnType::kText;

// Names of enumeration values, as in the Python package.
template <std::size_t kCount>
std::string word(const std::array<std::string_view, kCount>& words, std::int64_t cell) {
  return std::string(words[cell >= 0 && static_cast<std::size_t>(cell) < kCount ? static_cast<std::size_t>(cell) : 0]);
}
std::string copy_kind(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 14> kWords = {
      "unknown",         "host to device",   "device to host", "host to array", "array to host",          "array to array",         "array to device",
      "device to array", "device to device", "host to host",   "peer to peer",  "unified host to device", "unified device to host", "unified device to device"};
  return word(kWords, cell);
}
std::string memory_kind(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 8> kWords = {"unknown", "pageable", "pinned", "device", "array", "managed", "device static", "managed static"};
  return word(kWords, cell);
}
std::string synchronization_type(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 5> kWords = {"unknown", "event", "stream waits for event", "stream", "context"};
  return word(kWords, cell);
}
std::string nvtx_style(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 2> kWords = {"push pop", "start end"};
  return word(kWords, cell);
}
std::string thread_state(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 4> kWords = {"unknown", "running", "runnable", "blocked"};
  return word(kWords, cell);
}
std::string sample_origin(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 3> kWords = {"timer", "cuda call", "os call"};
  return word(kWords, cell);
}
std::string memory_usage_operation(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 6> kWords = {"unknown", "allocation", "release", "pool creation", "pool destruction", "pool trim"};
  return word(kWords, cell);
}
// The outermost function first, separated by semicolons.
std::string folded_stack(const Trace& trace, std::int64_t cell) {
  std::string folded;
  const CallStacks& stacks = trace.call_stacks();
  const std::vector<CodeLocationId> locations = stacks.chain(static_cast<CallNodeId>(cell));
  for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
    const auto functions = stacks.functions(*location);
    for (auto function = functions.rbegin(); function != functions.rend(); ++function)
      folded.append(folded.empty() ? "" : ";").append(trace.name(function->function));
  }
  return folded;
}
std::string innermost_function(const Trace& trace, std::int64_t cell) {
  const std::vector<CodeLocationId> locations = trace.call_stacks().chain(static_cast<CallNodeId>(cell));
  if (locations.empty()) return {};
  const auto functions = trace.call_stacks().functions(locations.front());
  return functions.empty() ? std::string() : std::string(trace.name(functions.front().function));
}

Cell signed_cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }
Cell device(Row r) { return device_ordinal(r.trace, r.track.key.process, r.track.key.gpu); }
Cell of_launch(Row r, std::int64_t value) { return r.launch.valid() ? Cell(value) : std::nullopt; }
const KernelDetail& kernel(Row r) { return r.trace.kernel_detail(r.event.detail); }
const MemoryDetail& memory(Row r) { return r.trace.memory_detail(r.event.detail); }
const NvtxDetail& nvtx(Row r) { return r.trace.nvtx_detail(r.event.detail); }
const SampleDetail& sample(Row r) { return r.trace.sample_detail(r.event.detail); }
const MemoryUsageDetail& usage(Row r) { return r.trace.memory_usage_detail(r.event.detail); }
const PageFaultDetail& fault(Row r) { return r.trace.page_fault_detail(r.event.detail); }
const ThreadStateDetail& state(Row r) { return r.trace.thread_state_detail(r.event.detail); }
Cell processor_cell(std::uint32_t processor) { return processor == kNone ? -1 : static_cast<std::int64_t>(processor); }

// Columns that several tables share.
constexpr Source kProcess{"process", kInt, [](Row r) -> Cell { return r.track.key.process == kNone ? 0 : r.trace.processes()[r.track.key.process].instance; }};
constexpr Source kPid{"pid", kInt, [](Row r) -> Cell { return r.track.key.process == kNone ? 0 : r.trace.processes()[r.track.key.process].pid; }};
constexpr Source kStart{"start", kInt, [](Row r) -> Cell { return r.event.start; }};
constexpr Source kDuration{"duration", kInt, [](Row r) -> Cell { return r.event.duration; }};
constexpr Source kName{"name", kText, [](Row r) -> Cell { return r.event.name; }};
constexpr Source kNameHash{"name_hash", kUnsigned, [](Row r) { return signed_cell(r.name_hashes[r.event.name]); }};
constexpr Source kThread{"thread", kInt, [](Row r) -> Cell { return r.track.key.thread == kNone ? 0 : r.trace.threads()[r.track.key.thread].tid; }};
constexpr Source kCorrelation{"correlation", kInt, [](Row r) -> Cell { return r.event.correlation; }};
constexpr Source kDevice{"device", kInt, device};
constexpr Source kContext{"context", kInt, [](Row r) -> Cell { return r.track.key.context; }};
constexpr Source kStream{"stream", kInt, [](Row r) -> Cell { return r.track.key.stream; }};
constexpr Source kGpuUuid{"gpu_uuid", kText, [](Row r) -> Cell { return r.track.key.gpu; }, gpu_uuid};
constexpr Source kLaunchStart{"launch_start", kInt, [](Row r) { return of_launch(r, r.launch_call.start); }, nullptr, Nullable::kYes};
constexpr Source kLaunchDuration{"launch_duration", kInt, [](Row r) { return of_launch(r, r.launch_call.duration); }, nullptr, Nullable::kYes};
constexpr Source kLaunchThread{"launch_thread", kInt,
                               [](Row r) -> Cell {
                                 if (!r.launch.valid()) return std::nullopt;
                                 const ThreadId thread = r.trace.track_of(r.launch.lane).key.thread;
                                 return thread == kNone ? 0 : r.trace.threads()[thread].tid;
                               },
                               nullptr, Nullable::kYes};
constexpr Source kLaunchName{"launch_name", kText, [](Row r) { return of_launch(r, r.launch_call.name); }, nullptr, Nullable::kYes};
constexpr Source kDomain{"domain", kInt, [](Row r) -> Cell { return r.track.key.domain; }};
constexpr Source kCategory{"category", kInt, [](Row r) -> Cell { return nvtx(r).category; }};
constexpr Source kColor{"color", kInt, [](Row r) -> Cell { return nvtx(r).color; }};
constexpr Source kPayload{"payload", kInt, [](Row r) -> Cell {
                            const NvtxDetail& detail = nvtx(r);
                            return detail.payload_type == PayloadType::kUnsigned || detail.payload_type == PayloadType::kSigned ? signed_cell(detail.payload)
                                                                                                                                : 0;
                          }};
constexpr Source kRealPayload{"payload_real", ColumnType::kDouble, [](Row r) -> Cell {
                                return nvtx(r).payload_type == PayloadType::kReal ? signed_cell(nvtx(r).payload) : 0;  // bits of a double, the format of cells
                              }};
constexpr Source kStructuredPayload{"payload_json", kText, [](Row r) -> Cell { return nvtx(r).payload_json; }};

constexpr Source kKernels[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    kName,
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    {"grid_x", kInt, [](Row r) -> Cell { return kernel(r).grid[0]; }},
    {"grid_y", kInt, [](Row r) -> Cell { return kernel(r).grid[1]; }},
    {"grid_z", kInt, [](Row r) -> Cell { return kernel(r).grid[2]; }},
    {"block_x", kInt, [](Row r) -> Cell { return kernel(r).block[0]; }},
    {"block_y", kInt, [](Row r) -> Cell { return kernel(r).block[1]; }},
    {"block_z", kInt, [](Row r) -> Cell { return kernel(r).block[2]; }},
    {"registers_per_thread", kInt, [](Row r) -> Cell { return kernel(r).registers_per_thread; }},
    {"static_shared_memory", kInt, [](Row r) -> Cell { return kernel(r).static_shared_memory; }},
    {"dynamic_shared_memory", kInt, [](Row r) -> Cell { return kernel(r).dynamic_shared_memory; }},
    {"local_memory_per_thread", kInt, [](Row r) -> Cell { return kernel(r).local_memory_per_thread; }},
    {"cluster_x", kInt, [](Row r) -> Cell { return kernel(r).cluster[0]; }},
    {"cluster_y", kInt, [](Row r) -> Cell { return kernel(r).cluster[1]; }},
    {"cluster_z", kInt, [](Row r) -> Cell { return kernel(r).cluster[2]; }},
    {"graph", kInt, [](Row r) -> Cell { return kernel(r).graph; }},
    {"graph_node", kInt, [](Row r) { return signed_cell(kernel(r).graph_node); }},
    {"unfinished", kBool, [](Row r) -> Cell { return kernel(r).finished == Finished::kNo; }},
    {"short_name", kText, [](Row r) -> Cell { return kernel(r).short_name; }},
    kNameHash,
    kGpuUuid,
    kLaunchStart,
    kLaunchDuration,
    kLaunchThread,
    kLaunchName,
};
constexpr Source kCopies[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    {"kind", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(memory(r).copy_kind); }, copy_kind},
    {"bytes", kInt, [](Row r) { return signed_cell(memory(r).bytes); }},
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    {"source_memory", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(memory(r).source_memory); }, memory_kind},
    {"destination_memory", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(memory(r).destination_memory); }, memory_kind},
    {"graph", kInt, [](Row r) -> Cell { return memory(r).graph; }},
    {"graph_node", kInt, [](Row r) { return signed_cell(memory(r).graph_node); }},
    {"virtual_address", kUnsigned, [](Row r) { return signed_cell(memory(r).virtual_address); }},
    kGpuUuid,
    kLaunchStart,
    kLaunchDuration,
    kLaunchThread,
    kLaunchName,
};
constexpr Source kSets[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    {"bytes", kInt, [](Row r) { return signed_cell(memory(r).bytes); }},
    {"value", kInt, [](Row r) -> Cell { return memory(r).value; }},
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    {"memory", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(memory(r).destination_memory); }, memory_kind},
    {"graph", kInt, [](Row r) -> Cell { return memory(r).graph; }},
    {"graph_node", kInt, [](Row r) { return signed_cell(memory(r).graph_node); }},
    kGpuUuid,
    kLaunchStart,
    kLaunchDuration,
    kLaunchThread,
    kLaunchName,
};
constexpr Source kApiCalls[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    kName,
    kThread,
    kCorrelation,
    {"result", kInt, [](Row r) -> Cell { return r.trace.api_detail(r.event.detail).result; }},
    {"driver", kBool, [](Row r) -> Cell { return r.trace.api_detail(r.event.detail).domain == ApiDomain::kDriver; }},
};
constexpr Source kSynchronizations[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    {"kind", kText, [](Row r) -> Cell { return r.trace.synchronization_detail(r.event.detail).type; }, synchronization_type},
    kDevice,
    kContext,
    kStream,
    {"event", kInt, [](Row r) -> Cell { return r.trace.synchronization_detail(r.event.detail).event; }},
    kCorrelation,
    kGpuUuid,
};
constexpr Source kGraphLaunches[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    {"graph", kInt, [](Row r) -> Cell { return r.trace.graph_launch_detail(r.event.detail).graph; }},
    {"graph_exec", kInt, [](Row r) -> Cell { return r.trace.graph_launch_detail(r.event.detail).graph_exec; }},
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    kGpuUuid,
    kLaunchStart,
    kLaunchDuration,
    kLaunchThread,
    kLaunchName,
};
constexpr Source kNvtxRanges[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    kName,
    kThread,
    kDomain,
    {"depth", kInt,
     [](Row r) -> Cell {
       if (r.track.key.kind != TrackKind::kNvtxRanges) return 0;
       return r.depth;
     }},
    {"style", kText, [](Row r) -> Cell { return r.track.key.kind == TrackKind::kNvtxRanges ? 0 : 1; }, nvtx_style},
    kCategory,
    kColor,
    kPayload,
    kRealPayload,
    kStructuredPayload,
    {"unfinished", kBool, [](Row r) -> Cell { return nvtx(r).finished == Finished::kNo; }},
    {"row", kInt, [](Row r) -> Cell { return r.number; }},
    {"parent", kInt, [](Row r) { return r.parent; }, nullptr, Nullable::kYes},
    kNameHash,
};
constexpr Source kNvtxMarks[] = {kProcess, kPid, kStart, kName, kThread, kDomain, kCategory, kColor, kPayload, kRealPayload, kStructuredPayload, kNameHash};
constexpr Source kSpans[] = {kProcess, kPid, kStart, kDuration, kName, kThread, kCorrelation};
constexpr Source kPageFaults[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    {"device", kInt, [](Row r) -> Cell { return r.track.key.gpu == kNone ? -1 : device(r); }},
    {"address", kUnsigned, [](Row r) { return signed_cell(fault(r).address); }},
    {"count", kInt, [](Row r) -> Cell { return fault(r).count; }},
    {"function", kText, [](Row r) -> Cell { return fault(r).function; }},
};
constexpr Source kThreadStates[] = {
    kProcess,
    kPid,
    kStart,
    kDuration,
    kThread,
    {"state", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(state(r).state); }, thread_state},
    {"processor", kInt, [](Row r) { return processor_cell(state(r).processor); }},
    {"waker", kInt, [](Row r) -> Cell { return state(r).waker; }},
};
constexpr Source kSamples[] = {
    kProcess,
    kPid,
    kStart,
    kThread,
    {"origin", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(sample(r).origin); }, sample_origin},
    {"period", kInt, [](Row r) -> Cell { return sample(r).period; }},
    kDuration,
    {"function", kText, [](Row r) -> Cell { return sample(r).call_node; }, innermost_function},
    {"stack", kText, [](Row r) -> Cell { return sample(r).call_node; }, folded_stack},
    {"processor", kInt, [](Row r) { return processor_cell(sample(r).processor); }},
    kCorrelation,
};
constexpr Source kMemoryUsage[] = {
    kProcess,
    kPid,
    kStart,
    {"operation", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(usage(r).operation); }, memory_usage_operation},
    {"address", kUnsigned, [](Row r) { return signed_cell(usage(r).address); }},
    {"bytes", kInt, [](Row r) { return signed_cell(usage(r).bytes); }},
    {"memory", kText, [](Row r) -> Cell { return static_cast<std::int64_t>(usage(r).memory_kind); }, memory_kind},
    kDevice,
    {"context", kInt, [](Row r) -> Cell { return usage(r).context; }},
    {"stream", kInt, [](Row r) -> Cell { return usage(r).stream; }},
    kCorrelation,
    kGpuUuid,
};
constexpr Source kCudaEvents[] = {
    kProcess,
    kPid,
    kStart,
    kDevice,
    kContext,
    kStream,
    {"event", kInt, [](Row r) -> Cell { return r.trace.cuda_event_detail(r.event.detail).event; }},
    {"record", kInt, [](Row r) { return signed_cell(r.trace.cuda_event_detail(r.event.detail).record); }},
    kCorrelation,
    kGpuUuid,
};

bool every(const Trace&, const Track&, const Event&) { return true; }
template <TrackKind... kinds>
bool is_of(TrackKind kind) {
  return ((kind == kinds) || ...);
}
template <MemoryOperation operation>
bool is_memory(const Trace& trace, const Track&, const Event& event) {
  return trace.memory_detail(event.detail).operation == operation;
}

constexpr EventTable kTables[] = {
    {"kernels", kKernels, every, is_of<TrackKind::kKernels>, Launches::kResolved},
    {"copies", kCopies, is_memory<MemoryOperation::kCopy>, is_of<TrackKind::kMemory>, Launches::kResolved},
    {"sets", kSets, is_memory<MemoryOperation::kSet>, is_of<TrackKind::kMemory>, Launches::kResolved},
    {"api_calls", kApiCalls, every, is_of<TrackKind::kCudaApi>},
    {"synchronizations", kSynchronizations, every, is_of<TrackKind::kSynchronizations>},
    {"graph_launches", kGraphLaunches, every, is_of<TrackKind::kGraphLaunches>, Launches::kResolved},
    {"nvtx_ranges", kNvtxRanges, every, is_of<TrackKind::kNvtxRanges, TrackKind::kNvtxProcessRanges>},
    {"nvtx_marks", kNvtxMarks, every, is_of<TrackKind::kNvtxMarks>},
    {"os_runtime", kSpans, every, is_of<TrackKind::kOsRuntime>},
    {"overheads", kSpans, every, is_of<TrackKind::kOverhead>},
    {"compilations", kSpans, every, is_of<TrackKind::kCompilation>},
    {"page_faults", kPageFaults, every, is_of<TrackKind::kPageFaults>},
    {"thread_states", kThreadStates, every, is_of<TrackKind::kThreadStates>},
    // Stacks are long texts. Fewer rows in a group bound the memory for them.
    {"samples", kSamples, every, is_of<TrackKind::kCpuSamples, TrackKind::kBacktraces>, Launches::kNone, 1u << 14},
    {"memory_usage", kMemoryUsage, every, is_of<TrackKind::kMemoryUsage>},
    {"cuda_events", kCudaEvents, every, is_of<TrackKind::kCudaEvents>},
};

std::int64_t or_none(const std::optional<std::uint32_t>& number) { return number ? static_cast<std::int64_t>(*number) : -1; }
std::string run_label(const Provenance& origin, std::string_view compared_run) {
  if (!compared_run.empty()) return std::string(compared_run);
  const auto label = std::find_if(origin.labels.begin(), origin.labels.end(), [](const Label& each) { return each.key == "run"; });
  return label == origin.labels.end() ? std::string() : label->value;
}

template <typename Value>
Cell of_place(const Trace& trace, ProcessId process, Value value) {
  return process == kNone ? -1 : value(trace.processes()[process].place);
}
Cell number_of_recording(const Trace& trace, const RowOrigin& row) { return row.part == nullptr ? 0 : row.part - trace.parts().data(); }
Cell counts_in_part(const Trace& trace, const RowOrigin& row) {
  const std::optional<SavedPart> saved = saved_part_of(trace, row.part);
  return !saved || saved->time.takes(row.time);
}

constexpr ProvenanceColumn kProvenance[] = {
    {"rank", kInt, [](const Trace& trace, const RowOrigin& row) { return of_place(trace, row.process, [](const JobPlace& p) { return or_none(p.rank); }); }},
    {"local_rank", kInt,
     [](const Trace& trace, const RowOrigin& row) { return of_place(trace, row.process, [](const JobPlace& p) { return or_none(p.local_rank); }); }},
    {"world_size", kInt,
     [](const Trace& trace, const RowOrigin& row) {
       return of_place(trace, row.process, [](const JobPlace& p) { return p.world_size == 0 ? std::int64_t{-1} : p.world_size; });
     }},
    {"run", kText, number_of_recording, run_label},
    {"host", kText, number_of_recording, [](const Provenance& origin, std::string_view) { return origin.host_name; }},
    {"in_part", kBool, counts_in_part},
};

}  // namespace

std::span<const EventTable> event_tables() noexcept { return kTables; }

std::span<const ProvenanceColumn> provenance_columns() noexcept { return kProvenance; }

std::string provenance_text(const ProvenanceColumn& column, const Trace& trace, std::int64_t cell) {
  if (trace.parts().empty()) return column.text(trace.provenance(), {});
  const TracePart& part = trace.parts()[static_cast<std::size_t>(cell)];
  return column.text(part.provenance, part.run);
}

std::string gpu_uuid(const Trace& trace, std::int64_t gpu) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  if (gpu == kNone) return digits;
  for (const char byte : trace.gpus()[static_cast<GpuId>(gpu)].uuid) {
    digits.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    digits.push_back(kDigits[static_cast<unsigned char>(byte) & 15]);
  }
  return digits;
}

}  // namespace lanescope::exporters
