#include "model/trace/trace_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "call_stack_builder.h"
#include "counter_builder.h"
#include "detail_index.h"
#include "gpu_index.h"
#include "kernel_records_builder.h"
#include "lane_builder.h"
#include "lane_thread.h"
#include "memory_totals.h"
#include "model/file/last_path_part.h"
#include "model/file/limits.h"
#include "model/trace/text/utf8.h"
#include "row_index.h"
#include "row_keys.h"
#include "stall_series.h"

namespace lanescope {
namespace {

// Bytes of table entries beside their contents: nodes of maps, links, overhead of the allocator.
constexpr std::size_t kEntryBytes = 160;
constexpr std::size_t kProcessBytes = 8 << 10;  // includes work: questions about all processes are asked of each
constexpr std::size_t kGpuBytes = 1 << 20;      // includes work: each is compared with all tracks
constexpr std::size_t kTrackBytes = 1'000;
// With one event: memory of the trace, and of all code that draws it, sums it up or looks for causes, which keeps something for each lane.
constexpr std::size_t kLaneBytes = 2'000;
constexpr std::size_t kTotalBytes = 72;    // of an allocation, in the totals of memory that are computed from all
constexpr std::size_t kTextCopies = 2;     // of a text that is no name: here, and in the trace that is made from it
constexpr std::size_t kGpuTextCopies = 4;  // here, in the trace, and in the index of GPUs

// As much of a text as may be kept, cut at the end of a character.
std::string cut_text(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";
  return std::string(first_bytes(text, limits::kTextBytes - kEllipsis.size())).append(kEllipsis);
}

struct TrackState {
  TrackState(SegmentWorkers* workers, LaneCount& count, EventMemory memory) : lanes(workers, &count, memory) {}
  TrackLanes lanes;
  std::vector<LaneId> ids;
  std::size_t known_depths = 0;
  bool changed = true;
};

// The name of native code while its function is not known: "libcudart.so.13+0x1f2a0".
std::string address_text(std::string_view module, std::uint64_t address) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), address, 16).ptr;
  std::string text(last_path_part(module));
  if (!text.empty()) text += '+';
  return text.append("0x").append(digits, end);
}

}  // namespace

struct TraceBuilder::State {
  Trace trace;  // the next snapshot, except for lanes
  std::map<TrackKey, TrackId> track_ids;
  std::deque<TrackState> tracks;  // whose addresses stay
  RowIndex name_ids;              // of trace.names_
  std::map<std::uint32_t, ProcessId> process_ids;
  GpuIndex gpu_ids;
  RowKeys<std::pair<ProcessId, std::uint32_t>> devices;
  RowKeys<std::pair<ProcessId, std::uint32_t>> contexts;
  RowKeys<std::tuple<ProcessId, std::uint32_t, std::uint32_t>> streams;
  RowKeys<std::tuple<ProcessId, CudaResource, std::uint32_t>> cuda_names;
  RowKeys<std::pair<ProcessId, std::uint32_t>> domains;
  RowKeys<std::tuple<ProcessId, std::uint32_t, std::uint32_t>> categories;
  std::size_t resources_indexed = 0;  // rows of tables that are in the snapshot's index
  std::uint64_t entry_bytes = 0;      // of processes, threads, resources and messages
  std::uint64_t event_count = 0;
  std::uint64_t kept_events = 0;  // on lanes
  LaneCount lane_count;
  std::map<std::pair<ProcessId, std::uint32_t>, ThreadId> thread_ids;
  DetailIndex<KernelDetail> kernels;
  DetailIndex<MemoryDetail> memory;
  DetailIndex<ApiDetail> api;
  DetailIndex<SynchronizationDetail> synchronizations;
  DetailIndex<CudaEventDetail> cuda_events;
  DetailIndex<MemoryUsageDetail> memory_usage;
  DetailIndex<GraphLaunchDetail> graph_launches;
  DetailIndex<NvtxDetail> nvtx;
  DetailIndex<PageFaultDetail> page_faults;
  DetailIndex<ThreadStateDetail> thread_states;
  DetailIndex<SampleDetail> samples;
  CallStackBuilder call_stacks;
  std::uint64_t cut_texts = 0;
  std::optional<std::size_t> note_of_cuts;  // the diagnostic about cut texts
  CounterBuilder counters;
  KernelRecordsBuilder kernel_records;
  bool stalls_lag = false;  // kernel_records is newer than the series of warp stalls
  StallRows stall_rows;
  Nanoseconds new_kernels_from = std::numeric_limits<Nanoseconds>::max();  // the earliest start of kernels that were added since
  std::optional<SegmentWorkers> segment_workers;
  std::vector<OpenEvent> open;
  std::vector<EventRef> open_events;  // of these, in the last snapshot
  EventSink* sink = nullptr;          // in place of lanes
  EventMemory memory_of_events = EventMemory::kAll;
  std::optional<LaneThread> lane_thread;  // last: it works on tracks

