#include "model/trace/trace.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace lanescope {

std::string_view page_fault_name(PageFaultOf side) noexcept { return side == PageFaultOf::kCpu ? "CPU page fault" : "GPU page fault"; }

bool is_gpu_work(TrackKind kind) noexcept {
  return kind == TrackKind::kKernels || kind == TrackKind::kMemory || kind == TrackKind::kGraphLaunches;
}

std::optional<NameId> Trace::find_name(std::string_view text) const noexcept {
  for (std::size_t id = 0; id < names_.size(); ++id)
    if (names_[id] == text) return static_cast<NameId>(id);
  return std::nullopt;
}

std::string_view Trace::domain_name(ProcessId process, std::uint32_t domain) const noexcept {
  for (const NvtxDomainName& entry : domains_)
    if (entry.process == process && entry.id == domain) return entry.name;
  return {};
}

std::string_view Trace::category_name(ProcessId process, std::uint32_t domain, std::uint32_t category) const noexcept {
  for (const NvtxCategoryName& entry : categories_)
    if (entry.process == process && entry.domain == domain && entry.id == category) return entry.name;
  return {};
}

std::string_view Trace::cuda_name(ProcessId process, CudaResource resource, std::uint32_t id) const noexcept {
  for (const CudaName& entry : cuda_names_)
    if (entry.process == process && entry.resource == resource && entry.id == id) return entry.name;
  return {};
}

const CudaStream* Trace::find_stream(ProcessId process, std::uint32_t context, std::uint32_t stream) const noexcept {
  for (const CudaStream& entry : streams_)
    if (entry.process == process && entry.context == context && entry.id == stream) return &entry;
  return nullptr;
}

std::optional<EventRef> Trace::launch_of(EventRef gpu_event) const {
  const std::uint32_t correlation = lane(gpu_event.lane).correlation(gpu_event.index);
  const ProcessId process = track_of(gpu_event.lane).key.process;
  if (correlation == 0) return std::nullopt;
  for (const Track& track : tracks_) {
    if (track.key.kind != TrackKind::kCudaApi || track.key.process != process) continue;
    for (const LaneId id : track.lanes) {  // outermost first
      const EventIndex found = lanes_[id].find_correlation(correlation);
      if (found != lanes_[id].size()) return EventRef{id, found};
    }
  }
  return std::nullopt;
}

std::optional<EventRef> Trace::awaited_event(EventRef synchronization) const {
  const TrackKey& key = track_of(synchronization.lane).key;
  if (key.kind != TrackKind::kSynchronizations) return std::nullopt;
  const std::uint64_t record = synchronization_detail(lane(synchronization.lane).detail(synchronization.index)).event_record;
  if (record == 0) return std::nullopt;
  for (const Track& track : tracks_) {
    if (track.key.kind != TrackKind::kCudaEvents || track.key.process != key.process) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < lanes_[id].size(); ++i)
        if (cuda_event_detail(lanes_[id].detail(i)).record == record) return EventRef{id, i};
  }
  return std::nullopt;
}

std::vector<EventRef> Trace::work_of(EventRef api_call) const {
  std::vector<EventRef> work;
  const std::uint32_t correlation = lane(api_call.lane).correlation(api_call.index);
  const ProcessId process = track_of(api_call.lane).key.process;
  if (correlation == 0) return work;
  for (const Track& track : tracks_) {
    if (!is_gpu_work(track.key.kind) || track.key.process != process) continue;
    for (const LaneId id : track.lanes) {
      const Lane& candidate = lanes_[id];
      for (EventIndex i = candidate.find_correlation(correlation); i < candidate.size(); i = candidate.find_correlation(correlation, i + 1))
        work.push_back({id, i});
    }
  }
  std::sort(work.begin(), work.end(), [this](EventRef a, EventRef b) { return lane(a.lane).start(a.index) < lane(b.lane).start(b.index); });
  return work;
}

std::vector<EventRef> Trace::nvtx_stack(ThreadId thread, Nanoseconds t) const {
  std::vector<EventRef> stack;
  for (const Track& track : tracks_) {
    if (track.key.kind != TrackKind::kNvtxRanges || track.key.thread != thread) continue;
    for (const LaneId id : track.lanes)
      if (const auto index = lanes_[id].at(t)) stack.push_back({id, *index});
  }
  std::stable_sort(stack.begin(), stack.end(),
                   [this](EventRef a, EventRef b) { return lane(a.lane).start(a.index) < lane(b.lane).start(b.index); });
  return stack;
}

std::size_t Trace::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Lane& each : lanes_) bytes += each.memory_bytes();
  std::set<const void*> shared;  // times that several counters have in common count once
  for (const CounterSeries& series : counter_series_) {
    bytes += series.memory_bytes();
    for (const auto& segment : series.segments())
      if (shared.insert(segment->times().get()).second) bytes += segment->times()->capacity() * sizeof(Nanoseconds);
  }
  return bytes;
}

std::string_view api_display_name(std::string_view name) noexcept {
  constexpr std::size_t kSuffix = 6;  // "_v" and four digits
  if (name.size() <= kSuffix) return name;
  const std::string_view suffix = name.substr(name.size() - kSuffix);
  const bool versioned = suffix.starts_with("_v") && std::all_of(suffix.begin() + 2, suffix.end(),
                                                                 [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
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
  for (const CudaDevice& device : trace.devices())
    if (device.process == process && device.gpu == gpu) return device.ordinal;
  return gpu < trace.gpus().size() ? trace.gpus()[gpu].ordinal : 0;
}

std::string given_names(const Trace& trace, GpuId gpu) {
  std::set<std::string_view> names;
  for (const CudaDevice& device : trace.devices())
    if (device.gpu == gpu) names.insert(trace.cuda_name(device.process, CudaResource::kDevice, device.ordinal));
  names.erase("");
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? " (" : ", ").append(name);
  return text.empty() ? text : text + ")";
}

std::string context_label(const Trace& trace, ProcessId process, std::uint32_t context) {
  std::string label = std::to_string(context);
  if (const std::string_view name = trace.cuda_name(process, CudaResource::kContext, context); !name.empty())
    label.append(" ").append(name);
  return label;
}

}  // namespace lanescope
