#include "timeline/core/words/describe.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>

#include "describe_threads.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/occupancy.h"
#include "model/samples/backtrace.h"
#include "model/trace/combining/parts.h"
#include "model/trace/domains/nvtx_payload.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/core/words/format.h"
#include "timeline/core/words/given_names.h"

namespace lanescope::timeline {
namespace {

using Properties = std::vector<Property>;

void add(Properties& properties, std::string_view label, std::string value) {
  if (!value.empty()) properties.emplace_back(label, std::move(value));
}

void add(Properties& properties, std::string_view label, Message value) {
  if (!value.empty()) properties.emplace_back(label, std::move(value));
}

void add(Properties& properties, std::string_view label, const char* words) { add(properties, label, Message(words)); }

std::string dimensions(const std::uint32_t (&size)[3]) {
  if (size[0] == 0) return {};
  return "<<<" + std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]) + ">>>";
}

Message launch_type_name(std::uint32_t type) {
  if (type == 1) return "Cooperative";
  return type == 2 ? Message("Cooperative on several devices") : Message("Regular");
}

void add_graph(Properties& properties, std::uint32_t graph, std::uint64_t node) {
  if (graph != 0) add(properties, "Graph", std::to_string(graph));
  if (node != 0) add(properties, "Graph node", std::to_string(node));
}

void add_occupancy(Properties& properties, const KernelDetail& kernel, const Gpu& gpu, Length length) {
  const auto multiprocessor = kernels::multiprocessor_of(gpu);
  const auto occupancy = multiprocessor ? kernels::occupancy(kernel, *multiprocessor) : std::nullopt;
  if (!occupancy) return;
  add(properties, "Theoretical occupancy", format_share(occupancy->share()));
  add(properties, "Blocks a multiprocessor",
      Message("{blocks}, limited by {limits}", {{"blocks", std::to_string(occupancy->blocks)}, {"limits", kernels::limiters_text(*occupancy)}}));
  const auto reliefs = length == Length::kWhole ? kernels::reliefs(kernel, *multiprocessor) : std::vector<kernels::Relief>();
  for (const kernels::Relief& relief : reliefs) add(properties, "More occupancy with", kernels::relief_text(relief, kernel));
  const auto waves = kernels::waves(kernel, gpu, *occupancy);
  if (!waves) return;
  const bool is_known = waves->places == kernels::Waves::Places::kKnown;
  add(properties, "Waves",
      Message(is_known ? "{waves} of {blocks} blocks"
                       : "{waves}, of {blocks} blocks at most: clusters stay within groups of multiprocessors (GPC), whose sizes the trace does not know",
              {{"waves", kernels::waves_text(*waves)}, {"blocks", format_count(waves->at_once)}}));
  if (waves->tail_share() > 0)
    add(properties, "Last wave",
        Message("{blocks} blocks; its empty places are {share} of the launch's",
                {{"blocks", format_count(waves->tail())}, {"share", format_share(waves->tail_share())}}));
  if (waves->idle_multiprocessors() > 0)
    add(properties, "Multiprocessors without a block",
        Message("{part} of {all}", {{"part", format_count(waves->multiprocessors - waves->blocks)}, {"all", std::to_string(waves->multiprocessors)}}));
}

struct OpenEnd {
  Message of_range, of_kernel;
};

