// Chrome's trace event format, as PyTorch's profiler writes it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_set>

#include "chrome_pids.h"
#include "event_order.h"
#include "json_writer.h"
#include "model/events/launch_index.h"
#include "model/export/text_export.h"
#include "trace_dictionary.h"

namespace lanescope {
namespace {

using namespace exporters;

std::string_view copy_word(CopyKind kind) {
  constexpr std::string_view kWords[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH",  "AtoA",  "AtoD",
                                         "DtoA", "DtoD", "HtoH", "PtoP", "UHtoD", "UDtoH", "UDtoD"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view synchronization_word(std::uint32_t type) {
  constexpr std::string_view kWords[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
  return type < std::size(kWords) ? kWords[type] : kWords[0];
}

// "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
std::string memory_name(const MemoryDetail& detail) {
  const std::string destination(memory_kind_name(detail.destination_memory));
  if (detail.operation == MemoryOperation::kSet) return "Memset (" + destination + ")";
  return "Memcpy " + std::string(copy_word(detail.copy_kind)) + " (" + std::string(memory_kind_name(detail.source_memory)) + " -> " +
         destination + ")";
}

class ChromeExport {
 public:
  ChromeExport(const Trace& trace, const ExportSelection& selection, const TextConsumer& write)
      : trace_(trace), selection_(selection), json_(write), pids_(trace), launches_(trace) {}

  bool write() {
    json_.open('{');
    write_members();
    json_.key("traceEvents").open('[');
    write_names();
    for (const Track& track : trace_.tracks())
      if (!write_track(track)) return false;
    for (CounterId id = 0; id < trace_.counters().size(); ++id)
      if (!write_counter(id)) return false;
    json_.close(']');
    if (!write_samples()) return false;
    json_.close('}').raw("\n");
    return json_.flush();
  }

 private:
  void write_members() {
    json_.field("schemaVersion", 1).field("producer", "lanescope " LANESCOPE_VERSION).field("displayTimeUnit", "ns");
    const Provenance& from = trace_.provenance();
    if (from.utc_epoch != 0) json_.field("baseTimeNanoseconds", from.utc_epoch);
    if (!from.host_name.empty()) json_.field("host_name", std::string_view(from.host_name));
    json_.key("deviceProperties").open('[');
    std::set<std::uint32_t> described;
    for (const CudaDevice& device : trace_.devices()) {
      const Gpu& gpu = trace_.gpus()[device.gpu];
      if (gpu.name.empty() || !described.insert(device.ordinal).second) continue;
      json_.element().open('{');
      json_.field("id", device.ordinal).field("name", std::string_view(gpu.name)).field("totalGlobalMem", gpu.memory_bytes);
      json_.field("computeMajor", gpu.compute_major).field("computeMinor", gpu.compute_minor);
      json_.field("maxThreadsPerMultiprocessor", gpu.max_warps_per_multiprocessor * 32).field("warpSize", 32);
      json_.field("regsPerMultiprocessor", gpu.max_registers_per_multiprocessor);
      json_.field("sharedMemPerMultiprocessor", gpu.max_shared_memory_per_multiprocessor).field("numSms", gpu.multiprocessor_count);
      if (!gpu.bus_id.empty()) json_.field("busId", std::string_view(gpu.bus_id));
      json_.close('}');
    }
    json_.close(']');
  }

  JsonWriter& begin(std::string_view phase) {
    json_.element().raw("\n").open('{');
    return json_.field("ph", phase);
  }

  template <typename Value>
  void write_name(std::string_view what, std::uint32_t pid, std::uint32_t tid, std::string_view field, Value value) {
    begin("M").field("name", what).microseconds("ts", trace_.extent().begin).field("pid", pid).field("tid", tid);
    json_.key("args").open('{').field(field, value).close('}').close('}');
  }

  [[nodiscard]] std::string stream_name(const TrackKey& key) const {
    const CudaStream* stream = trace_.find_stream(key.process, key.context, key.stream);
    const std::string name = stream != nullptr && !stream->name.empty() ? " " + stream->name : "";
    return "stream " + std::to_string(key.stream) + name;
  }

  void write_names() {
    for (ProcessId id = 0; id < trace_.processes().size(); ++id) {
      const Process& process = trace_.processes()[id];
      write_name("process_name", pids_.host(id), 0, "name", std::string_view(process.name));
      write_name("process_labels", pids_.host(id), 0, "labels", "CPU");
      write_name("process_sort_index", pids_.host(id), 0, "sort_index", pids_.host(id));
    }
    constexpr std::uint32_t kBehindProcesses = 5'000'000;
    for (std::size_t i = 0; i < trace_.devices().size(); ++i) {
      const CudaDevice& device = trace_.devices()[i];
      const std::uint32_t pid = pids_.gpu_of_entry(i);
      begin("M").field("name", "process_name").microseconds("ts", trace_.extent().begin).field("pid", pid).field("tid", 0);
      json_.key("args").open('{').field("name", std::string_view(trace_.processes()[device.process].name));
      json_.field("host pid", pids_.host(device.process)).close('}').close('}');
      write_name("process_labels", pid, 0, "labels", std::string_view("GPU " + std::to_string(device.ordinal)));
      write_name("process_sort_index", pid, 0, "sort_index", kBehindProcesses + device.ordinal);
    }
    for (GpuId gpu = 0; gpu < trace_.gpus().size(); ++gpu) {
      const auto uses = [gpu](const CudaDevice& device) { return device.gpu == gpu; };
      if (std::any_of(trace_.devices().begin(), trace_.devices().end(), uses)) continue;
      const std::string label = "GPU " + std::to_string(trace_.gpus()[gpu].ordinal);  // that no process uses: it has counters at most
      write_name("process_name", pids_.counters(gpu), 0, "name", std::string_view(trace_.gpus()[gpu].name));
      write_name("process_labels", pids_.counters(gpu), 0, "labels", std::string_view(label));
    }
    for (const Thread& thread : trace_.threads())
      if (!thread.name.empty()) write_name("thread_name", pids_.host(thread.process), thread.tid, "name", std::string_view(thread.name));
    for (const Track& track : trace_.tracks())
      if (is_gpu_work(track.key.kind))
        write_name("thread_name", pids_.gpu(track.key), track.key.stream, "name", std::string_view(stream_name(track.key)));
  }

  // Under the GPU or the process that it is of, with its unit as the name of its only series. Where it has no value, an event says none.
  bool write_counter(CounterId id) {
    const Counter& counter = trace_.counters()[id];
    const CounterSeries& series = trace_.counter_series(id);
    const std::uint32_t pid = counter.gpu != kNone         ? pids_.counters(counter.gpu)
                              : counter.process != kNone   ? pids_.host(counter.process)
                              : trace_.processes().empty() ? 0
                                                           : pids_.host(0);
    auto [first, last] = selection_.window ? series.overlapping(*selection_.window) : std::pair<std::size_t, std::size_t>{0, series.size()};
    // A quotient of whole numbers is written with the decimals that it has.
    const double parts = counter.resolution > 0 ? std::round(1 / counter.resolution) : 0;
    const bool is_fraction = parts >= 1 && std::abs(counter.resolution * parts - 1) < 1e-9;
    const bool is_plain = counter.unit.empty() || counter.unit.find_first_of("\"\\") != std::string::npos;
    const std::string_view unit = is_plain ? std::string_view("value") : std::string_view(counter.unit);
    const auto write_value = [&](Nanoseconds time, std::optional<double> value) {
      begin("C").field("name", std::string_view(counter.name)).field("cat", std::string_view(counter.group)).field("pid", pid);
      json_.microseconds("ts", time).key("args").open('{');
      if (value) json_.field(unit, *value);
      json_.close('}').close('}');
      return json_.flush_some();
    };
    bool holds = false;
    for (; first < last; ++first) {
      const CounterSample sample = series.sample(first);
      const auto whole = static_cast<double>(sample.value);
      std::optional<double> value;
      if (sample.has_value()) value = is_fraction ? whole / parts : whole * counter.resolution;
      if (!value && !holds) continue;
      if (!write_value(sample.time, value)) return false;
      holds = value.has_value();
    }
    return !holds || write_value(series.sample(last - 1).time + series.sample(last - 1).duration, std::nullopt);
  }

  // Each sample refers to its innermost frame, and each frame to the one that called it.
  bool write_samples() {
    std::set<CallNodeId> chains;
    const auto for_samples = [&](auto visit) {
      for (const Track& track : trace_.tracks())
        if (track.key.kind == TrackKind::kCpuSamples)
          for (const EventRef ref : events_in_order(trace_, track, selection_)) visit(track.key, trace_.event(ref));
    };
    bool any = false;
    for_samples([&](const TrackKey&, const Event& event) {
      any = true;
      for (CallNodeId node = trace_.sample_detail(event.detail).call_node; node != 0 && chains.insert(node).second;)
        node = trace_.call_stacks().node(node).parent;
    });
    if (!any) return true;
    json_.raw("\n").key("stackFrames").open('{');
    for (const CallNodeId node : chains) write_frames(node);
    json_.close('}').raw("\n").key("samples").open('[');
    bool written = true;
    for_samples([&](const TrackKey& key, const Event& event) {
      if (!written) return;
      const SampleDetail& detail = trace_.sample_detail(event.detail);
      json_.element().raw("\n").open('{').field("name", trace_.name(event.name)).microseconds("ts", event.start);
      json_.field("pid", pids_.host(key.process)).field("tid", trace_.threads()[key.thread].tid).field("weight", 1);
      if (detail.processor != kNone) json_.field("cpu", detail.processor);
      if (detail.period != 0) json_.field("period_ns", detail.period);
      if (detail.call_node != 0) json_.field("sf", std::string_view(frame_id(detail.call_node, 0)));
      json_.close('}');
      written = json_.flush_some();
    });
    json_.close(']');
    return written;
  }

  // Of the call itself, or of the one that it was inlined into so many levels up.
  static std::string frame_id(CallNodeId node, std::size_t level) {
    return std::to_string(node) + (level == 0 ? "" : "." + std::to_string(level));
  }

  void write_frames(CallNodeId node) {
    const CallNode& call = trace_.call_stacks().node(node);
    const auto functions = trace_.call_stacks().functions(call.location);
    const CodeLocation& location = trace_.call_stacks().location(call.location);
    const std::string_view module = trace_.name(location.module);
    constexpr std::string_view kKinds[] = {"", "kernel", "python", "generated"};  // by CodeKind
    for (std::size_t level = 0; level < functions.size(); ++level) {
      json_.raw("\n").key(frame_id(node, level)).open('{').field("name", trace_.name(functions[level].function));
      json_.field("category", module);
      if (location.kind != CodeKind::kNative) json_.field("kind", kKinds[static_cast<std::size_t>(location.kind)]);
      if (functions[level].source_file != 0) json_.field("file", trace_.name(functions[level].source_file));
      if (functions[level].source_line != 0) json_.field("line", functions[level].source_line);
      if (location.address != 0) json_.field("address", location.address);
      if (level + 1 < functions.size())
        json_.field("parent", std::string_view(frame_id(node, level + 1)));
      else if (call.parent != 0)
        json_.field("parent", std::string_view(frame_id(call.parent, 0)));
      json_.close('}');
    }
  }

  bool write_track(const Track& track) {
    for (const EventRef ref : events_in_order(trace_, track, selection_)) {
      write_event(track.key, trace_.event(ref));
      if (!json_.flush_some()) return false;
    }
    return true;
  }

  void write_event(const TrackKey& key, const Event& event) {
    switch (key.kind) {
      case TrackKind::kKernels:
        return write_kernel(key, event);
      case TrackKind::kMemory:
        return write_memory(key, event);
      case TrackKind::kGraphLaunches:
        // A whole graph keeps the GPU busy as a kernel does, and no reader knows another word for it.
        begin_on_stream(key, event, "kernel", trace_.name(event.name));
        json_.field("graph id", trace_.graph_launch_detail(event.detail).graph);
        return end_on_stream(key, event);
      case TrackKind::kSynchronizations: {
        const SynchronizationDetail& detail = trace_.synchronization_detail(event.detail);
        begin_on_stream(key, event, "cuda_sync", synchronization_word(detail.type));
        json_.field("cuda_sync_kind", synchronization_word(detail.type));
        if (detail.event != 0) json_.field("wait_on_cuda_event_id", detail.event);
        json_.close('}').close('}');
        return;
      }
      case TrackKind::kCudaApi: {
        const ApiDetail& detail = trace_.api_detail(event.detail);
        begin_on_thread(key, event, detail.domain == ApiDomain::kDriver ? "cuda_driver" : "cuda_runtime",
                        api_display_name(trace_.name(event.name)));
        json_.key("args").open('{').field("correlation", event.correlation);
        if (detail.result != 0) json_.field("return value", detail.result);
        json_.close('}').close('}');
        return;
      }
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
      case TrackKind::kProcessors:
      case TrackKind::kBacktraces:
      case TrackKind::kMemoryUsage:
      case TrackKind::kCudaEvents:
        return;  // nothing that reads this format knows them
      case TrackKind::kThreadStates:
        return;  // readers nest what a thread does, and states begin and end in the middle of calls
      case TrackKind::kCpuSamples:
        return;  // they stand behind the events: write_samples()
    }
  }

  void write_span(const TrackKey& key, const Event& event, std::string_view category) {
    begin_on_thread(key, event, category, trace_.name(event.name));
    if (event.correlation != 0) json_.key("args").open('{').field("correlation", event.correlation).close('}');
    json_.close('}');
  }

  void begin_on_thread(const TrackKey& key, const Event& event, std::string_view category, std::string_view name) {
    begin("X").field("cat", category).field("name", name).field("pid", pids_.host(key.process)).field("tid", tid(key));
    json_.microseconds("ts", event.start).microseconds("dur", event.duration);
  }

  // Leaves the arguments open.
  void begin_on_stream(const TrackKey& key, const Event& event, std::string_view category, std::string_view name) {
    begin("X").field("cat", category).field("name", name).field("pid", pids_.gpu(key)).field("tid", key.stream);
    json_.microseconds("ts", event.start).microseconds("dur", event.duration).key("args").open('{');
    json_.field("device", device_ordinal(trace_, key.process, key.gpu)).field("context", key.context);
    json_.field("stream", key.stream == kNone ? std::int64_t{-1} : std::int64_t{key.stream}).field("correlation", event.correlation);
  }
  void end_on_stream(const TrackKey& key, const Event& event) {
    json_.close('}').close('}');
    write_arrow(key, event);
  }

  void write_kernel(const TrackKey& key, const Event& event) {
    const KernelDetail& detail = trace_.kernel_detail(event.detail);
    begin_on_stream(key, event, "kernel", trace_.name(event.name));
    json_.field("queued", 0).field("registers per thread", detail.registers_per_thread);
    json_.field("shared memory", detail.static_shared_memory + detail.dynamic_shared_memory);
    if (detail.static_shared_memory != 0) json_.field("static shared memory", detail.static_shared_memory);
    const double blocks = double{1} * detail.grid[0] * detail.grid[1] * detail.grid[2];
    const double warps = (double{1} * detail.block[0] * detail.block[1] * detail.block[2] + 31) / 32;
    if (const std::uint32_t processors = trace_.gpus()[key.gpu].multiprocessor_count; processors > 0)
      json_.field("blocks per SM", blocks / processors)
          .field("warps per SM", blocks * static_cast<double>(static_cast<std::uint64_t>(warps)) / processors);
    json_.field("grid", detail.grid).field("block", detail.block);
    if (detail.cluster[0] != 0) json_.field("cluster", detail.cluster);
    if (detail.graph != 0) json_.field("graph id", detail.graph);
    if (detail.graph_node != 0) json_.field("graph node id", detail.graph_node);
    end_on_stream(key, event);
  }

  void write_memory(const TrackKey& key, const Event& event) {
    const MemoryDetail& detail = trace_.memory_detail(event.detail);
    const bool is_set = detail.operation == MemoryOperation::kSet;
    begin_on_stream(key, event, is_set ? "gpu_memset" : "gpu_memcpy", memory_name(detail));
    json_.field("bytes", detail.bytes);
    if (event.duration > 0) json_.field("memory bandwidth (GB/s)", static_cast<double>(detail.bytes) / static_cast<double>(event.duration));
    if (is_set && detail.value != 0) json_.field("value", detail.value);
    if (detail.copy_kind == CopyKind::kPeerToPeer)
      json_.field("fromDevice", detail.source_device).field("toDevice", detail.destination_device);
    if (detail.graph != 0) json_.field("graph id", detail.graph);
    if (detail.graph_node != 0) json_.field("graph node id", detail.graph_node);
    end_on_stream(key, event);
  }

  // From the call to the work: one start a call, one end for each that it launched.
  void write_arrow(const TrackKey& key, const Event& event) {
    if (event.correlation == 0) return;
    const EventRef launch = launches_.find(key.process, event.correlation);
    if (!launch.valid()) return;
    const std::uint64_t id = std::uint64_t{key.process} << 32 | event.correlation;
    if (started_arrows_.insert(id).second) {
      const TrackKey& caller = trace_.track_of(launch.lane).key;
      write_arrow_end("s", id, pids_.host(caller.process), tid(caller), trace_.event(launch).start);
      json_.close('}');
    }
    write_arrow_end("f", id, pids_.gpu(key), key.stream, event.start);
    json_.field("bp", "e").close('}');
  }
  void write_arrow_end(std::string_view phase, std::uint64_t id, std::uint32_t pid, std::uint32_t tid, Nanoseconds time) {
    begin(phase).field("id", id).field("pid", pid).field("tid", tid).microseconds("ts", time).field("cat", "ac2g").field("name", "ac2g");
  }

  // Ranges that came from PyTorch get its words back; all others are the user's.
  std::string_view range_category(const TrackKey& key) const {
    const std::string_view domain = trace_.domain_name(key.process, key.domain);
    return domain == "PyTorch operators" ? "cpu_op" : domain == "Python functions" ? "python_function" : "user_annotation";
  }

  void write_nvtx_arguments(const TrackKey& key, const Event& event) {
    const NvtxDetail& detail = trace_.nvtx_detail(event.detail);
    json_.key("args").open('{');
    if (const auto domain = trace_.domain_name(key.process, key.domain); !domain.empty()) json_.field("domain", domain);
    if (detail.category != 0) {
      const std::string category(trace_.category_name(key.process, key.domain, detail.category));
      json_.field("category", std::string_view(category.empty() ? std::to_string(detail.category) : category));
    }
    if (detail.payload_type == PayloadType::kUnsigned) json_.field("payload", detail.payload);
    if (detail.payload_type == PayloadType::kSigned) json_.field("payload", std::bit_cast<std::int64_t>(detail.payload));
    if (detail.payload_type == PayloadType::kReal) json_.field("payload", std::bit_cast<double>(detail.payload));
    json_.close('}');
  }

  void write_range(const TrackKey& key, const Event& event) {
    begin_on_thread(key, event, range_category(key), trace_.name(event.name));
    write_nvtx_arguments(key, event);
    json_.close('}');
  }

  void write_process_range(const TrackKey& key, const Event& event) {
    const ThreadId end_thread = trace_.nvtx_detail(event.detail).end_thread;
    const std::uint32_t end_tid = end_thread == kNone ? tid(key) : trace_.threads()[end_thread].tid;
    ++process_ranges_;
    for (const bool at_start : {true, false}) {
      begin(at_start ? "b" : "e").field("cat", "user_annotation").field("name", trace_.name(event.name)).field("id", process_ranges_);
      json_.field("pid", pids_.host(key.process)).field("tid", at_start ? tid(key) : end_tid);
      json_.microseconds("ts", at_start ? event.start : event.end());
      if (at_start) write_nvtx_arguments(key, event);
      json_.close('}');
    }
  }

  void write_mark(const TrackKey& key, const Event& event) {
    begin("i").field("cat", "user_annotation").field("name", trace_.name(event.name)).field("s", "t");
    json_.field("pid", pids_.host(key.process)).field("tid", tid(key)).microseconds("ts", event.start);
    write_nvtx_arguments(key, event);
    json_.close('}');
  }

  std::uint32_t tid(const TrackKey& key) const { return key.thread == kNone ? 0 : trace_.threads()[key.thread].tid; }

  const Trace& trace_;
  const ExportSelection& selection_;
  JsonWriter json_;
  ChromePids pids_;
  LaunchIndex launches_;
  std::unordered_set<std::uint64_t> started_arrows_;
  std::uint64_t process_ranges_ = 0;
};

}  // namespace

bool export_chrome_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection) {
  return ChromeExport(trace, selection, write).write();
}

}  // namespace lanescope
