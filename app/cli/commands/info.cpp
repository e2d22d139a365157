// lanescope info: what a trace holds, and how complete it is.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "../text.h"
#include "commands.h"
#include "model/import/open_trace.h"

namespace lanescope::cli {
namespace {

// Events of one kind, as info counts them.
struct Kind {
  std::string_view key;    // in JSON
  std::string_view title;  // in text
};
constexpr std::array<Kind, 19> kKinds{{{"cuda_api_calls", "CUDA API calls"},
                                       {"kernels", "Kernels"},
                                       {"copies", "Memory copies"},
                                       {"sets", "Memory sets"},
                                       {"graph_launches", "CUDA graph launches"},
                                       {"synchronizations", "Synchronizations"},
                                       {"nvtx_ranges", "NVTX push/pop ranges"},
                                       {"nvtx_process_ranges", "NVTX start/end ranges"},
                                       {"nvtx_marks", "NVTX marks"},
                                       {"os_runtime_calls", "OS runtime calls"},
                                       {"overheads", "Profiler overhead"},
                                       {"compilations", "Compilation and module loading"},
                                       {"page_faults", "Page faults of unified memory"},
                                       {"thread_states", "Thread states"},
                                       {"processor_states", "Processor states"},
                                       {"cpu_samples", "CPU samples"},
                                       {"backtraces", "Backtraces of calls"},
                                       {"memory_usage", "Memory allocations"},
                                       {"cuda_events", "CUDA events"}}};

std::string_view kind_of(const Trace& trace, const TrackKey& key, DetailId detail) {
  switch (key.kind) {
    case TrackKind::kKernels:
      return "kernels";
    case TrackKind::kMemory:
      return trace.memory_detail(detail).operation == MemoryOperation::kCopy ? "copies" : "sets";
    case TrackKind::kGraphLaunches:
      return "graph_launches";
    case TrackKind::kSynchronizations:
      return "synchronizations";
    case TrackKind::kCudaApi:
      return "cuda_api_calls";
    case TrackKind::kNvtxRanges:
      return "nvtx_ranges";
    case TrackKind::kNvtxProcessRanges:
      return "nvtx_process_ranges";
    case TrackKind::kNvtxMarks:
      return "nvtx_marks";
    case TrackKind::kOsRuntime:
      return "os_runtime_calls";
    case TrackKind::kOverhead:
      return "overheads";
    case TrackKind::kCompilation:
      return "compilations";
    case TrackKind::kPageFaults:
      return "page_faults";
    case TrackKind::kThreadStates:
      return "thread_states";
    case TrackKind::kProcessors:
      return "processor_states";
    case TrackKind::kCpuSamples:
      return "cpu_samples";
    case TrackKind::kBacktraces:
      return "backtraces";
    case TrackKind::kMemoryUsage:
      return "memory_usage";
    case TrackKind::kCudaEvents:
      return "cuda_events";
  }
  return "unknown";
}

struct StreamKey {
  ProcessId process;
  std::uint32_t context;
  std::uint32_t stream;
  auto operator<=>(const StreamKey&) const = default;
};

// How many events there are of each kind, and of each process, thread and stream.
struct Counts {
  std::map<std::string_view, std::uint64_t> by_kind;
  std::map<ProcessId, std::uint64_t> by_process;
  std::map<ThreadId, std::uint64_t> by_thread;
  std::map<StreamKey, std::uint64_t> by_stream;
};

bool is_on_stream(TrackKind kind) { return is_gpu_work(kind) || kind == TrackKind::kSynchronizations; }

Counts count_events(const Trace& trace) {
  Counts counts;
  for (const Kind& kind : kKinds) counts.by_kind[kind.key] = 0;
  for (const Track& track : trace.tracks()) {
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      if (track.key.kind == TrackKind::kMemory) {
        for (EventIndex i = 0; i < lane.size(); ++i) ++counts.by_kind[kind_of(trace, track.key, lane.detail(i))];
      } else {
        counts.by_kind[kind_of(trace, track.key, 0)] += lane.size();
      }
      counts.by_process[track.key.process] += lane.size();
      if (track.key.thread != kNone) counts.by_thread[track.key.thread] += lane.size();
      if (is_on_stream(track.key.kind)) counts.by_stream[{track.key.process, track.key.context, track.key.stream}] += lane.size();
    }
  }
  return counts;
}

std::string_view end_key(ProcessEndKind kind) {
  switch (kind) {
    case ProcessEndKind::kUnknown:
      return "unknown";
    case ProcessEndKind::kExited:
      return "exited";
    case ProcessEndKind::kSignaled:
      return "signaled";
    case ProcessEndKind::kDetached:
      return "detached";
    case ProcessEndKind::kLost:
      return "lost";
    case ProcessEndKind::kReplaced:
      return "replaced";
  }
  return "unknown";
}

// "SIGSEGV in thread 4712, at address 0x10".
std::string signal_text(const Process& process) {
  const char* name = sigabbrev_np(process.signal);
  std::string text = name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(process.signal);
  if (process.crash_thread != 0) text += " in thread " + std::to_string(process.crash_thread);
  std::array<char, 24> address{};
  std::snprintf(address.data(), address.size(), "0x%" PRIx64, process.crash_address);
  const bool is_memory_fault = process.crash_thread != 0 && (process.signal == SIGSEGV || process.signal == SIGBUS);
  return is_memory_fault ? text + ", at address " + address.data() : text;
}

std::string end_text(const Process& process) {
  switch (process.end_kind) {
    case ProcessEndKind::kUnknown:
      return "how it ended was not recorded";
    case ProcessEndKind::kExited:
      return process.exit_code == 0 ? "exited" : "exited with code " + std::to_string(process.exit_code);
    case ProcessEndKind::kSignaled:
      return "ended by " + signal_text(process);
    case ProcessEndKind::kDetached:
      return "ran on after the recording";
    case ProcessEndKind::kLost:
      return "vanished without a word";
    case ProcessEndKind::kReplaced:
      return "replaced itself by another program (exec)";
  }
  return "";
}

constexpr std::array<std::string_view, 3> kSeverities{"info", "warning", "error"};
constexpr std::array<std::string_view, 4> kComponents{"session", "cupti", "nvtx", "os_runtime"};
constexpr std::array<std::string_view, 8> kStates{"unspecified",    "recording",        "no_driver",     "no_library",
                                                  "owned_by_other", "version_mismatch", "no_permission", "failed"};
constexpr std::array<std::string_view, 4> kStreamKinds{"unknown", "default", "non_blocking", "null"};

template <std::size_t size>
std::string_view word(const std::array<std::string_view, size>& words, std::size_t index) {
  return index < size ? words[index] : "unknown";
}

std::uint32_t ordinal_of(const Trace& trace, const CudaStream& stream) {
  for (const CudaContext& context : trace.contexts())
    if (context.process == stream.process && context.id == stream.context) return context.device_ordinal;
  return 0;
}

template <typename Map, typename Key>
std::uint64_t count_of(const Map& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// ---- JSON ------------------------------------------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

Json json_of(const Trace& trace, ProcessId id, const Counts& counts) {
  const Process& process = trace.processes()[id];
  Json threads = Json::array();
  for (ThreadId thread = 0; thread < trace.threads().size(); ++thread) {
    const Thread& description = trace.threads()[thread];
    if (description.process != id) continue;
    threads.push_back({{"tid", description.tid}, {"name", description.name}, {"event_count", count_of(counts.by_thread, thread)}});
  }
  const Completeness& completeness = process.completeness;
  return {{"instance", process.instance},
          {"pid", process.pid},
          {"parent_pid", process.parent_pid},
          {"name", process.name},
          {"executable", process.executable},
          {"arguments", process.arguments},
          {"forked", process.forked},
          {"start_ns", process.start},
          {"end_ns", process.end ? Json(*process.end) : Json(nullptr)},
          {"end",
           {{"kind", end_key(process.end_kind)},
            {"exit_code", process.exit_code},
            {"signal", process.signal},
            {"crash_thread", process.crash_thread},
            {"crash_address", process.crash_address}}},
          {"event_count", count_of(counts.by_process, id)},
          {"completeness",
           {{"produced", completeness.produced},
            {"dropped", completeness.dropped},
            {"late", completeness.late},
            {"invalid", completeness.invalid},
            {"unreturned_buffers", completeness.unreturned_buffers}}},
          {"threads", threads}};
}

Json json_of(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"ordinal", gpu.ordinal},
          {"uuid", hexadecimal(gpu.uuid)},
          {"bus_id", gpu.bus_id},
          {"compute_capability", std::to_string(gpu.compute_major) + "." + std::to_string(gpu.compute_minor)},
          {"multiprocessor_count", gpu.multiprocessor_count},
          {"memory_bytes", gpu.memory_bytes},
          {"memory_bandwidth", gpu.memory_bandwidth}};
}