// Why an event has no end of its own: what ended at its end. A range whose end was lost lasts until something shows that it had ended.
OpenEnd open_end(const Trace& trace, const TrackKey& key, const Event& event) {
  const TracePart* part = part_of_process(trace, key.process);
  const Provenance& from = part ? part->provenance : trace.provenance();
  const Process* process = key.process < trace.processes().size() ? &trace.processes()[key.process] : nullptr;
  const bool is_imported = from.format != "Lanescope";
  // CUPTI reports kernels that are still running only when everything ends.
  constexpr Nanoseconds kRounding = 1'000;  // of times that were converted to those of another recording
  const bool lasts_to_the_end = process != nullptr && process->end && (key.kind == TrackKind::kKernels || event.end() + kRounding >= *process->end);
  if (!is_imported && !from.finished && process != nullptr && !process->end)
    return {Message("no: its end is not in the recording"), Message("no: its end is not in the recording")};
  if (!is_imported && !lasts_to_the_end) return {Message("no: its end was not recorded"), Message("no: its end was not recorded")};
  switch (process != nullptr ? process->end_kind : ProcessEndKind::kUnknown) {
    case ProcessEndKind::kExited:
    case ProcessEndKind::kSignaled:
    case ProcessEndKind::kLost:
      return {Message("no: still open when the process ended"), Message("no: still running when the process ended")};
    case ProcessEndKind::kReplaced:
      return {Message("no: still open when the process became another program (exec)"),
              Message("no: still running when the process became another program (exec)")};
    case ProcessEndKind::kDetached:
    case ProcessEndKind::kUnknown:
      break;
  }
  if (from.end == RecordingEnd::kRange)
    return {Message("no: still open when the range that was captured ended"), Message("no: still running when the range that was captured ended")};
  return {Message("no: still open when the recording ended"), Message("no: still running when the recording ended")};
}

void add_kernel(Properties& properties, const Trace& trace, const TrackKey& key, const Event& event, Length length) {
  const DetailId id = event.detail;
  if (id == 0) return;
  const KernelDetail& kernel = trace.kernel_detail(id);
  add(properties, "Grid", dimensions(kernel.grid));
  add(properties, "Block", dimensions(kernel.block));
  constexpr std::uint64_t kWarp = 32;  // threads
  const std::uint64_t threads = std::uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
  if (threads % kWarp != 0) add(properties, "Last warp of a block", Message("{threads} of 32 threads", {{"threads", std::to_string(threads % kWarp)}}));
  if (kernel.cluster[0] > 1 || kernel.cluster[1] > 1 || kernel.cluster[2] > 1) add(properties, "Cluster", dimensions(kernel.cluster));
  add(properties, "Launch type", launch_type_name(kernel.launch_type));
  add(properties, "Registers per thread", std::to_string(kernel.registers_per_thread));
  add(properties, "Static shared memory", format_bytes(kernel.static_shared_memory));
  add(properties, "Dynamic shared memory", format_bytes(kernel.dynamic_shared_memory));
  if (kernel.shared_memory_executed != 0) add(properties, "Shared memory configured", format_bytes(kernel.shared_memory_executed));
  if (kernel.local_memory_per_thread != 0) add(properties, "Local memory per thread", format_bytes(kernel.local_memory_per_thread));
  if (kernel.local_memory_total != 0) add(properties, "Local memory", format_bytes(kernel.local_memory_total));
  if (key.gpu != kNone) add_occupancy(properties, kernel, trace.gpus()[key.gpu], length);
  add_graph(properties, kernel.graph, kernel.graph_node);
  if (kernel.finished == Finished::kNo) add(properties, "Finished", open_end(trace, key, event).of_kernel);
}

// Says that the counters of a kernel were read, and what they show.
void add_counters(Properties& properties, const Trace& trace, EventRef kernel, Length length) {
  const std::optional<kernels::Verdict> verdict = kernels::verdict_of(trace, kernel);
  if (!verdict) return;
  add(properties, "Counters", Message("read; bound by {bound}", {{"bound", kernels::bound_text(*verdict)}}));
  if (length != Length::kWhole) return;
  for (const kernels::Advice& advice : verdict->advice)
    add(properties, "Could win",
        advice.is_gain_known ? Message("{share}: {seen}", {{"share", format_share(advice.gain)}, {"seen", advice.seen}})
                             : Message("not known: {seen}", {{"seen", advice.seen}}));
}

