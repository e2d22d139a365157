#include "model/trace/ingest/frame_ingest.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "capture_options.h"
#include "chunk_target.h"
#include "columns.h"
#include "compact/file_tables.h"
#include "decoded_frame.h"
#include "kernel_frames.h"
#include "model/trace/completeness.h"

namespace lanescope {
namespace {

constexpr std::size_t kMostClockReadings = 1'000'000;  // four months at one every 10 s
constexpr std::uint64_t kToldCopies = 2;               // of descriptions of processes and of the session: here, and in the trace that is made from it

std::uint64_t bytes_of(const std::vector<std::string>& texts) noexcept {
  std::uint64_t bytes = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) bytes += text.size();
  return kToldCopies * bytes;
}

std::uint64_t bytes_of(const Process& process) noexcept {
  constexpr std::uint64_t kCopies = 2;  // as the executable, and as the process's name
  const JobPlace& place = process.place;
  return bytes_of(process.arguments) +
         kToldCopies * (kCopies * process.executable.size() + place.launcher.size() + place.scheduler.size() + place.job.size() + place.step.size());
}

std::uint64_t bytes_of(const Provenance& provenance) noexcept {
  std::uint64_t bytes = provenance.labels.size() * sizeof(Label);
  for (const Label& label : provenance.labels) bytes += label.key.size() + label.value.size();
  return bytes_of(provenance.command) + kToldCopies * bytes;
}

Gpu described(const proto::Device& device) {
  Gpu gpu;
  gpu.name = device.name();
  gpu.uuid = device.uuid();
  gpu.bus_id = device.bus_id();
  gpu.ordinal = device.id();
  gpu.multiprocessor_count = device.multiprocessor_count();
  gpu.compute_major = device.compute_major();
  gpu.compute_minor = device.compute_minor();
  gpu.memory_bytes = device.memory_bytes();
  gpu.memory_bandwidth = device.memory_bandwidth();
  gpu.core_clock_khz = device.core_clock_khz();
  gpu.max_warps_per_multiprocessor = device.max_warps_per_multiprocessor();
  gpu.max_blocks_per_multiprocessor = device.max_blocks_per_multiprocessor();
  gpu.max_registers_per_multiprocessor = device.max_registers_per_multiprocessor();
  gpu.max_shared_memory_per_multiprocessor = device.max_shared_memory_per_multiprocessor();
  return gpu;
}

JobPlace described(const proto::JobPlace& said) {
  JobPlace place;
  if (said.has_rank()) place.rank = said.rank();
  if (said.has_local_rank()) place.local_rank = said.local_rank();
  place.world_size = said.world_size();
  place.launcher = said.launcher();
  place.scheduler = said.scheduler();
  place.job = said.job();
  place.step = said.step();
  return place;
}

}  // namespace

struct FrameIngest::State {
  TraceBuilder& builder;
  Nanoseconds epoch = 0;
  std::uint64_t malformed = 0;
  std::uint64_t unknown_frames = 0, unknown_events = 0;  // of types that a newer version writes
  bool source_was_cut = false;
  std::map<std::pair<std::uint32_t, std::uint8_t>, Dictionary> dictionaries;  // by (process instance, source)
  std::uint64_t dictionary_bytes = 0;
  KernelNames kernel_names;
  std::map<std::pair<std::uint32_t, std::uint8_t>, proto::Counters> counters;
  FileTables tables;  // of a compacted file

  // Finds the dictionary of a frame and calls `extend` with it.
  template <typename Extend>
  bool with_dictionary(const FrameHeader& header, Extend extend) {
    const auto [found, inserted] = dictionaries.try_emplace({header.process, header.source});
    Dictionary& dictionary = found->second;
    const std::size_t before = inserted ? 0 : dictionary.memory_bytes();
    const bool extended = extend(dictionary);
    dictionary_bytes += dictionary.memory_bytes() - before;
    return extended;
  }

  Nanoseconds since_epoch(std::int64_t monotonic) const { return sum(monotonic, -epoch); }