  void note_kernels(const TrackKey& key, Nanoseconds earliest) {
    if (key.kind == TrackKind::kKernels) new_kernels_from = std::min(new_kernels_from, earliest);
  }

  // The part of a text that is kept.
  [[nodiscard]] std::string kept(std::string_view text) {
    if (text.size() <= limits::kTextBytes) return std::string(text);
    ++cut_texts;
    return cut_text(text);
  }
  // Replaces a text that is already counted.
  void set_text(std::string& known, std::string_view text) {
    std::string given = kept(text);
    entry_bytes += kTextCopies * given.size();
    entry_bytes -= kTextCopies * known.size();
    known = std::move(given);
  }

  [[nodiscard]] static std::size_t text_bytes(const Gpu& gpu) { return kGpuTextCopies * (gpu.name.size() + gpu.uuid.size() + gpu.bus_id.size()); }
  void describe(GpuId id, const Gpu& description) {
    Gpu& known = trace.gpus_[id];
    gpu_ids.remove(id, known);
    entry_bytes += text_bytes(description);
    entry_bytes -= text_bytes(known);
    known = description;
    gpu_ids.add(id, known);
  }
  // The GPU with its texts cut.
  [[nodiscard]] Gpu kept(Gpu gpu) {
    for (std::string* const text : {&gpu.name, &gpu.uuid, &gpu.bus_id})
      if (text->size() > limits::kTextBytes) *text = kept(std::string_view(*text));
    return gpu;
  }

  // One diagnostic, whose numbers grow during reading.
  void say_what_was_cut() {
    constexpr int kWarning = 1;
    std::string text;
    if (cut_texts > 0) text = "Texts of more than 64 KiB were cut: " + std::to_string(cut_texts) + ".";
    if (call_stacks.too_deep() > 0)
      text += std::string(text.empty() ? "" : " ") + "Calls that lie more than " + std::to_string(limits::kCallDepth) +
              " deep count for their callers: " + std::to_string(call_stacks.too_deep()) + ".";
    if (text.empty()) return;
    if (!note_of_cuts) {
      note_of_cuts = trace.diagnostics_.size();
      trace.diagnostics_.push_back({.severity = kWarning});
    }
    trace.diagnostics_[*note_of_cuts].text = std::move(text);
  }

  NameId intern(std::string_view text, std::uint64_t hash) {
    NameTable& names = trace.names_;
    const std::uint32_t known = name_ids.find(hash, [&](std::uint32_t id) { return names[id] == text; });
    if (known != kNone) return known;
    name_ids.append(hash, [&](std::uint32_t id) { return hash_of(names[id]); });
    return static_cast<NameId>(names.append(text));
  }

  TrackId track_id(const TrackKey& key) {
    const auto [found, inserted] = track_ids.try_emplace(key, static_cast<TrackId>(tracks.size()));
    if (inserted) {
      tracks.emplace_back(segment_workers ? &*segment_workers : nullptr, lane_count, memory_of_events);
      trace.tracks_.push_back({key, {}});
      entry_bytes += kTrackBytes;
    }
    return found->second;
  }

  // Gives a track's lanes their places in the trace.
  void number_lanes(TrackId id) {
    TrackState& track = tracks[id];
    while (track.ids.size() < track.lanes.lanes().size()) {
      track.ids.push_back(static_cast<LaneId>(trace.lanes_.size()));
      trace.lanes_.emplace_back();
      trace.track_of_lane_.push_back(id);
    }
  }

  void count_events(const TrackKey& key, std::size_t events) {
    if (key.kind != TrackKind::kProcessors) event_count += events;
    if (sink == nullptr) kept_events += events;
  }
  void count_lanes(TrackState& track, std::uint32_t deepest) {
    const std::size_t lanes = TrackLanes::lane_of_depth(deepest) + std::size_t{1};
    entry_bytes += (lanes - std::min(lanes, track.known_depths)) * kLaneBytes;
    track.known_depths = std::max(track.known_depths, lanes);
  }
};