void add_memory(Properties& properties, const Trace& trace, const Event& event) {
  if (event.detail == 0) return;
  const MemoryDetail& memory = trace.memory_detail(event.detail);
  add(properties, "Size", format_bytes(memory.bytes) + " (" + format_count(memory.bytes) + " B)");
  add(properties, "Throughput", format_throughput(memory.bytes, event.duration));
  if (memory.operation == MemoryOperation::kSet) {
    add(properties, "Value", std::to_string(memory.value));
    add(properties, "Memory", Message(memory_kind_name(memory.destination_memory)));
  } else {
    add(properties, "Source memory", Message(memory_kind_name(memory.source_memory)));
    add(properties, "Destination memory", Message(memory_kind_name(memory.destination_memory)));
  }
  if (memory.copy_kind == CopyKind::kPeerToPeer) {
    add(properties, "Source device", std::to_string(memory.source_device));
    add(properties, "Destination device", std::to_string(memory.destination_device));
  }
  add_graph(properties, memory.graph, memory.graph_node);
}

void add_synchronization(Properties& properties, const Trace& trace, const TrackKey& key, const SynchronizationDetail& detail) {
  add(properties, "Waits for", Message(synchronization_name(detail.type)));
  if (detail.event == 0) return;
  const std::string_view name = trace.cuda_name(key.process, CudaResource::kEvent, detail.event);
  add(properties, "CUDA event", std::to_string(detail.event) + (name.empty() ? "" : " ") + std::string(name));
}

std::string payload_text(const NvtxDetail& range) {
  switch (range.payload_type) {
    case PayloadType::kAbsent:
      break;
    case PayloadType::kUnsigned:
      return std::to_string(range.payload);
    case PayloadType::kSigned:
      return std::to_string(static_cast<std::int64_t>(range.payload));
    case PayloadType::kReal: {
      char text[32];
      std::snprintf(text, sizeof text, "%g", std::bit_cast<double>(range.payload));
      return text;
    }
  }
  return {};
}

std::string color_text(std::uint32_t color) {
  if (color == 0) return {};
  char text[16];
  std::snprintf(text, sizeof text, "#%06x", color & 0xffffff);
  return text;
}

std::string thread_text(const Trace& trace, ThreadId id) {
  if (id == kNone) return {};
  const Thread& thread = trace.threads()[id];
  return thread.name.empty() ? std::to_string(thread.tid) : std::to_string(thread.tid) + " " + thread.name;
}

void add_nvtx(Properties& properties, const Trace& trace, const TrackKey& key, const Event& event) {
  const DetailId id = event.detail;
  const std::string_view domain = trace.domain_name(key.process, key.domain);
  add(properties, "Domain", domain.empty() ? Message("default") : Message::verbatim(std::string(domain)));
  if (id == 0) return;
  const NvtxDetail& range = trace.nvtx_detail(id);
  if (range.category != 0) {
    const std::string_view name = trace.category_name(key.process, key.domain, range.category);
    add(properties, "Category", name.empty() ? std::to_string(range.category) : std::string(name));
  }
  add(properties, "Payload", payload_text(range));
  const std::string_view data = trace.name(range.payload_json);
  if (has_unknown_fields(data)) add(properties, "Fields of its data", "unknown: they were described before the recording began, or never");
  for (PayloadField& field : payload_fields(data)) add(properties, field.name, std::move(field.value));
  add(properties, "Colour", color_text(range.color));
  if (range.end_thread != kNone && range.end_thread != key.thread) add(properties, "Ended by thread", thread_text(trace, range.end_thread));
  if (range.finished == Finished::kNo) add(properties, "Finished", open_end(trace, key, event).of_range);
}

std::string synchronization_name(std::uint32_t type) {
  switch (type) {
    case 1:
      return "Event synchronize";
    case 2:
      return "Stream waits for event";
    case 3:
      return "Stream synchronize";
    case 4:
      return "Context synchronize";
    default:
      return {};
  }
}

void add_api(Properties& properties, const Trace& trace, const Event& event) {
  if (event.detail == 0) return;
  const ApiDetail& call = trace.api_detail(event.detail);
  add(properties, "API", call.domain == ApiDomain::kRuntime ? Message("CUDA runtime") : Message("CUDA driver"));
  add(properties, "Returned", call.result == 0 ? Message("0 (success)") : Message::verbatim(std::to_string(call.result)));
}