Json json_of(const Trace& trace, CounterId id) {
  const Counter& counter = trace.counters()[id];
  return {{"name", counter.name},
          {"unit", counter.unit},
          {"group", counter.group},
          {"source_name", counter.source_name},
          {"device", counter.gpu == kNone ? Json(nullptr) : Json(trace.gpus()[counter.gpu].ordinal)},
          {"pid", counter.process == kNone ? Json(nullptr) : Json(trace.processes()[counter.process].pid)},
          {"sample_count", trace.counter_series(id).size()}};
}

Json json_of(const Trace& trace, const CudaName& name) {
  constexpr std::array<std::string_view, 4> kResources{"unknown", "device", "context", "event"};
  return {{"pid", trace.processes()[name.process].pid},
          {"resource", word(kResources, static_cast<std::size_t>(name.resource))},
          {"id", name.id},
          {"name", name.name}};
}

Json json_of(const Trace& trace, const CudaStream& stream, const Counts& counts) {
  const Process& process = trace.processes()[stream.process];
  return {{"pid", process.pid},
          {"instance", process.instance},
          {"device", ordinal_of(trace, stream)},
          {"context", stream.context},
          {"id", stream.id},
          {"name", stream.name},
          {"kind", word(kStreamKinds, stream.kind)},
          {"priority", stream.priority},
          {"event_count", count_of(counts.by_stream, StreamKey{stream.process, stream.context, stream.id})}};
}