  // Returns nothing if the file has no part, or if the times make no sense.
  std::optional<SavedPart> saved_part(const proto::SessionStart& message) const {
    const TimeRange time{since_epoch(message.part_begin()), since_epoch(message.part_end())};
    if (time.empty() || !is_near(time.begin) || !is_near(time.end)) return std::nullopt;
    const Nanoseconds first_launch = since_epoch(message.part_launches());
    return SavedPart{time, is_near(first_launch) ? std::min(first_launch, time.begin) : time.begin};
  }

  bool session_start(const proto::SessionStart& message) {
    if (!is_near(message.epoch())) return false;
    epoch = message.epoch();
    Provenance& provenance = builder.provenance();
    dictionary_bytes -= bytes_of(provenance);
    provenance.format = "Lanescope";
    provenance.producer = "lanescope " + message.lanescope_version();
    provenance.host_name = message.host_name();
    provenance.operating_system = message.operating_system();
    provenance.processor = message.processor();
    provenance.processor_count = message.processor_count();
    provenance.driver_version = message.driver_version();
    provenance.options = message.options();
    if (message.has_settings()) provenance.options += (provenance.options.empty() ? "" : " ") + capture_options(message.settings(), message.options());
    provenance.working_directory = message.working_directory();
    provenance.attached_pid = message.attached_pid();
    provenance.command.assign(message.command().begin(), message.command().end());
    provenance.utc_epoch = message.utc_epoch();
    provenance.monotonic_epoch = message.epoch();
    provenance.machine_id = message.machine_id();
    provenance.boot_id = message.boot_id();
    provenance.labels.clear();
    for (const proto::Label& label : message.labels()) provenance.labels.push_back({label.key(), label.value()});
    provenance.part = saved_part(message);
    dictionary_bytes += bytes_of(provenance);
    if (!message.source_format().empty()) {
      provenance.format = message.source_format();
      provenance.producer = message.source_producer();
    }
    return true;
  }

  // Readings of agents were already used when their records were made.
  bool clock_sync(const FrameHeader& header, const proto::ClockSync& message) {
    std::vector<ClockReading>& clocks = builder.provenance().clocks;
    if (header.process != 0 || clocks.size() == kMostClockReadings) return true;
    const proto::TimeKeeping& kept = message.time_keeping();
    clocks.push_back({since_epoch(message.monotonic()), message.realtime(), message.monotonic_raw(), message.boottime(), message.uncertainty(),
                      kept.synchronized(), kept.offset(), kept.frequency(), kept.estimated_error(), kept.maximum_error()});
    return true;
  }

  bool session_end(const proto::SessionEnd& message) {
    builder.provenance().end = known_kind(static_cast<int>(message.reason()), RecordingEnd::kRange);
    builder.provenance().unwritten_events = message.unwritten_events();
    if (message.whole_from() != 0) builder.provenance().part = last_part(message);
    return true;
  }

  // Data before the part exists for some processes, and not for others. Returns nothing if the times make no sense.
  std::optional<SavedPart> last_part(const proto::SessionEnd& message) const {
    const TimeRange time{since_epoch(message.whole_from()), since_epoch(message.time())};
    if (time.empty() || !is_near(time.begin) || !is_near(time.end)) return std::nullopt;
    return SavedPart{time, time.begin};
  }

  bool process_start(ProcessId id, const proto::ProcessStart& message) {
    Process& process = builder.process(id);
    dictionary_bytes -= bytes_of(process);
    process.pid = message.pid();
    process.parent_pid = message.parent_pid();
    process.executable = builder.kept(message.executable());
    process.arguments.assign(message.arguments().begin(), message.arguments().end());
    process.start = since_epoch(message.time());
    process.forked = message.forked();
    if (message.has_place()) process.place = described(message.place());
    dictionary_bytes += bytes_of(process);
    return true;
  }

  bool process_end(ProcessId id, const proto::ProcessEnd& message) {
    Process& process = builder.process(id);
    process.end = since_epoch(message.time());
    process.end_kind = known_kind(static_cast<int>(message.kind()), ProcessEndKind::kReplaced);
    process.exit_code = message.exit_code();
    process.signal = message.signal();
    process.crash_thread = message.crash_thread();
    process.crash_address = message.crash_address();
    process.completeness.unreturned_buffers = message.unreturned_buffers();
    return true;
  }

