#include "model/trace/trace.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <string>

#include "model/trace/kernel_records.h"
#include "model/trace/segments/demanded_counters.h"
#include "model/trace/storage/resource_index.h"

namespace lanescope {
namespace {

// The index of a trace to which nothing was added.
const ResourceIndex kNothing;

}  // namespace

std::string_view page_fault_name(PageFaultOf side) noexcept { return side == PageFaultOf::kCpu ? "CPU page fault" : "GPU page fault"; }

bool is_gpu_work(TrackKind kind) noexcept { return kind == TrackKind::kKernels || kind == TrackKind::kMemory || kind == TrackKind::kGraphLaunches; }

std::optional<NameId> Trace::find_name(std::string_view text) const noexcept {
  for (std::size_t id = 0; id < names_.size(); ++id)
    if (names_[id] == text) return static_cast<NameId>(id);
  return std::nullopt;
}

void Trace::index_resources() {
  auto index = std::make_shared<ResourceIndex>();
  index->streams = {streams_, [](const CudaStream& stream) { return std::tuple(stream.process, stream.context, stream.id); }};
  index->cuda_names = {cuda_names_, [](const CudaName& name) { return std::tuple(name.process, static_cast<std::uint32_t>(name.resource), name.id); }};
  index->domains = {domains_, [](const NvtxDomainName& domain) { return std::tuple(domain.process, domain.id); }};
  index->categories = {categories_, [](const NvtxCategoryName& category) { return std::tuple(category.process, category.domain, category.id); }};
  index->devices = {devices_, [](const CudaDevice& device) { return std::tuple(device.gpu, device.process); }};
  index->tracks.resize(tracks_.size());
  std::iota(index->tracks.begin(), index->tracks.end(), TrackId{0});
  std::stable_sort(index->tracks.begin(), index->tracks.end(), [this](TrackId a, TrackId b) {
    return std::tuple(tracks_[a].key.process, tracks_[a].key.kind) < std::tuple(tracks_[b].key.process, tracks_[b].key.kind);
  });
  resource_index_ = std::move(index);
}

const KernelRecords& Trace::kernel_records() const noexcept {
  static const KernelRecords nothing;
  return kernel_records_ ? *kernel_records_ : nothing;
}

std::span<const TrackId> Trace::tracks_of(ProcessId process, TrackKind kind) const noexcept {
  const std::vector<TrackId>& sorted = (resource_index_ ? *resource_index_ : kNothing).tracks;
  const std::tuple wanted(process, kind);
  const auto key = [this](TrackId id) { return std::tuple(tracks_[id].key.process, tracks_[id].key.kind); };
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), wanted, [&](TrackId id, const auto& value) { return key(id) < value; });
  const auto last = std::upper_bound(first, sorted.end(), wanted, [&](const auto& value, TrackId id) { return value < key(id); });
  return {first, last};
}

std::string_view Trace::domain_name(ProcessId process, std::uint32_t domain) const noexcept {
  const std::uint32_t found = resource_index_ ? resource_index_->domains.first({process, domain}) : kNone;
  return found == kNone ? std::string_view() : domains_[found].name;
}

std::string_view Trace::category_name(ProcessId process, std::uint32_t domain, std::uint32_t category) const noexcept {
  const std::uint32_t found = resource_index_ ? resource_index_->categories.first({process, domain, category}) : kNone;
  return found == kNone ? std::string_view() : categories_[found].name;
}

std::string_view Trace::cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const noexcept {
  const std::uint32_t found = resource_index_ ? resource_index_->cuda_names.first({process, static_cast<std::uint32_t>(resource), id}) : kNone;
  return found == kNone ? std::string_view() : cuda_names_[found].name;
}

const CudaStream* Trace::find_stream(ProcessId process, std::uint32_t context, std::uint32_t stream) const noexcept {
  const std::uint32_t found = resource_index_ ? resource_index_->streams.first({process, context, stream}) : kNone;
  return found == kNone ? nullptr : &streams_[found];
}

std::optional<std::uint32_t> Trace::device_ordinal(ProcessId process, GpuId gpu) const noexcept {
  const std::uint32_t found = resource_index_ ? resource_index_->devices.first({gpu, process}) : kNone;
  return found == kNone ? std::nullopt : std::optional(devices_[found].ordinal);
}

std::vector<CudaDevice> Trace::devices_of(GpuId gpu) const {
  std::vector<CudaDevice> devices;
  if (resource_index_)
    for (const std::uint32_t row : resource_index_->devices.rows({gpu, 0}, {gpu, kNone})) devices.push_back(devices_[row]);
  return devices;
}