TraceBuilder::TraceBuilder(LaneWork lane_work, EventMemory memory) : state_(std::make_unique<State>()) {
  state_->memory_of_events = memory;
  intern("");
  if (lane_work == LaneWork::kWhereAdded) return;
  state_->segment_workers.emplace(memory);
  state_->lane_thread.emplace();
}
TraceBuilder::TraceBuilder(EventSink& sink) : TraceBuilder(LaneWork::kWhereAdded) { state_->sink = &sink; }
TraceBuilder::~TraceBuilder() = default;

Provenance& TraceBuilder::provenance() { return state_->trace.provenance_; }

ProcessId TraceBuilder::process_of_instance(std::uint32_t instance) {
  auto& processes = state_->trace.processes_;
  const auto [found, inserted] = state_->process_ids.try_emplace(instance, static_cast<ProcessId>(processes.size()));
  if (inserted) {
    processes.emplace_back();
    processes.back().instance = instance;
    state_->entry_bytes += kProcessBytes;
  }
  return found->second;
}

Process& TraceBuilder::process(ProcessId id) { return state_->trace.processes_[id]; }
std::string TraceBuilder::kept(std::string_view text) { return state_->kept(text); }

ThreadId TraceBuilder::thread(ProcessId process, std::uint32_t tid) {
  auto& threads = state_->trace.threads_;
  const auto [found, inserted] = state_->thread_ids.try_emplace({process, tid}, static_cast<ThreadId>(threads.size()));
  if (inserted) {
    threads.push_back({process, tid, {}, {}});
    state_->entry_bytes += sizeof(Thread) + kEntryBytes;
  }
  return found->second;
}

void TraceBuilder::name_thread(ThreadId id, std::string_view name) { state_->set_text(state_->trace.threads_[id].name, name); }
void TraceBuilder::set_thread_priority(ThreadId id, std::int32_t priority) { state_->trace.threads_[id].priority = priority; }

GpuId TraceBuilder::gpu(const Gpu& given) {
  auto& gpus = state_->trace.gpus_;
  const Gpu description = state_->kept(given);
  const GpuId found = state_->gpu_ids.find(description);
  if (found == kNone) {
    const auto id = static_cast<GpuId>(gpus.size());
    gpus.push_back(description);
    state_->gpu_ids.add(id, description);
    state_->entry_bytes += kGpuBytes + State::text_bytes(description);
    return id;
  }
  // The sampler of GPU metrics knows less of a GPU than a process that uses it.
  Gpu& known = gpus[found];
  if (known.name.empty() || (known.multiprocessor_count == 0 && description.multiprocessor_count > 0)) state_->describe(found, description);
  return found;
}

GpuId TraceBuilder::gpu_of_device(ProcessId process, std::uint32_t ordinal) {
  auto& devices = state_->trace.devices_;
  const auto [row, is_new] = state_->devices.of({process, ordinal}, devices.size());
  if (is_new) {
    Gpu nameless;
    nameless.ordinal = ordinal;
    devices.push_back({process, ordinal, gpu(nameless)});
    state_->entry_bytes += kEntryBytes;
  }
  return devices[row].gpu;
}

void TraceBuilder::set_device(ProcessId process, std::uint32_t ordinal, const Gpu& description) {
  auto& devices = state_->trace.devices_;
  const auto [row, is_new] = state_->devices.of({process, ordinal}, devices.size());
  if (is_new) {
    devices.push_back({process, ordinal, gpu(description)});
    state_->entry_bytes += kEntryBytes;
    return;
  }
  // Events may have come before the description: they keep the id.
  if (state_->trace.gpus_[devices[row].gpu].name.empty()) state_->describe(devices[row].gpu, state_->kept(description));
}

void TraceBuilder::set_context(const CudaContext& context) {
  auto& contexts = state_->trace.contexts_;
  const auto [row, is_new] = state_->contexts.of({context.process, context.id}, contexts.size());
  if (is_new) {
    contexts.push_back(context);
    state_->entry_bytes += kEntryBytes;
  } else {
    contexts[row] = context;
  }
}