  // Resources that the session itself describes belong to no process.
  bool resources(const FrameHeader& header, const proto::Resources& message) {
    const bool has_process = header.process != 0;
    const ProcessId id = has_process ? process_of(header) : kNone;
    if (!has_process)
      for (const auto& device : message.devices()) builder.gpu(described(device));
    if (message.counters_size() > 0)
      with_dictionary(header, [&](Dictionary& dictionary) {
        define_counters(dictionary, id, message);
        return true;
      });
    return !has_process || resources(id, message);
  }

  void define_counters(Dictionary& dictionary, ProcessId process, const proto::Resources& message) {
    constexpr std::uint32_t kMaximumCounters = 1u << 16;
    for (const proto::Counter& counter : message.counters()) {
      if (counter.id() == 0 || counter.id() >= kMaximumCounters) continue;
      Counter description{process,         gpu_of(process, counter), counter.name(),        counter.unit(),       counter.resolution(),
                          counter.group(), counter.maximum(),        counter.source_name(), counter.description()};
      // Two counters of one source stay two counters, even if their descriptions are equal: GPUs without a uuid have counters of the same names.
      CounterId id = builder.counter(description);
      const auto [owner, is_first] = dictionary.id_of_counter.try_emplace(id, counter.id());
      if (!is_first && owner->second != counter.id()) {
        if (dictionary.counters[counter.id()] != 0) continue;  // it was described before
        id = builder.another_counter(description);
        dictionary.id_of_counter.emplace(id, counter.id());
      }
      dictionary.counters.place(counter.id()) = id + 1;
    }
  }

  GpuId gpu_of(ProcessId process, const proto::Counter& counter) {
    Gpu gpu;
    if (!counter.gpu_uuid().empty()) {
      gpu.uuid = counter.gpu_uuid();
      return builder.gpu(gpu);
    }
    if (counter.gpu() == 0) return kNone;
    gpu.ordinal = counter.gpu() - 1;
    return process == kNone ? builder.gpu(gpu) : builder.gpu_of_device(process, gpu.ordinal);
  }

  bool resources(ProcessId id, const proto::Resources& message) {
    for (const auto& device : message.devices()) builder.set_device(id, device.id(), described(device));
    for (const auto& context : message.contexts()) builder.set_context({id, context.id(), context.device(), context.null_stream()});
    for (const auto& stream : message.streams())
      builder.set_stream({id, stream.context(), stream.id(), stream.priority(), static_cast<std::uint32_t>(stream.kind()), stream.name()});
    for (const auto& name : message.cuda_names())
      builder.set_cuda_name({id, known_kind(static_cast<int>(name.resource()), CudaResource::kEvent), name.id(), name.name()});
    for (const auto& thread : message.threads()) {
      const ThreadId known = builder.thread(id, thread.id());
      builder.name_thread(known, thread.name());
      if (thread.has_priority()) builder.set_thread_priority(known, thread.priority());
    }
    for (const auto& domain : message.nvtx_domains()) builder.set_domain(id, domain.id(), domain.name());
    for (const auto& category : message.nvtx_categories()) builder.set_category(id, category.domain(), category.id(), category.name());
    return true;
  }

  // Counters are cumulative for each source; a process's completeness is the sum over its sources, plus the events that were found invalid here.
  bool add_counters(const FrameHeader& header, ProcessId id, const proto::Counters& message) {
    proto::Counters& before = counters[{header.process, header.source}];
    Completeness& total = builder.process(id).completeness;
    total.produced += message.produced() - before.produced();
    total.dropped += message.dropped() - before.dropped();
    total.late += message.late() - before.late();
    total.invalid += message.invalid() - before.invalid();
    before = message;
    return true;
  }