// Bounds for each lane: in a file with millions of events of one id, each look at an event would take as long as a look at all of them. Ids are only
// used again after billions of calls, and the launch of a graph has as many events of its id as the graph has nodes.
static constexpr std::size_t kMostCallsOfOneId = 256;
static constexpr std::size_t kMostWorkOfOneId = 65'536;

std::vector<Trace::OuterCall> Trace::calls_with(ProcessId process, std::uint32_t correlation) const {
  std::vector<OuterCall> outer;
  for (const TrackId track : tracks_of(process, TrackKind::kCudaApi)) {
    std::vector<OuterCall> of_thread;
    for (const LaneId id : tracks_[track].lanes) {
      const Lane& calls = lanes_[id];
      std::size_t left = kMostCallsOfOneId;
      for (EventIndex i = calls.find_correlation(correlation); i < calls.size() && left-- > 0; i = calls.find_correlation(correlation, i + 1))
        of_thread.push_back({calls.start(i), calls.end(i), {id, i}});
    }
    std::stable_sort(of_thread.begin(), of_thread.end(), [](const OuterCall& a, const OuterCall& b) { return a.start < b.start; });
    for (const OuterCall& call : of_thread)
      if (outer.empty() || track_of(outer.back().call.lane).key != tracks_[track].key || call.end > outer.back().end) outer.push_back(call);
  }
  return outer;
}