std::string hexadecimal(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void add_page_fault(Properties& properties, const Trace& trace, DetailId id) {
  const PageFaultDetail& fault = trace.page_fault_detail(id);
  add(properties, "Address", hexadecimal(fault.address));
  if (fault.count != 1) add(properties, "Faults", std::to_string(fault.count));
  if (fault.function != 0) add(properties, "Function", std::string(trace.name(fault.function)));
  if (fault.module != 0) add(properties, "Module", std::string(trace.name(fault.module)));
  if (fault.source_file != 0) add(properties, "Source", std::string(trace.name(fault.source_file)) + ":" + std::to_string(fault.source_line));
}

void add_memory_usage(Properties& properties, const Trace& trace, DetailId id) {
  const MemoryUsageDetail& usage = trace.memory_usage_detail(id);
  const bool of_pool = usage.operation >= MemoryUsageOperation::kPoolCreation;
  if (!of_pool) add(properties, "Size", format_bytes(usage.bytes));
  if (usage.operation == MemoryUsageOperation::kPoolTrim) add(properties, "Keeps at least", format_bytes(usage.bytes));
  if (!of_pool) add(properties, "Memory", Message(memory_kind_name(usage.memory_kind)));
  if (usage.variable != 0) add(properties, "Variable", std::string(trace.name(usage.variable)));
  add(properties, of_pool ? "Pool" : "Address", hexadecimal(usage.address));
  if (usage.stream != 0) add(properties, "On stream", std::to_string(usage.stream));
  if (usage.pool == 0) return;
  if (!of_pool) add(properties, "From pool", hexadecimal(usage.pool));
  add(properties, "Pool holds", format_bytes(usage.pool_size));
  add(properties, "Pool in use", format_bytes(usage.pool_utilized));
}

void append(Properties& properties, Properties more) {
  properties.insert(properties.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_details(Properties& properties, const Trace& trace, const TrackKey& key, const Event& event, Length length) {
  switch (key.kind) {
    case TrackKind::kKernels:
      return add_kernel(properties, trace, key, event, length);
    case TrackKind::kMemory:
      return add_memory(properties, trace, event);
    case TrackKind::kCudaApi:
      return add_api(properties, trace, event);
    case TrackKind::kNvtxRanges:
    case TrackKind::kNvtxProcessRanges:
    case TrackKind::kNvtxMarks:
      return add_nvtx(properties, trace, key, event);
    case TrackKind::kGraphLaunches:
      if (event.detail != 0) add(properties, "Graph", std::to_string(trace.graph_launch_detail(event.detail).graph));
      return;
    case TrackKind::kSynchronizations:
      if (event.detail != 0) add_synchronization(properties, trace, key, trace.synchronization_detail(event.detail));
      return;
    case TrackKind::kMemoryUsage:
      if (event.detail != 0) add_memory_usage(properties, trace, event.detail);
      return;
    case TrackKind::kPageFaults:
      return add_page_fault(properties, trace, event.detail);
    case TrackKind::kThreadStates:
    case TrackKind::kProcessors:
      return append(properties, describe_thread_state(trace, key, event, length));
    case TrackKind::kCpuSamples:
    case TrackKind::kBacktraces: {
      const SampleDetail& sample = trace.sample_detail(event.detail);
      if (sample.processor != kNone) add(properties, "Processor", std::to_string(sample.processor));
      return append(properties, describe_chain(trace, sample.call_node, length));
    }
    default:
      return;
  }
}

void add_origin(Properties& properties, const Trace& trace, const TrackKey& key) {
  if (key.gpu != kNone) {
    const Gpu& gpu = trace.gpus()[key.gpu];
    const std::string name = gpu.name.empty() ? "" : " " + gpu.name;
    add(properties, "Device", "GPU " + std::to_string(gpu.ordinal) + name + given_names(trace, key.gpu));
    add(properties, "Context", context_label(trace, key.process, key.context));
    add(properties, "Stream", std::to_string(key.stream));
  }
  if (key.process != kNone) {
    const Process& process = trace.processes()[key.process];
    add(properties, "Process", "[" + std::to_string(process.pid) + "] " + process.name);
  }
  add(properties, "Thread", thread_text(trace, key.thread));
}

// The innermost range last: "epoch 1 › step 12 › forward".
std::string nvtx_path(const Trace& trace, ThreadId thread, Nanoseconds time) {
  std::string path;
  for (const EventRef range : trace.nvtx_stack(thread, time)) {
    if (!path.empty()) path += " › ";
    path += event_title(trace, range);
  }
  return path;
}

void add_relations(Properties& properties, const Trace& trace, EventRef ref, const Event& event) {
  const TrackKey& key = trace.track_of(ref.lane).key;
  if (is_gpu_work(key.kind)) {
    const auto launch = trace.launch_of(ref);
    if (!launch) return;
    const Event call = trace.event(*launch);
    const ThreadId thread = trace.track_of(launch->lane).key.thread;
    add(properties, "Launched by", event_title(trace, *launch));
    properties.back().event = *launch;
    add(properties, "Launched from thread", thread_text(trace, thread));
    add(properties, "Launch latency", format_duration(event.start - call.start));
    add(properties, "NVTX", nvtx_path(trace, thread, call.start));
  } else if (key.kind == TrackKind::kCudaApi) {
    const std::vector<EventRef> work = trace.work_of(ref);
    if (work.size() == 1) add(properties, "GPU work", event_title(trace, work.front()));
    if (work.size() > 1) add(properties, "GPU work", Message("{number} operations", {{"number", format_count(work.size())}}));
    if (!work.empty()) add(properties, "Launch latency", format_duration(trace.event(work.front()).start - event.start));
    add(properties, "NVTX", nvtx_path(trace, key.thread, event.start));
  }
}

// The start of a parameter list: the parenthesis that is closed at the end of the name, outside of template arguments. After a blank it is a remark, as in
// "Memcpy HtoD (Pageable)".
std::size_t parameters_start(std::string_view name) {
  if (name.empty() || name.back() != ')') return name.size();
  int depth = 0;
  for (std::size_t position = name.size(); position-- > 0;) {
    if (name[position] == ')') ++depth;
    if (name[position] == '(' && --depth == 0) return position > 0 && name[position - 1] == ' ' ? name.size() : position;
  }
  return name.size();
}

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

// True if a parenthesis after this text starts parameters, not a cast.
bool follows_name(const std::string& text) { return !text.empty() && (is_word(text.back()) || text.back() == '>'); }

// The position after the parenthesis that closes the first one; the end if there is none.
std::size_t parenthesis_end(std::string_view text) {
  int depth = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] == '(') ++depth;
    if (text[position] == ')' && --depth == 0) return position + 1;
  }
  return text.size();
}

}  // namespace