  bool diagnostic(const FrameHeader& header, const proto::Diagnostic& message) {
    if (message.known_from_minor_version() != 0 && message.known_from_minor_version() <= kFormatMinor) return true;
    if (header.source == proto::SOURCE_COMPACTION) {
      std::string sentences = message.text();
      if (sentences.ends_with(kRowsLeftOut)) {  // from before this kind
        sentences.resize(sentences.size() - kRowsLeftOut.size());
        if (sentences.ends_with(' ')) sentences.pop_back();
        DiagnosticMessage rows{.time = since_epoch(message.time()), .text = std::string(kRowsLeftOut)};
        rows.content.kind = DiagnosticKind::kRowsLeftOut;
        builder.add_diagnostic(std::move(rows));
      }
      builder.provenance().condition = std::move(sentences);
      source_was_cut |= message.severity() == proto::SEVERITY_ERROR;
      return true;
    }
    const ProcessId process = header.process == 0 ? kNone : builder.process_of_instance(header.process);
    builder.add_diagnostic(
        {since_epoch(message.time()), process, message.severity(), message.component(), message.state(), message.text(), content_of(message)});
    return true;
  }

  bool events(const FrameHeader& header, const DecodedChunk& decoded) {
    return with_dictionary(header, [&](Dictionary& dictionary) { return events(header, decoded, dictionary); });
  }

  bool events(const FrameHeader& header, const DecodedChunk& decoded, Dictionary& dictionary) {
    const proto::EventChunk& chunk = decoded.chunk;
    if (!extend(dictionary, chunk, builder)) return false;
    const bool is_of_no_process = header.process == 0 && std::holds_alternative<CounterSampleColumns>(decoded.columns);
    const ProcessId process = is_of_no_process ? kNone : process_of(header);
    const ChunkTarget into{builder, process, dictionary, kernel_names, since_epoch(chunk.base_time())};
    if (const auto* kernels = std::get_if<KernelColumns>(&decoded.columns)) return ingest(into, *kernels);
    if (const auto* calls = std::get_if<ApiCallColumns>(&decoded.columns)) return ingest(into, *calls);
    if (const auto* samples = std::get_if<CounterSampleColumns>(&decoded.columns)) return ingest(into, *samples);
    switch (chunk.events_case()) {
      case proto::EventChunk::kCopies:
        return ingest(into, chunk.copies());
      case proto::EventChunk::kSets:
        return ingest(into, chunk.sets());
      case proto::EventChunk::kSynchronizations:
        return ingest(into, chunk.synchronizations());
      case proto::EventChunk::kOverheads:
        return ingest(into, TrackKind::kOverhead, chunk.overheads());
      case proto::EventChunk::kCompilations:
        return ingest(into, TrackKind::kCompilation, chunk.compilations());
      case proto::EventChunk::kGraphLaunches:
        return ingest(into, chunk.graph_launches());
      case proto::EventChunk::kCudaEvents:
        return ingest(into, chunk.cuda_events());
      case proto::EventChunk::kMemoryUsage:
        return ingest(into, chunk.memory_usage());
      case proto::EventChunk::kNvtxRanges:
        return ingest(into, chunk.nvtx_ranges());
      case proto::EventChunk::kNvtxMarks:
        return ingest(into, chunk.nvtx_marks());
      case proto::EventChunk::kThreadStates:
        return ingest(into, chunk.thread_states());
      case proto::EventChunk::kSamples:
        return ingest(into, chunk.samples());
      case proto::EventChunk::kOsRuntime:
        return ingest(into, TrackKind::kOsRuntime, chunk.os_runtime());
      case proto::EventChunk::kPageFaults:
        return ingest(into, chunk.page_faults());
      case proto::EventChunk::kKernels:
      case proto::EventChunk::kApiCalls:
      case proto::EventChunk::kCounterSamples:  // these are columns
      case proto::EventChunk::EVENTS_NOT_SET:
        return true;
    }
    return true;
  }

  bool symbols(const FrameHeader& header, const proto::Symbols& message) {
    return with_dictionary(header, [&](Dictionary& dictionary) { return symbols(dictionary, message); });
  }