void TraceBuilder::set_stream(const CudaStream& stream) {
  auto& streams = state_->trace.streams_;
  const auto [row, is_new] = state_->streams.of({stream.process, stream.context, stream.id}, streams.size());
  if (is_new) {
    streams.push_back({stream.process, stream.context, stream.id, 0, 0, {}});
    state_->entry_bytes += kEntryBytes + sizeof(CudaStream);
  }
  CudaStream& known = streams[row];
  if (stream.kind != 0 || known.kind == 0) {
    known.priority = stream.priority;
    known.kind = stream.kind;
  }
  if (!stream.name.empty()) state_->set_text(known.name, stream.name);
}

void TraceBuilder::set_cuda_name(const CudaName& name) {
  auto& names = state_->trace.cuda_names_;
  const auto [row, is_new] = state_->cuda_names.of({name.process, name.resource, name.id}, names.size());
  if (is_new) {
    names.push_back({name.process, name.resource, name.id, {}});
    state_->entry_bytes += kEntryBytes + sizeof(CudaName);
  }
  state_->set_text(names[row].name, name.name);
}

std::string_view TraceBuilder::cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const {
  const auto row = state_->cuda_names.find({process, resource, id});
  return row ? std::string_view(state_->trace.cuda_names_[*row].name) : std::string_view();
}

void TraceBuilder::set_domain(ProcessId process, std::uint32_t id, std::string_view name) {
  auto& domains = state_->trace.domains_;
  const auto [row, is_new] = state_->domains.of({process, id}, domains.size());
  if (is_new) {
    domains.push_back({process, id, {}});
    state_->entry_bytes += kEntryBytes + sizeof(NvtxDomainName);
  }
  state_->set_text(domains[row].name, name);
}

void TraceBuilder::set_category(ProcessId process, std::uint32_t domain, std::uint32_t id, std::string_view name) {
  auto& categories = state_->trace.categories_;
  const auto [row, is_new] = state_->categories.of({process, domain, id}, categories.size());
  if (is_new) {
    categories.push_back({process, domain, id, {}});
    state_->entry_bytes += kEntryBytes + sizeof(NvtxCategoryName);
  }
  state_->set_text(categories[row].name, name);
}

void TraceBuilder::add_diagnostic(DiagnosticMessage message) {
  message.text = state_->kept(message.text);
  state_->entry_bytes += kTextCopies * (sizeof(DiagnosticMessage) + message.text.size());
  state_->trace.diagnostics_.push_back(std::move(message));
}
void TraceBuilder::add_output(OutputText output) {
  state_->entry_bytes += kTextCopies * (sizeof(OutputText) + output.bytes.size());
  state_->trace.output_.push_back(std::move(output));
}

NameId TraceBuilder::intern(std::string_view text) {
  if (text.size() > limits::kTextBytes) {
    ++state_->cut_texts;
    return intern(cut_text(text));
  }
  return state_->intern(text, hash_of(text));
}

std::vector<NameId> TraceBuilder::intern(std::span<const std::string* const> texts) {
  std::vector<NameId> ids;
  ids.reserve(texts.size());
  std::array<std::uint64_t, RowIndex::kAtOnce> hashes;
  while (!texts.empty()) {
    const auto some = texts.first(std::min(texts.size(), hashes.size()));
    for (std::size_t i = 0; i < some.size(); ++i) state_->name_ids.prefetch(hashes[i] = hash_of(*some[i]));
    for (std::size_t i = 0; i < some.size(); ++i) ids.push_back(some[i]->size() > limits::kTextBytes ? intern(*some[i]) : state_->intern(*some[i], hashes[i]));
    texts = texts.subspan(some.size());
  }
  return ids;
}

std::string_view TraceBuilder::text(NameId id) const { return state_->trace.names_[id]; }

DetailId TraceBuilder::intern(const KernelDetail& detail) { return state_->kernels.intern(detail); }
DetailId TraceBuilder::intern(const MemoryDetail& detail) { return state_->memory.intern(detail); }
DetailId TraceBuilder::intern(const ApiDetail& detail) { return state_->api.intern(detail); }
DetailId TraceBuilder::intern(const SynchronizationDetail& detail) { return state_->synchronizations.intern(detail); }
DetailId TraceBuilder::intern(const CudaEventDetail& detail) { return state_->cuda_events.intern(detail); }
DetailId TraceBuilder::intern(const MemoryUsageDetail& detail) { return state_->memory_usage.intern(detail); }
DetailId TraceBuilder::intern(const GraphLaunchDetail& detail) { return state_->graph_launches.intern(detail); }
DetailId TraceBuilder::intern(const NvtxDetail& detail) { return state_->nvtx.intern(detail); }
DetailId TraceBuilder::intern(const PageFaultDetail& detail) { return state_->page_faults.intern(detail); }
DetailId TraceBuilder::intern(const ThreadStateDetail& detail) { return state_->thread_states.intern(detail); }
DetailId TraceBuilder::intern(const SampleDetail& detail) { return state_->samples.intern(detail); }

