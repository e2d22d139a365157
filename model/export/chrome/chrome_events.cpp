#include "chrome_events.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "model/import/chrome_json.h"
#include "model/trace/text/hexadecimal.h"

namespace lanescope::exporters {
namespace {

std::string_view copy_word(CopyKind kind) {
  constexpr std::string_view kWords[] = {"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "UHtoD", "UDtoH", "UDtoD"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view synchronization_word(std::uint32_t type) {
  constexpr std::string_view kWords[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
  return type < std::size(kWords) ? kWords[type] : kWords[0];
}

// Until when a range or kernel was seen that had not ended with the recording: ns from its start.
constexpr std::string_view kUnfinished = "unfinished ns";

// "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
std::string memory_name(const MemoryDetail& detail) {
  const std::string destination(memory_kind_name(detail.destination_memory));
  if (detail.operation == MemoryOperation::kSet) return "Memset (" + destination + ")";
  return "Memcpy " + std::string(copy_word(detail.copy_kind)) + " (" + std::string(memory_kind_name(detail.source_memory)) + " -> " + destination + ")";
}

}  // namespace

QueueRows::QueueRows(const Trace& trace) {
  std::map<TrackKey, std::vector<LaneId>> work;  // kernels and graphs, by the key of their stream's copies
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels && track.key.kind != TrackKind::kGraphLaunches) continue;
    TrackKey key = track.key;
    key.kind = TrackKind::kMemory;
    work[key].insert(work[key].end(), track.lanes.begin(), track.lanes.end());
  }
  for (const Track& track : trace.tracks()) {
    const auto found = work.find(track.key);
    if (track.key.kind != TrackKind::kMemory || found == work.end()) continue;
    const auto overlaps = [&](LaneId memory) {
      const Lane& lane = trace.lane(memory);
      for (EventIndex i = 0; i < lane.size(); ++i)
        for (const LaneId other : found->second)
          if (trace.lane(other).busy({lane.start(i), lane.end(i)}) > 0) return true;
      return false;
    };
    if (std::any_of(track.lanes.begin(), track.lanes.end(), overlaps)) apart_.insert(track.key);
  }
}

std::uint32_t QueueRows::of(const TrackKey& key, std::size_t lane) const noexcept {
  constexpr std::uint32_t kRowsOfLane = 1'000'000, kCopies = 250'000, kWaits = 500'000, kPageFaults = 900'000;  // larger than any number of streams
  auto further = static_cast<std::uint32_t>(lane) * kRowsOfLane;
  if (apart_.contains(key)) further += kCopies;
  if (key.kind == TrackKind::kSynchronizations) further += kWaits;
  if (key.kind == TrackKind::kPageFaults) further += kPageFaults;
  return key.stream == kNone ? kNone - further : key.stream + further;
}

void ChromeEvents::write(const TrackKey& key, std::size_t lane, const Event& event) {
  switch (key.kind) {
    case TrackKind::kKernels:
      return write_kernel(key, lane, event);
    case TrackKind::kMemory:
      return write_memory(key, lane, event);
    case TrackKind::kGraphLaunches:
      return write_graph(key, lane, event);
    case TrackKind::kSynchronizations:
      return write_synchronization(key, lane, event);
    case TrackKind::kCudaApi:
      return write_call(key, event);
    case TrackKind::kNvtxRanges:
      return write_range(key, event);
    case TrackKind::kNvtxProcessRanges:
      return write_process_range(key, event);
    case TrackKind::kNvtxMarks:
      return write_mark(key, event);
    case TrackKind::kOsRuntime:
      return write_span(key, event, "os_runtime");
    case TrackKind::kOverhead:
      return write_span(key, event, "overhead");
    case TrackKind::kCompilation:
      return write_span(key, event, "compilation");
    case TrackKind::kPageFaults:
      return write_page_fault(key, lane, event);
    case TrackKind::kProcessors:
    case TrackKind::kBacktraces:
    case TrackKind::kMemoryUsage:
    case TrackKind::kCudaEvents:
      return;  // because no reader of this format knows them
    case TrackKind::kThreadStates:
      return write_state(key, event);
    case TrackKind::kCpuSamples:
      return;  // they are written after the events: write_samples()
  }
}

void ChromeEvents::write_graph(const TrackKey& key, std::size_t lane, const Event& event) {
  // A whole graph occupies the GPU like a kernel, and readers know no other category for it.
  begin_on_stream(key, lane, event, "kernel", trace_.name(event.name));
  json_.field("graph id", trace_.graph_launch_detail(event.detail).graph);
  end_on_stream(key, lane, event);
}

void ChromeEvents::write_synchronization(const TrackKey& key, std::size_t lane, const Event& event) {
  const SynchronizationDetail& detail = trace_.synchronization_detail(event.detail);
  begin_on_stream(key, lane, event, "cuda_sync", synchronization_word(detail.type));
  json_.field("cuda_sync_kind", synchronization_word(detail.type));
  if (detail.event != 0) json_.field("wait_on_cuda_event_id", detail.event);
  json_.close('}').close('}');
}

void ChromeEvents::write_call(const TrackKey& key, const Event& event) {
  if (measured_.contains(key.process, event.correlation)) {  // in front of the call, where arrows begin
    begin_on_thread(key, event, "overhead", kReadingOfCounters);
    json_.key("args").open('{').field("correlation", event.correlation).close('}').close('}');
  }
  const ApiDetail& detail = trace_.api_detail(event.detail);
  begin_on_thread(key, event, detail.domain == ApiDomain::kDriver ? "cuda_driver" : "cuda_runtime", api_display_name(trace_.name(event.name)));
  json_.key("args").open('{').field("correlation", event.correlation);
  if (detail.result != 0) json_.field("return value", detail.result);
  json_.close('}').close('}');
}

void ChromeEvents::write_state(const TrackKey& key, const Event& event) {
  const ThreadStateDetail& detail = trace_.thread_state_detail(event.detail);
  begin_event(json_, "X").field("cat", "thread_state").field("name", thread_state_name(detail.state));
  json_.field("pid", pids_.host(key.process)).field("tid", tid(key) + kStateRows);
  json_.timestamp("ts", event.start).microseconds("dur", event.duration);
  json_.key("args").open('{').field("thread", tid(key));
  if (detail.processor != kNone) json_.field("cpu", detail.processor);
  json_.close('}').close('}');
}

// Page faults of the CPU are instants of a process. Page faults of a GPU are groups with a duration, on a row of the GPU.
void ChromeEvents::write_page_fault(const TrackKey& key, std::size_t lane, const Event& event) {
  const PageFaultDetail& detail = trace_.page_fault_detail(event.detail);
  const bool of_gpu = key.gpu != kNone;
  begin_event(json_, of_gpu ? "X" : "i").field("cat", "page_fault").field("name", trace_.name(event.name));
  json_.field("pid", of_gpu ? pids_.gpu(key) : pids_.host(key.process)).field("tid", of_gpu ? rows_.of(key, lane) : 0);
  json_.timestamp("ts", event.start);
  if (of_gpu)
    json_.microseconds("dur", event.duration).key("args").open('{').field("device", device_ordinal(trace_, key.process, key.gpu));
  else
    json_.field("s", "p").key("args").open('{');
  json_.field("address", std::string_view(hexadecimal(detail.address))).field("faults", detail.count);
  if (detail.access != 0) json_.field("access", detail.access);
  if (detail.program_counter != 0) json_.field("instruction", std::string_view(hexadecimal(detail.program_counter)));
  if (detail.function != 0) json_.field("function", trace_.name(detail.function));
  if (detail.module != 0) json_.field("module", trace_.name(detail.module));
  if (detail.source_file != 0) json_.field("file", trace_.name(detail.source_file));
  if (detail.source_line != 0) json_.field("line", detail.source_line);
  json_.close('}').close('}');
}

void ChromeEvents::write_span(const TrackKey& key, const Event& event, std::string_view category) {
  begin_on_thread(key, event, category, trace_.name(event.name));
  if (event.correlation != 0) json_.key("args").open('{').field("correlation", event.correlation).close('}');
  json_.close('}');
}

void ChromeEvents::begin_on_thread(const TrackKey& key, const Event& event, std::string_view category, std::string_view name) {
  begin_event(json_, "X").field("cat", category).field("name", name).field("pid", pids_.host(key.process)).field("tid", tid(key));
  json_.timestamp("ts", event.start).microseconds("dur", event.duration);
}

// Leaves the object of arguments open.
void ChromeEvents::begin_on_stream(const TrackKey& key, std::size_t lane, const Event& event, std::string_view category, std::string_view name) {
  begin_event(json_, "X").field("cat", category).field("name", name).field("pid", pids_.gpu(key)).field("tid", rows_.of(key, lane));
  json_.timestamp("ts", event.start).microseconds("dur", event.duration).key("args").open('{');
  json_.field("device", device_ordinal(trace_, key.process, key.gpu)).field("context", key.context);
  json_.field("stream", key.stream == kNone ? std::int64_t{-1} : std::int64_t{key.stream}).field("correlation", event.correlation);
}
void ChromeEvents::end_on_stream(const TrackKey& key, std::size_t lane, const Event& event) {
  json_.close('}').close('}');
  write_arrow(key, lane, event);
}

void ChromeEvents::write_kernel(const TrackKey& key, std::size_t lane, const Event& event) {
  const KernelDetail& detail = trace_.kernel_detail(event.detail);
  begin_on_stream(key, lane, event, "kernel", trace_.name(event.name));
  json_.field("queued", 0).field("registers per thread", detail.registers_per_thread);
  json_.field("shared memory", detail.static_shared_memory + detail.dynamic_shared_memory);
  if (detail.static_shared_memory != 0) json_.field("static shared memory", detail.static_shared_memory);
  if (detail.shared_memory_executed != 0) json_.field("executed shared memory", detail.shared_memory_executed);
  if (detail.local_memory_per_thread != 0) json_.field("local memory per thread", detail.local_memory_per_thread);
  if (detail.local_memory_total != 0) json_.field("local memory", detail.local_memory_total);
  if (detail.launch_type != 0) json_.field("launch type", detail.launch_type);
  if (detail.cache_config != 0) json_.field("cache config", detail.cache_config);
  const double blocks = double{1} * detail.grid[0] * detail.grid[1] * detail.grid[2];
  const double warps = (double{1} * detail.block[0] * detail.block[1] * detail.block[2] + 31) / 32;
  if (const std::uint32_t processors = trace_.gpus()[key.gpu].multiprocessor_count; processors > 0)
    json_.field("blocks per SM", blocks / processors).field("warps per SM", blocks * static_cast<double>(static_cast<std::uint64_t>(warps)) / processors);
  json_.field("grid", detail.grid).field("block", detail.block);
  if (detail.cluster[0] != 0) json_.field("cluster", detail.cluster);
  if (detail.finished == Finished::kNo) json_.field(kUnfinished, event.duration);
  if (detail.graph != 0) json_.field("graph id", detail.graph);
  if (detail.graph_node != 0) json_.field("graph node id", detail.graph_node);
  end_on_stream(key, lane, event);
}

void ChromeEvents::write_memory(const TrackKey& key, std::size_t lane, const Event& event) {
  const MemoryDetail& detail = trace_.memory_detail(event.detail);
  const bool is_set = detail.operation == MemoryOperation::kSet;
  begin_on_stream(key, lane, event, is_set ? "gpu_memset" : "gpu_memcpy", memory_name(detail));
  json_.field("bytes", detail.bytes);
  if (event.duration > 0) json_.field("memory bandwidth (GB/s)", static_cast<double>(detail.bytes) / static_cast<double>(event.duration));
  if (is_set && detail.value != 0) json_.field("value", detail.value);
  if (detail.virtual_address != 0) json_.field("address", std::string_view(hexadecimal(detail.virtual_address)));
  if (detail.migration_cause != 0) json_.field("migration cause", detail.migration_cause);
  if (detail.copy_kind == CopyKind::kPeerToPeer) json_.field("fromDevice", detail.source_device).field("toDevice", detail.destination_device);
  if (detail.graph != 0) json_.field("graph id", detail.graph);
  if (detail.graph_node != 0) json_.field("graph node id", detail.graph_node);
  end_on_stream(key, lane, event);
}

// From the call to the work: one start for each call, one end for each operation that it launched.
void ChromeEvents::write_arrow(const TrackKey& key, std::size_t lane, const Event& event) {
  if (event.correlation == 0) return;
  const EventRef launch = launches_.find(key.process, event.correlation, event.start);
  if (!launch.valid()) return;
  const Event call = trace_.event(launch);
  const auto [first, last] = selection_.events(trace_, launch.lane);
  const bool is_left_out = launch.index < first || launch.index >= last;
  // Arrows point forward in time, but work whose counters were read can begin a little before its call.
  if (is_left_out || event.start < call.start) return;
  const std::uint64_t id = std::uint64_t{key.process} << 32 | event.correlation;
  if (started_arrows_.insert(id).second) {
    const TrackKey& caller = trace_.track_of(launch.lane).key;
    write_arrow_end("s", id, pids_.host(caller.process), tid(caller), call.start);
    json_.close('}');
  }
  write_arrow_end("f", id, pids_.gpu(key), rows_.of(key, lane), event.start);
  json_.field("bp", "e").close('}');
}
void ChromeEvents::write_arrow_end(std::string_view phase, std::uint64_t id, std::uint32_t pid, std::uint32_t tid, Nanoseconds time) {
  begin_event(json_, phase).field("id", id).field("pid", pid).field("tid", tid).timestamp("ts", time).field("cat", "ac2g").field("name", "ac2g");
}

// Ranges that came from PyTorch get its category again; all others are user annotations.
std::string_view ChromeEvents::range_category(const TrackKey& key) const {
  const std::string_view domain = trace_.domain_name(key.process, key.domain);
  return domain == kOperatorDomainName ? "cpu_op" : domain == kPythonDomainName ? "python_function" : "user_annotation";
}

void ChromeEvents::write_nvtx_arguments(const TrackKey& key, const Event& event) {
  const NvtxDetail& detail = trace_.nvtx_detail(event.detail);
  json_.key("args").open('{');
  if (detail.finished == Finished::kNo) json_.field(kUnfinished, event.duration);
  if (const auto domain = trace_.domain_name(key.process, key.domain); !domain.empty()) json_.field("domain", domain);
  if (detail.category != 0) {
    const std::string category(trace_.category_name(key.process, key.domain, detail.category));
    json_.field("category", std::string_view(category.empty() ? std::to_string(detail.category) : category)).field("category id", detail.category);
  }
  if (detail.color != 0) json_.field("color", detail.color);
  if (detail.payload_json != 0)
    json_.field("payload", trace_.name(detail.payload_json));
  else if (detail.payload_type == PayloadType::kUnsigned)
    json_.field("payload", detail.payload);
  else if (detail.payload_type == PayloadType::kSigned)
    json_.field("payload", std::bit_cast<std::int64_t>(detail.payload)).field("payload type", "signed");
  else if (detail.payload_type == PayloadType::kReal)
    json_.field("payload", std::bit_cast<double>(detail.payload)).field("payload type", "real");
  json_.close('}');
}

// A range that had not ended is a begin without an end.
void ChromeEvents::write_range(const TrackKey& key, const Event& event) {
  if (trace_.nvtx_detail(event.detail).finished == Finished::kYes)
    begin_on_thread(key, event, range_category(key), trace_.name(event.name));
  else
    begin_event(json_, "B")
        .field("cat", range_category(key))
        .field("name", trace_.name(event.name))
        .field("pid", pids_.host(key.process))
        .field("tid", tid(key))
        .timestamp("ts", event.start);
  write_nvtx_arguments(key, event);
  json_.close('}');
}

void ChromeEvents::write_process_range(const TrackKey& key, const Event& event) {
  const ThreadId end_thread = trace_.nvtx_detail(event.detail).end_thread;
  const std::uint32_t end_tid = end_thread == kNone ? tid(key) : trace_.threads()[end_thread].tid;
  ++process_ranges_;
  const bool has_ended = trace_.nvtx_detail(event.detail).finished == Finished::kYes;
  for (const bool at_start : {true, false}) {
    if (!at_start && !has_ended) continue;
    begin_event(json_, at_start ? "b" : "e").field("cat", "user_annotation").field("name", trace_.name(event.name)).field("id", process_ranges_);
    json_.field("pid", pids_.host(key.process)).field("tid", at_start ? tid(key) : end_tid);
    json_.timestamp("ts", at_start ? event.start : event.end());
    if (at_start) write_nvtx_arguments(key, event);
    json_.close('}');
  }
}

void ChromeEvents::write_mark(const TrackKey& key, const Event& event) {
  begin_event(json_, "i").field("cat", "user_annotation").field("name", trace_.name(event.name)).field("s", "t");
  json_.field("pid", pids_.host(key.process)).field("tid", tid(key)).timestamp("ts", event.start);
  write_nvtx_arguments(key, event);
  json_.close('}');
}

}  // namespace lanescope::exporters