Json json_of(const Trace& trace, const DiagnosticMessage& message) {
  return {{"time_ns", message.time},
          {"severity", word(kSeverities, static_cast<std::size_t>(message.severity))},
          {"component", word(kComponents, static_cast<std::size_t>(message.component))},
          {"state", word(kStates, static_cast<std::size_t>(message.state))},
          {"pid", message.process == kNone ? Json(nullptr) : Json(trace.processes()[message.process].pid)},
          {"text", message.text}};
}

void print_json(const std::string& file, const Trace& trace) {
  const Counts counts = count_events(trace);
  const Provenance& from = trace.provenance();
  Json document = {{"file", file},
                   {"format", from.format},
                   {"producer", from.producer},
                   {"finished", from.finished},
                   {"condition", from.condition},
                   {"host_name", from.host_name},
                   {"operating_system", from.operating_system},
                   {"working_directory", from.working_directory},
                   {"command", from.command},
                   {"attached_pid", from.attached_pid != 0 ? Json(from.attached_pid) : Json(nullptr)},
                   {"utc_epoch_ns", from.utc_epoch},
                   {"span", {{"begin_ns", trace.extent().begin}, {"end_ns", trace.extent().end}, {"duration_ns", trace.extent().length()}}},
                   {"event_count", trace.event_count()}};
  for (const Kind& kind : kKinds) document["counts"][std::string(kind.key)] = counts.by_kind.at(kind.key);
  for (const char* list : {"processes", "devices", "streams", "diagnostics"}) document[list] = Json::array();
  for (ProcessId id = 0; id < trace.processes().size(); ++id) document["processes"].push_back(json_of(trace, id, counts));
  for (const Gpu& gpu : trace.gpus()) document["devices"].push_back(json_of(gpu));
  document["counters"] = Json::array();
  for (CounterId id = 0; id < trace.counters().size(); ++id) document["counters"].push_back(json_of(trace, id));
  for (const CudaStream& stream : trace.streams()) document["streams"].push_back(json_of(trace, stream, counts));
  document["cuda_names"] = Json::array();
  for (const CudaName& name : trace.cuda_names()) document["cuda_names"].push_back(json_of(trace, name));
  for (const DiagnosticMessage& message : trace.diagnostics()) document["diagnostics"].push_back(json_of(trace, message));
  std::size_t output[2] = {0, 0};
  for (const OutputText& text : trace.output()) output[text.standard_error ? 1 : 0] += text.bytes.size();
  document["output"] = {{"stdout_bytes", output[0]}, {"stderr_bytes", output[1]}};
  std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

// ---- Text ------------------------------------------------------------------------------------------------------------------------

constexpr int kTitleWidth = 14;

void print_line(std::string_view title, std::string_view text) {
  if (text.empty()) return;
  std::cout << "  " << title << std::string(std::max<int>(1, kTitleWidth - static_cast<int>(title.size())), ' ') << text << '\n';
}

std::string completeness_text(const Completeness& completeness) {
  std::string text = counted(completeness.produced, "record") + ", " + with_thousands(completeness.dropped) + " dropped";
  if (completeness.late > 0) text += ", " + with_thousands(completeness.late) + " late";
  if (completeness.invalid > 0) text += ", " + with_thousands(completeness.invalid) + " invalid";
  if (completeness.unreturned_buffers > 0)
    text += "; it ended with " + counted(completeness.unreturned_buffers, "CUPTI buffer") + ", whose records are lost";
  return text;
}

// "process 4711 (python)"
std::string attached_text(const Trace& trace) {
  const std::uint32_t pid = trace.provenance().attached_pid;
  std::string text = "process " + std::to_string(pid);
  for (const Process& process : trace.processes())
    if (process.pid == pid) return text + " (" + process.name + ")";
  return text;
}

// "21 of 1 GPU, 1,234,567 values"
std::string metrics_text(const Trace& trace) {
  std::uint64_t values = 0;
  std::uint64_t counters = 0;
  std::set<GpuId> gpus;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    if (trace.counters()[id].gpu == kNone || trace.counters()[id].process != kNone) continue;
    ++counters;
    gpus.insert(trace.counters()[id].gpu);
    values += trace.counter_series(id).size();
  }
  if (counters == 0) return {};
  return with_thousands(counters) + " of " + counted(gpus.size(), "GPU") + ", " + counted(values, "value");
}

