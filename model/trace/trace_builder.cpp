#include "model/trace/trace_builder.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>

#include "call_stack_builder.h"
#include "counter_builder.h"
#include "lane_builder.h"
#include "lane_thread.h"
#include "memory_totals.h"

namespace lanescope {
namespace {

// Row 0 of every table is the default: nothing known.
template <typename Detail>
class DetailIndex {
 public:
  DetailIndex() { ids_.emplace(Detail{}, static_cast<DetailId>(rows_.append({}))); }

  DetailId intern(const Detail& detail) {
    // Consecutive events mostly share their detail.
    if (detail == last_) return last_id_;
    auto [found, inserted] = ids_.try_emplace(detail, static_cast<DetailId>(rows_.size()));
    if (inserted) rows_.append(detail);
    last_ = detail;
    last_id_ = found->second;
    return last_id_;
  }

  [[nodiscard]] const AppendOnlyTable<Detail>& rows() const { return rows_; }

 private:
  std::map<Detail, DetailId> ids_;
  AppendOnlyTable<Detail> rows_;
  Detail last_;
  DetailId last_id_ = 0;
};

struct TrackState {
  explicit TrackState(SegmentWorkers* workers) : lanes(workers) {}
  TrackLanes lanes;
  std::vector<LaneId> ids;
  bool changed = true;
};

std::string_view last_path_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// What native code is called while its function is not known: "libcudart.so.13+0x1f2a0".
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
  std::deque<TrackState> tracks;                          // which stay where they are
  std::unordered_map<std::string_view, NameId> name_ids;  // views into `names`, which never moves
  std::map<std::uint32_t, ProcessId> process_ids;
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
  CounterBuilder counters;
  std::optional<SegmentWorkers> segment_workers;
  std::optional<LaneThread> lane_thread;  // last: it works on tracks