CodeLocationId TraceBuilder::code_location(const CodeLocation& location, const CodeFunction& function) {
  CodeFunction named = function;
  if (named.function == 0) named.function = intern(address_text(text(location.module), location.address));
  return state_->call_stacks.location(location, named);
}
CallNodeId TraceBuilder::call_node(const CallNode& node) { return state_->call_stacks.node(node); }
CallNodeId TraceBuilder::another_call_node(const CallNode& node) { return state_->call_stacks.another_node(node); }
void TraceBuilder::set_functions(CodeLocationId location, std::vector<CodeFunction> functions) {
  state_->call_stacks.set_functions(location, std::move(functions));
}

void TraceBuilder::add(const TrackKey& key, std::vector<Event> events, std::span<const std::uint32_t> depths) {
  const auto is_invalid = [](const Event& event) { return event.duration < 0 || !is_near(event.start) || !is_near(event.duration); };
  std::vector<std::uint32_t> valid_depths(depths.begin(), depths.end());
  if (std::any_of(events.begin(), events.end(), is_invalid)) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (is_invalid(events[i])) continue;
      if (!depths.empty()) valid_depths[kept] = depths[i];
      events[kept++] = events[i];
    }
    if (key.process != kNone) state_->trace.processes_[key.process].completeness.invalid += events.size() - kept;
    events.resize(kept);
  }
  if (events.empty()) return;
  const auto begins_first = [](const Event& a, const Event& b) { return a.start < b.start; };
  if (key.kind == TrackKind::kKernels) state_->note_kernels(key, std::min_element(events.begin(), events.end(), begins_first)->start);
  const TrackId id = state_->track_id(key);
  valid_depths.resize(depths.empty() ? 0 : events.size());
  state_->count_events(key, events.size());
  if (state_->sink) return state_->sink->take(id, std::move(events), std::move(valid_depths));
  TrackState& track = state_->tracks[id];
  track.changed = true;
  // All lanes above the deepest are created, even if there is nothing on them.
  if (!valid_depths.empty()) state_->count_lanes(track, *std::max_element(valid_depths.begin(), valid_depths.end()));
  if (state_->lane_thread)
    state_->lane_thread->add(track.lanes, std::move(events), std::move(valid_depths));
  else if (depths.empty())
    track.lanes.add(std::move(events));
  else
    track.lanes.add_at_depths(std::move(events), valid_depths);
}

void TraceBuilder::add_to_lane(const TrackKey& key, std::uint32_t lane, std::vector<Event> events) {
  if (events.empty()) return;
  if (state_->sink || !is_near(events.front().start) || !is_near(events.back().end())) {
    const std::vector<std::uint32_t> depths(events.size(), lane);
    return add(key, std::move(events), depths);
  }
  state_->note_kernels(key, events.front().start);
  state_->count_events(key, events.size());
  TrackState& track = state_->tracks[state_->track_id(key)];
  track.changed = true;
  state_->count_lanes(track, lane);
  if (state_->lane_thread)
    state_->lane_thread->add_to_lane(track.lanes, lane, std::move(events));
  else
    track.lanes.add_to_lane(lane, std::move(events));
}

// Lanes that had or get one are published anew.
void TraceBuilder::set_open(std::vector<OpenEvent> events) {
  for (const std::vector<OpenEvent>* open : {&state_->open, &events})
    for (const OpenEvent& event : *open) state_->tracks[state_->track_id(event.track)].changed = true;
  state_->open = std::move(events);
}

const std::vector<EventRef>& TraceBuilder::open_events() const noexcept { return state_->open_events; }