std::string compact_kernel_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::size_t end = parameters_start(name);
  std::string_view rest = end > 0 ? name.substr(0, end) : name;
  if (rest.starts_with("void ")) rest.remove_prefix(5);
  std::string compact;
  std::size_t word = 0;  // start of the last word in `compact`
  while (!rest.empty()) {
    if (rest.starts_with(kAnonymous)) {
      rest.remove_prefix(kAnonymous.size());
    } else if (rest.starts_with("::") && word < compact.size()) {  // the word in front names a namespace or a class
      compact.resize(word);
      rest.remove_prefix(2);
    } else if (rest.front() == '(' && follows_name(compact)) {  // a function as a template argument: its parameters are not informative
      rest.remove_prefix(parenthesis_end(rest));
      word = compact.size();
    } else {
      compact += rest.front();
      if (!is_word(rest.front())) word = compact.size();
      rest.remove_prefix(1);
    }
  }
  return compact.empty() ? std::string(name) : compact;
}

std::vector<std::string> distinct_kernel_names(std::span<const std::string_view> names) {
  const auto without_result = [](std::string_view name) { return name.starts_with("void ") ? name.substr(5) : name; };
  const auto without_parameters = [&](std::string_view name) { return without_result(name.substr(0, std::max<std::size_t>(parameters_start(name), 1))); };
  std::vector<std::string> labels;
  std::map<std::string, std::vector<std::size_t>> namesakes;
  for (std::size_t i = 0; i < names.size(); ++i) namesakes[labels.emplace_back(compact_kernel_name(names[i]))].push_back(i);
  for (const auto& [label, which] : namesakes) {
    if (which.size() < 2) continue;
    std::set<std::string_view> told_apart;
    for (const std::size_t i : which) told_apart.insert(without_parameters(names[i]));
    for (const std::size_t i : which) labels[i] = told_apart.size() == which.size() ? without_parameters(names[i]) : without_result(names[i]);
  }
  return labels;
}