  TrackState& track(const TrackKey& key) {
    const auto [found, inserted] = track_ids.try_emplace(key, static_cast<TrackId>(tracks.size()));
    if (inserted) {
      tracks.emplace_back(segment_workers ? &*segment_workers : nullptr);
      trace.tracks_.push_back({key, {}});
    }
    return tracks[found->second];
  }
};

TraceBuilder::TraceBuilder(LaneWork lane_work) : state_(std::make_unique<State>()) {
  intern("");
  if (lane_work == LaneWork::kWhereAdded) return;
  state_->segment_workers.emplace();
  state_->lane_thread.emplace();
}
TraceBuilder::~TraceBuilder() = default;

Provenance& TraceBuilder::provenance() { return state_->trace.provenance_; }

ProcessId TraceBuilder::process_of_instance(std::uint32_t instance) {
  auto& processes = state_->trace.processes_;
  const auto [found, inserted] = state_->process_ids.try_emplace(instance, static_cast<ProcessId>(processes.size()));
  if (inserted) {
    processes.emplace_back();
    processes.back().instance = instance;
  }
  return found->second;
}

Process& TraceBuilder::process(ProcessId id) { return state_->trace.processes_[id]; }

ThreadId TraceBuilder::thread(ProcessId process, std::uint32_t tid) {
  auto& threads = state_->trace.threads_;
  const auto [found, inserted] = state_->thread_ids.try_emplace({process, tid}, static_cast<ThreadId>(threads.size()));
  if (inserted) threads.push_back({process, tid, {}, {}});
  return found->second;
}

void TraceBuilder::name_thread(ThreadId id, std::string_view name) { state_->trace.threads_[id].name = name; }
void TraceBuilder::set_thread_priority(ThreadId id, std::int32_t priority) { state_->trace.threads_[id].priority = priority; }

GpuId TraceBuilder::gpu(const Gpu& description) {
  auto& gpus = state_->trace.gpus_;
  const auto same = [&](const Gpu& known) {
    if (!known.uuid.empty() && !description.uuid.empty()) return known.uuid == description.uuid;
    return known.ordinal == description.ordinal && (known.name == description.name || known.name.empty() || description.name.empty());
  };
  const auto found = std::find_if(gpus.begin(), gpus.end(), same);
  if (found == gpus.end()) {
    gpus.push_back(description);
    return static_cast<GpuId>(gpus.size() - 1);
  }
  // The sampler of GPU metrics knows less of a GPU than a process that uses it.
  if (found->name.empty() || (found->multiprocessor_count == 0 && description.multiprocessor_count > 0)) *found = description;
  return static_cast<GpuId>(found - gpus.begin());
}

GpuId TraceBuilder::gpu_of_device(ProcessId process, std::uint32_t ordinal) {
  for (const CudaDevice& device : state_->trace.devices_)
    if (device.process == process && device.ordinal == ordinal) return device.gpu;
  Gpu nameless;
  nameless.ordinal = ordinal;
  const GpuId id = gpu(nameless);
  state_->trace.devices_.push_back({process, ordinal, id});
  return id;
}

void TraceBuilder::set_device(ProcessId process, std::uint32_t ordinal, const Gpu& description) {
  for (CudaDevice& device : state_->trace.devices_) {
    if (device.process != process || device.ordinal != ordinal) continue;
    // Events may have come before the description did: they keep the id.
    if (Gpu& known = state_->trace.gpus_[device.gpu]; known.name.empty()) known = description;
    return;
  }
  state_->trace.devices_.push_back({process, ordinal, gpu(description)});
}

void TraceBuilder::set_context(const CudaContext& context) {
  for (CudaContext& known : state_->trace.contexts_) {
    if (known.process != context.process || known.id != context.id) continue;
    known = context;
    return;
  }
  state_->trace.contexts_.push_back(context);
}

void TraceBuilder::set_stream(const CudaStream& stream) {
  for (CudaStream& known : state_->trace.streams_) {
    if (known.process != stream.process || known.context != stream.context || known.id != stream.id) continue;
    const std::string name = stream.name.empty() ? known.name : stream.name;
    if (stream.kind != 0 || known.kind == 0) known = stream;
    known.name = name;
    return;
  }
  state_->trace.streams_.push_back(stream);
}

void TraceBuilder::set_cuda_name(const CudaName& name) {
  for (CudaName& known : state_->trace.cuda_names_) {
    if (known.process != name.process || known.resource != name.resource || known.id != name.id) continue;
    known.name = name.name;
    return;
  }
  state_->trace.cuda_names_.push_back(name);
}

std::string_view TraceBuilder::cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const {
  return state_->trace.cuda_name(process, resource, id);
}

void TraceBuilder::set_domain(ProcessId process, std::uint32_t id, std::string_view name) {
  for (NvtxDomainName& known : state_->trace.domains_) {
    if (known.process != process || known.id != id) continue;
    known.name = name;
    return;
  }
  state_->trace.domains_.push_back({process, id, std::string(name)});
}

void TraceBuilder::set_category(ProcessId process, std::uint32_t domain, std::uint32_t id, std::string_view name) {
  for (NvtxCategoryName& known : state_->trace.categories_) {
    if (known.process != process || known.domain != domain || known.id != id) continue;
    known.name = name;
    return;
  }
  state_->trace.categories_.push_back({process, domain, id, std::string(name)});
}

void TraceBuilder::add_diagnostic(DiagnosticMessage message) { state_->trace.diagnostics_.push_back(std::move(message)); }
void TraceBuilder::add_output(OutputText output) { state_->trace.output_.push_back(std::move(output)); }

NameId TraceBuilder::intern(std::string_view text) {
  if (const auto found = state_->name_ids.find(text); found != state_->name_ids.end()) return found->second;
  const auto id = static_cast<NameId>(state_->trace.names_.append(std::string(text)));
  state_->name_ids.emplace(state_->trace.names_[id], id);
  return id;
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
  TrackState& track = state_->track(key);
  track.changed = true;
  valid_depths.resize(depths.empty() ? 0 : events.size());
  if (state_->lane_thread)
    state_->lane_thread->add(track.lanes, std::move(events), std::move(valid_depths));
  else if (depths.empty())
    track.lanes.add(std::move(events));
  else
    track.lanes.add_at_depths(std::move(events), valid_depths);
}

CounterId TraceBuilder::counter(const Counter& description) { return state_->counters.add(description); }
bool TraceBuilder::add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times,
                               std::span<const std::vector<std::int64_t>> columns, Nanoseconds end) {
  return state_->counters.add_samples(counters, times, columns, end);
}
void TraceBuilder::set_series(CounterId counter, CounterSeries series) { state_->counters.set_series(counter, std::move(series)); }

std::shared_ptr<const Trace> TraceBuilder::snapshot() {
  if (state_->lane_thread) state_->lane_thread->wait();
  Trace& trace = state_->trace;
  for (Process& process : trace.processes_)
    if (process.name.empty()) process.name = last_path_part(process.executable);
  for (TrackState& track : state_->tracks)
    if (track.changed)
      for (GrowingLane& lane : track.lanes.lanes()) lane.prepare_to_publish();
  for (TrackId id = 0; id < state_->tracks.size(); ++id) {
    TrackState& track = state_->tracks[id];
    if (!track.changed) continue;
    auto& growing = track.lanes.lanes();
    while (track.ids.size() < growing.size()) {
      track.ids.push_back(static_cast<LaneId>(trace.lanes_.size()));
      trace.lanes_.emplace_back();
      trace.track_of_lane_.push_back(id);
    }
    for (std::size_t i = 0; i < growing.size(); ++i) trace.lanes_[track.ids[i]] = growing[i].publish();
    trace.tracks_[id].lanes = track.ids;
    track.changed = false;
  }
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
    if (track.key.kind == TrackKind::kMemoryUsage)
      for (MemoryTotal& total : memory_totals(trace, track, extent.end)) set_series(counter(total.counter), std::move(total.series));
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
  return std::make_shared<const Trace>(trace);
}

}  // namespace lanescope