void TraceBuilder::publish_open() {
  state_->open_events.clear();
  std::set<LaneId> taken;
  for (const OpenEvent& open : state_->open) {
    const TrackId id = state_->track_id(open.track);
    TrackState& track = state_->tracks[id];
    std::vector<GrowingLane>& lanes = track.lanes.lanes();
    const auto is_free = [&](std::size_t i) { return i >= track.ids.size() || (!taken.contains(track.ids[i]) && lanes[i].ends_before(open.event.start)); };
    std::size_t index = open.depth ? TrackLanes::lane_of_depth(*open.depth) : 0;
    while (!open.depth && !is_free(index)) ++index;
    if (!is_free(index)) continue;
    const GrowingLane& lane = track.lanes.lane(index);
    state_->count_lanes(track, static_cast<std::uint32_t>(index));
    state_->number_lanes(id);
    state_->trace.lanes_[track.ids[index]] = lane.publish_with(open.event);
    state_->trace.tracks_[id].lanes = track.ids;
    taken.insert(track.ids[index]);
    state_->open_events.push_back({track.ids[index], lane.size()});
  }
}

TraceBuilder::DetailTables TraceBuilder::details() const noexcept {
  const State& state = *state_;
  return {state.kernels.rows(),      state.memory.rows(),         state.api.rows(),  state.synchronizations.rows(), state.cuda_events.rows(),
          state.memory_usage.rows(), state.graph_launches.rows(), state.nvtx.rows(), state.page_faults.rows(),      state.thread_states.rows(),
          state.samples.rows()};
}

CounterId TraceBuilder::counter(const Counter& description) { return state_->counters.add(description); }
CounterId TraceBuilder::another_counter(const Counter& description) { return state_->counters.add_another(description); }
bool TraceBuilder::add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times, std::span<const std::vector<std::int64_t>> columns,
                               Nanoseconds end) {
  if (state_->sink) return true;
  return state_->counters.add_samples(counters, times, columns, end);
}
bool TraceBuilder::add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part) {
  return state_->kernel_records.add_code(process, crc, size, offset, part);
}
GpuFunctionId TraceBuilder::gpu_function(const GpuFunction& function) { return state_->kernel_records.function(function); }
std::uint32_t TraceBuilder::stall_reason(std::string_view name) { return state_->kernel_records.reason(name); }
void TraceBuilder::add(PcSampleWindow window) { state_->kernel_records.add(std::move(window)); }
std::uint32_t TraceBuilder::kernel_metric(std::string_view name) { return state_->kernel_records.metric(name); }
void TraceBuilder::add(MeasuredLaunch launch) { state_->kernel_records.add(std::move(launch)); }
void TraceBuilder::add(InstructionCounts counts) { state_->kernel_records.add(std::move(counts)); }
void TraceBuilder::add(LeftOutKernel kernel) { state_->kernel_records.add(std::move(kernel)); }
void TraceBuilder::add(SourceText source) { state_->kernel_records.add(std::move(source)); }

void TraceBuilder::set_series(CounterId counter, CounterSeries series) { state_->counters.set_series(counter, std::move(series)); }

void TraceBuilder::give_series(CounterId counter, CounterSeries series) { state_->counters.give_series(counter, std::move(series)); }

std::uint64_t TraceBuilder::memory_bytes() const noexcept {
  const State& state = *state_;
  const auto of_details = [](const auto&... tables) { return (tables.memory_bytes() + ...); };
  return state.entry_bytes + state.kept_events * limits::kEventMemory + state.memory_usage.rows().size() * kTotalBytes +
         state.lane_count.load(std::memory_order_relaxed) * kLaneBytes + state.trace.names_.memory_bytes() + state.name_ids.memory_bytes() +
         state.call_stacks.memory_bytes() + state.counters.memory_bytes() + state.kernel_records.memory_bytes() +
         of_details(state.kernels, state.memory, state.api, state.synchronizations, state.cuda_events, state.memory_usage, state.graph_launches, state.nvtx,
                    state.page_faults, state.thread_states, state.samples);
}

std::uint64_t TraceBuilder::event_count() const noexcept { return state_->event_count; }

std::shared_ptr<const Trace> TraceBuilder::snapshot_with(std::vector<GivenLane> lanes, MemoryTotals totals) {
  Trace& trace = state_->trace;
  trace.lanes_.resize(trace.track_of_lane_.size());
  for (GivenLane& given : lanes) {
    const TrackId id = state_->track_id(given.track);
    state_->tracks[id].changed = false;  // the track has nothing to publish
    std::vector<LaneId>& of_track = trace.tracks_[id].lanes;
    while (of_track.size() <= given.number) {
      of_track.push_back(static_cast<LaneId>(trace.lanes_.size()));
      trace.lanes_.emplace_back();
      trace.track_of_lane_.push_back(id);
    }
    trace.lanes_[of_track[given.number]] = std::move(given.lane);
    if (given.track.kind != TrackKind::kKernels) continue;
    state_->stalls_lag = true;
    state_->new_kernels_from = std::numeric_limits<Nanoseconds>::min();  // any kernel
  }
  auto made = snapshot(totals);
  trace.lanes_.clear();
  return made;
}