namespace {

// The call that is nearest to the work; null if there is none.
template <typename Calls>
const typename Calls::value_type* nearest(const Calls& calls, Nanoseconds work_start) {
  const auto distance = [&](const auto& call) { return launch_distance(call.start, work_start); };
  const auto found = std::min_element(calls.begin(), calls.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return found == calls.end() ? nullptr : &*found;
}

}  // namespace

std::optional<EventRef> Trace::launch_of(EventRef gpu_event) const {
  const Lane& work = lane(gpu_event.lane);
  const std::uint32_t correlation = work.correlation(gpu_event.index);
  if (correlation == 0) return std::nullopt;
  const std::vector<OuterCall> calls = calls_with(track_of(gpu_event.lane).key.process, correlation);
  const OuterCall* launch = nearest(calls, work.start(gpu_event.index));
  return launch ? std::optional(launch->call) : std::nullopt;
}

std::vector<EventRef> Trace::work_of(EventRef api_call) const {
  static constexpr TrackKind kWork[] = {TrackKind::kKernels, TrackKind::kMemory, TrackKind::kGraphLaunches};
  return work_of(api_call, kWork);
}

// Most calls launch nothing. So work of their id is searched first, because it lies in fewer lanes than calls.
std::vector<EventRef> Trace::work_of(EventRef api_call, std::span<const TrackKind> kinds) const {
  std::vector<EventRef> work;
  const Lane& api_lane = lane(api_call.lane);
  const TrackKey& thread = track_of(api_call.lane).key;
  const std::uint32_t correlation = api_lane.correlation(api_call.index);
  if (correlation == 0) return work;
  for (const TrackKind kind : kinds) {
    for (const TrackId track : tracks_of(thread.process, kind)) {
      for (const LaneId id : tracks_[track].lanes) {
        const Lane& lane = lanes_[id];
        std::size_t left = kMostWorkOfOneId;
        for (EventIndex i = lane.find_correlation(correlation); i < lane.size() && left-- > 0; i = lane.find_correlation(correlation, i + 1))
          work.push_back({id, i});
      }
    }
  }
  if (work.empty()) return work;
  const std::vector<OuterCall> calls = calls_with(thread.process, correlation);
  const auto contains_call = [&](const OuterCall& outer) {
    return track_of(outer.call.lane).key == thread && outer.start <= api_lane.start(api_call.index) && api_lane.end(api_call.index) <= outer.end;
  };
  const auto own = std::find_if(calls.begin(), calls.end(), contains_call);
  if (own == calls.end()) return {};
  std::erase_if(work, [&](EventRef event) { return nearest(calls, lane(event.lane).start(event.index)) != &*own; });
  const auto begins_first = [this](EventRef a, EventRef b) { return std::pair(lane(a.lane).start(a.index), a) < std::pair(lane(b.lane).start(b.index), b); };
  std::sort(work.begin(), work.end(), begins_first);
  return work;
}

std::optional<EventRef> Trace::awaited_event(EventRef synchronization) const {
  const TrackKey& key = track_of(synchronization.lane).key;
  if (key.kind != TrackKind::kSynchronizations) return std::nullopt;
  const std::uint64_t record = synchronization_detail(lane(synchronization.lane).detail(synchronization.index)).event_record;
  if (record == 0) return std::nullopt;
  for (const TrackId track : tracks_of(key.process, TrackKind::kCudaEvents))
    for (const LaneId id : tracks_[track].lanes)
      for (EventIndex i = 0; i < lanes_[id].size(); ++i)
        if (cuda_event_detail(lanes_[id].detail(i)).record == record) return EventRef{id, i};
  return std::nullopt;
}

std::vector<EventRef> Trace::nvtx_stack(ThreadId thread, Nanoseconds t) const {
  std::vector<EventRef> stack;
  if (thread >= threads_.size()) return stack;
  for (const TrackId track : tracks_of(threads_[thread].process, TrackKind::kNvtxRanges)) {
    if (tracks_[track].key.thread != thread) continue;
    for (const LaneId id : tracks_[track].lanes)
      if (const auto index = lanes_[id].at(t)) stack.push_back({id, *index});
  }
  std::stable_sort(stack.begin(), stack.end(), [this](EventRef a, EventRef b) { return lane(a.lane).start(a.index) < lane(b.lane).start(b.index); });
  return stack;
}

namespace {

template <typename Row>
std::size_t memory_of(const AppendOnlyTable<Row>& rows) noexcept {
  return rows.size() * sizeof(Row);
}

std::size_t memory_of(const KernelRecords& records) noexcept {
  std::size_t bytes = records.functions.size() * sizeof(GpuFunction);
  for (const auto& code : records.code) bytes += code->image.size();
  for (const auto& window : records.windows) bytes += sizeof(*window) + window->samples.size() * sizeof(window->samples[0]);
  for (const auto& launch : records.measured)
    bytes += sizeof(*launch) + launch->values.size() * sizeof(launch->values[0]) + launch->other_launches.size() * sizeof(launch->other_launches[0]);
  for (const auto& counts : records.counted)
    bytes += sizeof(*counts) + counts->rows.size() * sizeof(counts->rows[0]) + counts->values.size() * sizeof(counts->values[0]);
  for (const auto& source : records.sources) bytes += sizeof(*source) + source->text.size();
  return bytes;
}

}  // namespace

std::size_t Trace::memory_bytes() const noexcept {
  std::size_t bytes =
      names_.memory_bytes() + call_stacks_.node_count() * sizeof(CallNode) + call_stacks_.location_count() * (sizeof(CodeLocation) + sizeof(CodeFunction));
  bytes += memory_of(kernel_details_) + memory_of(memory_details_) + memory_of(api_details_) + memory_of(synchronization_details_) +
           memory_of(cuda_event_details_) + memory_of(memory_usage_details_) + memory_of(graph_launch_details_) + memory_of(nvtx_details_) +
           memory_of(page_fault_details_) + memory_of(thread_state_details_) + memory_of(sample_details_);
  for (const OutputText& text : output_) bytes += sizeof(text) + text.bytes.size();
  for (const DiagnosticMessage& message : diagnostics_) bytes += sizeof(message) + message.text.size();
  if (kernel_records_) bytes += memory_of(*kernel_records_);
  for (const Lane& each : lanes_) bytes += each.memory_bytes();
  std::set<const void*> shared;  // what several counters share counts once
  for (const CounterSeries& series : counter_series_) {
    bytes += series.memory_bytes();
    if (const DemandedCounters* const demanded = series.demanded(); demanded != nullptr && shared.insert(demanded).second) bytes += demanded->memory_bytes();
    for (const auto& segment : series.segments())
      if (shared.insert(segment->times().get()).second) bytes += segment->times()->capacity() * sizeof(Nanoseconds);
  }
  return bytes;
}

std::string_view api_display_name(std::string_view name) noexcept {
  constexpr std::size_t kSuffix = 6;  // "_v" and four digits
  if (name.size() <= kSuffix) return name;
  const std::string_view suffix = name.substr(name.size() - kSuffix);
  const bool versioned =
      suffix.starts_with("_v") && std::all_of(suffix.begin() + 2, suffix.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return versioned ? name.substr(0, name.size() - kSuffix) : name;
}

std::string_view memory_operation_name(const MemoryDetail& detail) noexcept {
  if (detail.operation == MemoryOperation::kSet) return "[CUDA memset]";
  switch (detail.copy_kind) {
    case CopyKind::kHostToDevice:
      return "[CUDA memcpy Host-to-Device]";
    case CopyKind::kDeviceToHost:
      return "[CUDA memcpy Device-to-Host]";
    case CopyKind::kHostToArray:
      return "[CUDA memcpy Host-to-Array]";
    case CopyKind::kArrayToHost:
      return "[CUDA memcpy Array-to-Host]";
    case CopyKind::kArrayToArray:
      return "[CUDA memcpy Array-to-Array]";
    case CopyKind::kArrayToDevice:
      return "[CUDA memcpy Array-to-Device]";
    case CopyKind::kDeviceToArray:
      return "[CUDA memcpy Device-to-Array]";
    case CopyKind::kDeviceToDevice:
      return "[CUDA memcpy Device-to-Device]";
    case CopyKind::kHostToHost:
      return "[CUDA memcpy Host-to-Host]";
    case CopyKind::kPeerToPeer:
      return "[CUDA memcpy Peer-to-Peer]";
    case CopyKind::kUnifiedHostToDevice:
      return "[CUDA memcpy Unified Host-to-Device]";
    case CopyKind::kUnifiedDeviceToHost:
      return "[CUDA memcpy Unified Device-to-Host]";
    case CopyKind::kUnifiedDeviceToDevice:
      return "[CUDA memcpy Unified Device-to-Device]";
    case CopyKind::kUnknown:
      break;
  }
  return "[CUDA memcpy]";
}

std::string_view synchronization_name(std::uint32_t type) noexcept {
  switch (type) {
    case 1:
      return "Event synchronization";
    case 2:
      return "Stream waits for event";
    case 3:
      return "Stream synchronization";
    case 4:
      return "Context synchronization";
    default:
      return "Synchronization";
  }
}

std::string_view sample_name(SampleOrigin origin) noexcept {
  switch (origin) {
    case SampleOrigin::kCudaCall:
      return "Backtrace of a CUDA call";
    case SampleOrigin::kOsCall:
      return "Backtrace of an OS call";
    case SampleOrigin::kTimer:
      break;
  }
  return "CPU sample";
}

std::string_view memory_usage_name(MemoryUsageOperation operation) noexcept {
  switch (operation) {
    case MemoryUsageOperation::kAllocation:
      return "Allocation";
    case MemoryUsageOperation::kRelease:
      return "Release";
    case MemoryUsageOperation::kPoolCreation:
      return "Memory pool created";
    case MemoryUsageOperation::kPoolDestruction:
      return "Memory pool destroyed";
    case MemoryUsageOperation::kPoolTrim:
      return "Memory pool trimmed";
    case MemoryUsageOperation::kUnknown:
      break;
  }
  return "Memory operation";
}

std::string_view thread_state_name(ThreadState state) noexcept {
  switch (state) {
    case ThreadState::kRunning:
      return "Running";
    case ThreadState::kRunnable:
      return "Runnable";
    case ThreadState::kBlocked:
      return "Blocked";
    case ThreadState::kUnknown:
      break;
  }
  return "Unknown";
}

std::string_view memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::kPageable:
      return "Pageable";
    case MemoryKind::kPinned:
      return "Pinned";
    case MemoryKind::kDevice:
      return "Device";
    case MemoryKind::kArray:
      return "Array";
    case MemoryKind::kManaged:
      return "Managed";
    case MemoryKind::kDeviceStatic:
      return "Device Static";
    case MemoryKind::kManagedStatic:
      return "Managed Static";
    case MemoryKind::kUnknown:
      break;
  }
  return "Unknown";
}

std::uint32_t device_ordinal(const Trace& trace, ProcessId process, GpuId gpu) noexcept {
  if (const auto ordinal = trace.device_ordinal(process, gpu)) return *ordinal;
  return gpu < trace.gpus().size() ? trace.gpus()[gpu].ordinal : 0;
}

std::string given_names(const Trace& trace, GpuId gpu) {
  if (trace.cuda_names().empty()) return {};  // the common case: a file may have very many processes on a GPU, each with rows of its own
  std::set<std::string_view> names;
  for (const CudaDevice& device : trace.devices_of(gpu)) names.insert(trace.cuda_name(device.process, CudaResource::kDevice, device.ordinal));
  names.erase("");
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? " (" : ", ").append(name);
  return text.empty() ? text : text + ")";
}

std::string context_label(const Trace& trace, ProcessId process, std::uint32_t context) {
  std::string label = std::to_string(context);
  if (const std::string_view name = trace.cuda_name(process, CudaResource::kContext, context); !name.empty()) label.append(" ").append(name);
  return label;
}

std::string processors_text(const Provenance& from) {
  if (from.processor_count == 0) return from.processor;
  return std::to_string(from.processor_count) + (from.processor.empty() ? "" : ", " + from.processor);
}

}  // namespace lanescope