void print_heading(const std::string& file, const Trace& trace) {
  const Provenance& from = trace.provenance();
  std::cout << file << '\n';
  print_line("Format", from.format + (from.producer.empty() ? "" : ", written by " + from.producer));
  if (from.utc_epoch != 0) print_line("Recorded", utc_text(from.utc_epoch) + (from.host_name.empty() ? "" : " on " + from.host_name));
  print_line("System", from.operating_system);
  print_line("Command", command_text(from.command));
  if (from.attached_pid != 0) print_line("Attached to", attached_text(trace));
  print_line("Directory", from.working_directory);
  print_line("Span", duration_text(trace.extent().length()) + ", " + counted(trace.event_count(), "event"));
  print_line("GPU metrics", metrics_text(trace));
  print_line("Condition", from.condition);
  std::uint64_t dropped = 0;
  std::uint64_t buffers = 0;
  for (const Process& process : trace.processes()) {
    dropped += process.completeness.dropped;
    buffers += process.completeness.unreturned_buffers;
  }
  std::string missing = dropped == 0 ? "" : counted(dropped, "record") + " dropped";
  if (buffers > 0) missing += (missing.empty() ? "" : ", ") + counted(buffers, "CUPTI buffer") + " lost";
  print_line("Complete", missing.empty() ? "nothing dropped" : "no: " + missing);
}

void print_counts(const Counts& counts) {
  std::cout << "\nEvents\n";
  for (const Kind& kind : kKinds) {
    const std::string number = with_thousands(counts.by_kind.at(kind.key));
    if (number == "0") continue;
    std::cout << "  " << kind.title << std::string(32 - kind.title.size(), ' ');
    std::cout << std::string(number.size() < 14 ? 14 - number.size() : 0, ' ') << number << '\n';
  }
}