std::shared_ptr<const Trace> TraceBuilder::snapshot() { return snapshot(MemoryTotals::kNow); }

std::shared_ptr<const Trace> TraceBuilder::snapshot(MemoryTotals totals) {
  if (state_->lane_thread) state_->lane_thread->wait();
  Trace& trace = state_->trace;
  for (TrackState& track : state_->tracks)
    if (track.changed) track.lanes.settle();
  for (Process& process : trace.processes_)
    if (process.name.empty()) process.name = last_path_part(process.executable);
  for (TrackState& track : state_->tracks)
    if (track.changed)
      for (GrowingLane& lane : track.lanes.lanes()) lane.prepare_to_publish();
  bool kernels_changed = false;
  for (TrackId id = 0; id < state_->tracks.size(); ++id) {
    TrackState& track = state_->tracks[id];
    if (!track.changed) continue;
    kernels_changed |= trace.tracks_[id].key.kind == TrackKind::kKernels;
    auto& growing = track.lanes.lanes();
    state_->number_lanes(id);
    for (std::size_t i = 0; i < growing.size(); ++i) trace.lanes_[track.ids[i]] = growing[i].publish();
    trace.tracks_[id].lanes = track.ids;
    track.changed = false;
  }
  publish_open();
  trace.event_count_ = 0;
  TimeRange extent{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  for (const Lane& lane : trace.lanes_) {
    if (lane.empty()) continue;
    trace.event_count_ += lane.size();
    extent.begin = std::min(extent.begin, lane.extent().begin);
    extent.end = std::max(extent.end, lane.extent().end);
  }
  trace.memory_usage_details_ = state_->memory_usage.rows();
  for (const Track& track : trace.tracks_)
    if (track.key.kind == TrackKind::kMemoryUsage && totals == MemoryTotals::kNow)
      for (MemoryTotal& total : memory_totals(trace, track, extent.end)) set_series(counter(total.counter), std::move(total.series));
  if (auto records = state_->kernel_records.publish(); records != trace.kernel_records_) {
    trace.kernel_records_ = std::move(records);
    state_->stalls_lag = true;
  }
  if (totals == MemoryTotals::kNow && !trace.kernel_records_->windows.empty() && (std::exchange(state_->stalls_lag, false) || kernels_changed)) {
    const Nanoseconds from = std::exchange(state_->new_kernels_from, std::numeric_limits<Nanoseconds>::max());
    for (StallSeries& stalls : state_->stall_rows.update(trace, from)) set_series(counter(stalls.counter), std::move(stalls.series));
  }
  trace.counter_series_ = state_->counters.publish();
  trace.counters_ = state_->counters.counters();
  if (trace.event_count_ == 0) {
    for (const CounterSeries& series : trace.counter_series_) {
      if (series.empty()) continue;
      extent.begin = std::min(extent.begin, series.extent().begin);
      extent.end = std::max(extent.end, series.extent().end);
    }
  }
  trace.extent_ = extent.begin <= extent.end ? extent : TimeRange{};
  trace.kernel_details_ = state_->kernels.rows();
  trace.memory_details_ = state_->memory.rows();
  trace.api_details_ = state_->api.rows();
  trace.synchronization_details_ = state_->synchronizations.rows();
  trace.cuda_event_details_ = state_->cuda_events.rows();
  trace.graph_launch_details_ = state_->graph_launches.rows();
  trace.nvtx_details_ = state_->nvtx.rows();
  trace.page_fault_details_ = state_->page_faults.rows();
  trace.thread_state_details_ = state_->thread_states.rows();
  trace.sample_details_ = state_->samples.rows();
  trace.call_stacks_ = state_->call_stacks.snapshot();
  state_->say_what_was_cut();
  const std::size_t resources =
      trace.streams_.size() + trace.cuda_names_.size() + trace.domains_.size() + trace.categories_.size() + trace.devices_.size() + trace.tracks_.size();
  if (resources != state_->resources_indexed || resources == 0) trace.index_resources();
  state_->resources_indexed = resources;
  return std::make_shared<const Trace>(trace);
}

}  // namespace lanescope