  bool symbols(Dictionary& dictionary, const proto::Symbols& message) {
    if (!extend_strings(dictionary, message.first_string(), message.strings(), builder)) return false;
    const auto text = [&](std::uint32_t id) { return dictionary.strings[id]; };
    for (const proto::LocationSymbol& symbol : message.locations()) {
      std::vector<CodeFunction> functions;
      for (const proto::FunctionAt& at : symbol.functions())
        if (text(at.function()) != 0) functions.push_back({text(at.function()), text(at.source_file()), at.source_line()});
      const CodeLocationId location = dictionary.code_locations[symbol.location()];
      if (location != 0 && !functions.empty()) builder.set_functions(location, std::move(functions));
    }
    return true;
  }

  template <typename Table>
  bool table(const Table& message) {
    const std::size_t before = tables.memory_bytes();
    const bool taken = tables.take(message, builder);
    dictionary_bytes += tables.memory_bytes() - before;
    return taken;
  }

  bool lane_segment(const LaneSegmentEvents& segment) {
    auto placed = tables.place(segment, epoch);
    if (!placed) return false;
    builder.add_to_lane(placed->track, placed->lane, std::move(placed->events));
    return true;
  }

  bool code_object(const FrameHeader& header, const proto::CodeObject& message) {
    return builder.add_code(process_of(header), message.crc(), message.size(), message.offset(), message.image());
  }

  bool pc_samples(const FrameHeader& header, const proto::PcSamples& message) {
    const ProcessId process = process_of(header);
    return with_dictionary(header, [&](Dictionary& dictionary) {
      return extend(dictionary, process, message, kernel_names, builder) &&
             ingest({builder, process, dictionary, kernel_names, since_epoch(message.begin())}, message);
    });
  }