void print_process(const Trace& trace, ProcessId id, const Counts& counts) {
  const Process& process = trace.processes()[id];
  std::cout << "  [" << process.pid << "] " << process.name << (process.forked ? ", forked by [" : ", child of [") << process.parent_pid
            << "]: ";
  std::cout << end_text(process);
  if (process.end) std::cout << " after " << duration_text(*process.end - process.start);
  std::cout << "\n      " << completeness_text(process.completeness) << '\n';
  for (ThreadId thread = 0; thread < trace.threads().size(); ++thread) {
    const Thread& description = trace.threads()[thread];
    const std::uint64_t events = count_of(counts.by_thread, thread);
    if (description.process != id || events == 0) continue;
    std::cout << "      thread [" << description.tid << "] " << description.name << (description.name.empty() ? "" : ": ")
              << counted(events, "event") << '\n';
  }
}

void print_gpus(const Trace& trace, const Counts& counts) {
  if (!trace.gpus().empty()) std::cout << "\nGPUs\n";
  for (const Gpu& gpu : trace.gpus()) {
    std::cout << "  " << gpu.ordinal << ": " << (gpu.name.empty() ? "unknown GPU" : gpu.name)
              << given_names(trace, static_cast<GpuId>(&gpu - trace.gpus().data()));
    if (gpu.multiprocessor_count > 0) {
      std::cout << ", compute capability " << gpu.compute_major << "." << gpu.compute_minor << ", " << gpu.multiprocessor_count
                << " multiprocessors, " << bytes_text(gpu.memory_bytes);
    }
    std::cout << '\n';
  }
  if (!trace.streams().empty()) std::cout << "\nStreams\n";
  std::uint64_t unused = 0;
  for (const CudaStream& stream : trace.streams()) {
    const std::uint64_t events = count_of(counts.by_stream, StreamKey{stream.process, stream.context, stream.id});
    if (events == 0) {
      ++unused;
      continue;
    }
    std::cout << "  [" << trace.processes()[stream.process].pid << "] GPU " << ordinal_of(trace, stream) << ", context "
              << context_label(trace, stream.process, stream.context) << ", stream " << stream.id
              << (stream.name.empty() ? "" : " \"" + stream.name + "\"") << ": " << counted(events, "event") << '\n';
  }
  if (unused > 0) std::cout << "  and " << counted(unused, "stream") << " without events\n";
}

void print_diagnostics(const Trace& trace) {
  if (!trace.diagnostics().empty()) std::cout << "\nDiagnostics\n";
  for (const DiagnosticMessage& message : trace.diagnostics()) {
    std::cout << "  " << word(kSeverities, static_cast<std::size_t>(message.severity)) << ": ";
    if (message.process != kNone) std::cout << "[" << trace.processes()[message.process].pid << "] ";
    std::cout << message.text << '\n';
  }
}

void print_text(const std::string& file, const Trace& trace) {
  const Counts counts = count_events(trace);
  print_heading(file, trace);
  if (trace.event_count() > 0) print_counts(counts);
  std::cout << "\nProcesses\n";
  for (ProcessId id = 0; id < trace.processes().size(); ++id) print_process(trace, id, counts);
  print_gpus(trace, counts);
  print_diagnostics(trace);
}

}  // namespace

int run_info(Arguments arguments) {
  CLI::App app("Shows what a trace holds: processes, threads, GPUs, streams, counts of events, and how complete it is.", "lanescope info");
  std::string file;
  bool as_json = false;
  app.add_option("FILE", file, "The trace")->required();
  app.add_flag("--json", as_json, "Print JSON; times are ns since the recording began");
  app.footer(
      "Examples:\n"
      "  lanescope info run.trace\n"
      "  lanescope info --json run.trace | jq .counts\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  const Result<std::shared_ptr<const Trace>> trace = open_trace(file);
  if (!trace) return fail(trace.error());
  as_json ? print_json(file, **trace) : print_text(file, **trace);
  return kSuccess;
}

}  // namespace lanescope::cli