std::string_view event_label(const Trace& trace, TrackKind kind, const Event& event) noexcept {
  if (kind == TrackKind::kBacktraces)
    if (const std::string_view caller = caller_name(trace, trace.sample_detail(event.detail).call_node); !caller.empty()) return caller;
  if (kind == TrackKind::kKernels) {
    const NameId name = trace.kernel_detail(event.detail).short_name;
    if (event.detail != 0 && name != 0) return trace.name(name);
  }
  if (kind == TrackKind::kMemory && event.detail != 0) return memory_class_name(memory_class(trace.memory_detail(event.detail)));
  const std::string_view name = trace.name(event.name);
  return kind == TrackKind::kCudaApi ? api_display_name(name) : name;
}

std::string event_title(const Trace& trace, EventRef ref) {
  const Event event = trace.event(ref);
  const TrackKind kind = trace.track_of(ref.lane).key.kind;
  std::string_view name = trace.name(event.name);
  if (kind == TrackKind::kCudaApi) name = api_display_name(name);
  if (!name.empty()) return std::string(name);
  if (kind == TrackKind::kMemory) return std::string(memory_operation_name(trace.memory_detail(event.detail)));
  if (kind == TrackKind::kSynchronizations) return synchronization_name(trace.synchronization_detail(event.detail).type);
  return "(no name)";
}

Message event_words(const Trace& trace, EventRef event) {
  if (has_given_names(trace.track_of(event.lane).key.kind)) return Message(trace.name(trace.lane(event.lane).name(event.index)));
  return Message::verbatim(event_title(trace, event));
}

std::vector<Property> describe_event(const Trace& trace, EventRef ref, Length length) {
  Properties properties;
  const Event event = trace.event(ref);
  const TrackKey& key = trace.track_of(ref.lane).key;
  add(properties, "Name", event_words(trace, ref));
  if (const TracePart* const part = part_of(trace, trace.track_of(ref.lane)); part != nullptr && !part->run.empty()) add(properties, "Run", part->label);
  add(properties, "Begins", format_time(event.start));
  if (key.kind != TrackKind::kNvtxMarks && key.kind != TrackKind::kCpuSamples) {
    add(properties, "Ends", format_time(event.end()));
    add(properties, "Duration", format_duration(event.duration));
  }
  add_details(properties, trace, key, event, length);
  if (key.kind == TrackKind::kKernels) add_counters(properties, trace, ref, length);
  add_relations(properties, trace, ref, event);
  if (key.kind == TrackKind::kCudaApi || key.kind == TrackKind::kOsRuntime)
    if (const CallNodeId chain = samples::backtrace_of(trace, key.thread, event); chain != 0) append(properties, describe_chain(trace, chain, length));
  add_origin(properties, trace, key);
  if (event.correlation != 0 && key.kind <= TrackKind::kCudaApi) add(properties, "Correlation", std::to_string(event.correlation));
  return properties;
}

std::vector<Property> describe_open_event(const Trace& trace, EventRef event, Nanoseconds now, Length length) {
  std::vector<Property> properties = describe_event(trace, event, length);
  std::erase_if(properties, [](const Property& property) {
    return property.label == "Begins" || property.label == "Ends" || property.label == "Duration" || property.label == "Finished";
  });
  const Nanoseconds start = trace.lane(event.lane).start(event.index);
  properties.push_back({"Is open", Message("since {time}: for {length} by now", {{"time", format_time(start)}, {"length", format_duration(now - start)}})});
  return properties;
}

std::string as_text(const std::vector<Property>& properties) {
  std::string text;
  for (const Property& property : properties) text += property.label + "\t" + property.value.english() + "\n";
  return text;
}

}  // namespace lanescope::timeline