  // One overload for each message.
  bool apply(const FrameHeader&, std::monostate) { return true; }
  bool apply(const FrameHeader&, const proto::SessionStart& message) { return session_start(message); }
  bool apply(const FrameHeader&, const proto::SessionEnd& message) { return session_end(message); }
  bool apply(const FrameHeader& header, const proto::ClockSync& message) { return clock_sync(header, message); }
  bool apply(const FrameHeader& header, const proto::ProcessStart& message) { return process_start(process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::ProcessEnd& message) { return process_end(process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::Resources& message) { return resources(header, message); }
  bool apply(const FrameHeader& header, const DecodedChunk& message) { return events(header, message); }
  bool apply(const FrameHeader&, const proto::Names& message) { return table(message); }
  bool apply(const FrameHeader&, const CallStackRows& rows) { return table(rows); }
  bool apply(const FrameHeader&, const proto::Details& message) { return table(message); }
  bool apply(const FrameHeader&, const proto::Tracks& message) { return table(message); }
  bool apply(const FrameHeader&, const LaneSegmentEvents& segment) { return lane_segment(segment); }
  bool apply(const FrameHeader& header, const proto::Symbols& message) { return symbols(header, message); }
  bool apply(const FrameHeader& header, const proto::Counters& message) { return add_counters(header, process_of(header), message); }
  bool apply(const FrameHeader& header, const proto::Diagnostic& message) { return diagnostic(header, message); }
  bool apply(const FrameHeader& header, const proto::CodeObject& message) { return code_object(header, message); }
  bool apply(const FrameHeader& header, const proto::PcSamples& message) { return pc_samples(header, message); }
  bool apply(const FrameHeader& header, const proto::KernelMetrics& message) { return ingest(header, message, kernel_names, builder); }
  bool apply(const FrameHeader& header, const proto::InstructionCounts& message) { return ingest(header, message, kernel_names, builder); }
  bool apply(const FrameHeader&, const proto::SourceFile& message) {
    builder.add(SourceText{message.path(), message.text()});
    return true;
  }
  bool apply(const FrameHeader&, const proto::Output& message) {
    builder.add_output({since_epoch(message.time()), message.stream() == proto::OUTPUT_STDERR, message.data()});
    return true;
  }

  ProcessId process_of(const FrameHeader& header) { return builder.process_of_instance(header.process); }
};

std::string malformed_frames(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " frame" : " frames") + " could not be understood and " + (count == 1 ? "was" : "were") + " skipped.";
}

FrameIngest::FrameIngest(TraceBuilder& builder) : state_(std::make_unique<State>(State{builder})) {}
FrameIngest::~FrameIngest() = default;

const std::vector<std::optional<TrackKey>>& FrameIngest::file_tracks() const noexcept { return state_->tables.tracks(); }
NameId FrameIngest::name_of_file(std::uint32_t id) const noexcept { return state_->tables.name(id); }
void FrameIngest::replace_names_of_file(std::span<NameId> ids) const noexcept {
  for (NameId& id : ids) id = state_->tables.name(id);
}
DetailId FrameIngest::detail_of_file(std::uint32_t track, DetailId id) const noexcept { return state_->tables.detail(track, id); }
std::optional<std::vector<Event>> FrameIngest::events_of(LaneSegmentEvents segment) const {
  auto placed = state_->tables.place(std::move(segment), state_->epoch);
  if (!placed) return std::nullopt;
  return std::move(placed->events);
}

std::optional<CounterId> FrameIngest::counter_of(std::uint32_t process, std::uint8_t source, std::uint32_t id) const noexcept {
  const auto found = state_->dictionaries.find({process, source});
  const CounterId one_more = found != state_->dictionaries.end() ? found->second.counters[id] : 0;
  return one_more != 0 ? std::optional(one_more - 1) : std::nullopt;
}

bool FrameIngest::place(LaneSegmentInColumns& segment) const { return state_->tables.place(segment, state_->epoch); }

void FrameIngest::set_open(std::span<const OpenRange> ranges) {
  std::vector<OpenEvent> events;
  for (const OpenRange& range : ranges) {
    const ChunkTarget into{state_->builder, state_->builder.process_of_instance(range.process),
                           state_->dictionaries[{range.process, static_cast<std::uint8_t>(proto::SOURCE_SESSION)}], state_->kernel_names};
    if (is_near(state_->since_epoch(range.start))) events.push_back(open_event(into, range, state_->epoch));
  }
  std::stable_sort(events.begin(), events.end(), [](const OpenEvent& a, const OpenEvent& b) { return a.event.start < b.event.start; });
  state_->builder.set_open(std::move(events));
}

std::uint64_t FrameIngest::malformed() const noexcept { return state_->malformed; }
std::string FrameIngest::skipped_text() const {
  std::string text = state_->malformed == 0 ? std::string() : malformed_frames(state_->malformed);
  if (const std::uint64_t unknown = state_->unknown_frames; unknown > 0)
    add_sentence(text, std::to_string(unknown) + (unknown == 1 ? " frame of a kind" : " frames of kinds") + " that this version does not know " +
                           (unknown == 1 ? "was" : "were") + " skipped (events: " + std::to_string(state_->unknown_events) + "): a newer Lanescope reads " +
                           (unknown == 1 ? "it." : "them."));
  return text;
}
bool FrameIngest::source_was_cut() const noexcept { return state_->source_was_cut; }
std::uint64_t FrameIngest::memory_bytes() const noexcept {
  constexpr std::uint64_t kNodeBytes = 64;
  return state_->builder.memory_bytes() + state_->dictionary_bytes + state_->kernel_names.cost() +
         state_->counters.size() * (kNodeBytes + sizeof(proto::Counters));
}

std::uint64_t FrameIngest::event_count() const noexcept { return state_->builder.event_count(); }

void FrameIngest::add(const DecodedFrame& frame) {
  const DecodedFrame::Content& content = *frame.content_;
  const bool understood = content.sound && std::visit([&](const auto& message) { return state_->apply(content.header, message); }, content.message);
  if (!understood) ++state_->malformed;
  const bool known = proto::FrameType_IsValid(content.header.type) || proto::KernelFrame_IsValid(content.header.type);
  if (known) return;
  ++state_->unknown_frames;
  state_->unknown_events += content.header.event_count;
}

void FrameIngest::add(const FrameView& frame) { add(DecodedFrame(frame)); }

}  // namespace lanescope
