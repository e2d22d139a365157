#include "model/events/event_values.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "model/kernels/occupancy.h"
#include "model/trace/combining/parts.h"

namespace lanescope {
namespace {

// Properties that lanes of one row share: lanes with equal keys share a row.
struct RowKey {
  std::uint32_t group;  // 0 for GPU work; else the track's id + 1
  GpuId gpu;
  ProcessId process;
  std::uint32_t context;
  std::uint32_t stream;
  auto operator<=>(const RowKey&) const = default;
};

RowKey row_key(const Trace& trace, const EventScope& scope, LaneId lane) {
  const Track& track = trace.track_of(lane);
  if (!is_gpu_work(track.key.kind)) return {static_cast<std::uint32_t>(&track - trace.tracks().data()) + 1, 0, 0, 0, 0};
  if (scope.is_row()) return {0, track.key.gpu, 0, 0, 0};
  return {0, track.key.gpu, track.key.process, track.key.context, track.key.stream};
}

std::int64_t size_of(const std::uint32_t (&extent)[3]) noexcept {
  return static_cast<std::int64_t>(extent[0]) * std::max(extent[1], 1u) * std::max(extent[2], 1u);
}

std::string extent_text(const std::uint32_t (&extent)[3]) {
  return std::to_string(extent[0]) + " × " + std::to_string(extent[1]) + " × " + std::to_string(extent[2]);
}

std::string numbered_label(std::uint32_t number, std::string_view name) {
  std::string label = "[" + std::to_string(number) + "]";
  if (!name.empty()) label.append(" ").append(name);
  return label;
}

const MemoryDetail* memory_detail(const Trace& trace, EventRef event) {
  if (trace.track_of(event.lane).key.kind != TrackKind::kMemory) return nullptr;
  return &trace.memory_detail(trace.lane(event.lane).detail(event.index));
}

const KernelDetail* kernel_detail(const Trace& trace, EventRef event) {
  if (trace.track_of(event.lane).key.kind != TrackKind::kKernels) return nullptr;
  return &trace.kernel_detail(trace.lane(event.lane).detail(event.index));
}

std::optional<std::int64_t> launch_hundredths(const KernelDetail& kernel, const Gpu& gpu, EventColumn column) {
  constexpr double kMost = 1e15;  // keeps the value of a hostile grid an integer
  const std::optional<kernels::Occupancy> occupancy = kernels::occupancy(kernel, gpu);
  if (!occupancy) return std::nullopt;
  if (column == EventColumn::kOccupancy) return std::llround(occupancy->share() * 10'000);
  const std::optional<kernels::Waves> waves = kernels::waves(kernel, gpu, *occupancy);
  return waves ? std::optional<std::int64_t>(std::llround(std::min(waves->waves(), kMost) * 100)) : std::nullopt;
}

// "12.5" for 1250.
std::string hundredths_text(std::int64_t value) {
  std::string text = std::to_string(value / 100);
  if (const std::int64_t rest = value % 100; rest != 0) {
    text += rest < 10 ? ".0" : ".";
    text += std::to_string(rest % 10 == 0 ? rest / 10 : rest);
  }
  return text;
}

}  // namespace

bool has_gaps(TrackKind kind) noexcept { return kind != TrackKind::kOverhead; }

bool is_on_stream(TrackKind kind) noexcept { return is_gpu_work(kind) || kind == TrackKind::kSynchronizations || kind == TrackKind::kCudaEvents; }

EventScope EventScope::whole_trace(const Trace& trace) {
  EventScope scope;
  scope.lanes_.resize(trace.lanes().size());
  std::iota(scope.lanes_.begin(), scope.lanes_.end(), LaneId{0});
  return scope;
}

EventScope EventScope::lanes_of_trace(std::vector<LaneId> lanes) {
  EventScope scope;
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  scope.lanes_ = std::move(lanes);
  return scope;
}

EventScope EventScope::row(std::vector<LaneId> lanes) {
  EventScope scope = lanes_of_trace(std::move(lanes));
  scope.is_row_ = true;
  return scope;
}

EventValues::EventValues(std::shared_ptr<const Trace> trace, EventScope scope, OpenEvents open)
    : trace_(std::move(trace)), scope_(std::move(scope)), open_(std::move(open)), row_of_lane_(trace_->lanes().size(), kNone) {
  std::map<RowKey, std::uint32_t> row_of_key;
  for (const LaneId lane : scope_.lanes()) {
    const auto [entry, added] = row_of_key.try_emplace(row_key(*trace_, scope_, lane), static_cast<std::uint32_t>(rows_.size()));
    if (added) rows_.emplace_back();
    rows_[entry->second].push_back(lane);
    row_of_lane_[lane] = entry->second;
  }
  std::vector<std::size_t> depth(trace_->lanes().size());  // of lanes in their tracks
  for (const Track& track : trace_->tracks())
    for (std::size_t i = 0; i < track.lanes.size(); ++i) depth[track.lanes[i]] = i;
  for (std::vector<LaneId>& row : rows_) std::stable_sort(row.begin(), row.end(), [&](LaneId a, LaneId b) { return depth[a] < depth[b]; });
}

bool EventValues::is_open(EventRef event) const noexcept { return std::binary_search(open_.events.begin(), open_.events.end(), event); }

Nanoseconds EventValues::duration(EventRef event) const noexcept {
  const Lane& lane = trace_->lane(event.lane);
  const Nanoseconds known = lane.duration(event.index);
  return is_open(event) ? std::max(known, open_.now - lane.start(event.index)) : known;
}

std::optional<Nanoseconds> EventValues::gap_before(EventRef event) const {
  if (!has_gaps(trace_->track_of(event.lane).key.kind)) return std::nullopt;
  const Nanoseconds start = trace_->lane(event.lane).start(event.index);
  std::optional<Nanoseconds> last_end;
  bool outer = true;  // among equal starts, lanes before the event's own come first
  for (const LaneId id : row_of(event.lane)) {
    const Lane& lane = trace_->lane(id);
    EventIndex before;  // number of events of this lane before the event
    if (id == event.lane) {
      before = event.index;
      outer = false;
    } else {
      before = lane.lower_bound(outer ? start + 1 : start);
    }
    if (before > 0) last_end = std::max(last_end.value_or(lane.end(before - 1)), lane.end(before - 1));
  }
  if (!last_end) return std::nullopt;
  return std::max<Nanoseconds>(0, start - *last_end);
}

std::optional<Nanoseconds> EventValues::queue_time(EventRef event) const {
  if (!is_gpu_work(trace_->track_of(event.lane).key.kind)) return std::nullopt;
  const std::optional<EventRef> launch = trace_->launch_of(event);
  if (!launch) return std::nullopt;
  return std::max<Nanoseconds>(0, trace_->lane(event.lane).start(event.index) - trace_->lane(launch->lane).end(launch->index));
}

std::optional<EventRef> EventValues::enclosing_range(EventRef event) const {
  const Track& track = trace_->track_of(event.lane);
  EventRef call = event;
  if (is_on_stream(track.key.kind)) {
    const std::optional<EventRef> launch = trace_->launch_of(event);
    if (!launch) return std::nullopt;
    call = *launch;
  }
  const ThreadId thread = trace_->track_of(call.lane).key.thread;
  if (thread == kNone) return std::nullopt;
  const Event inner = trace_->event(call);
  std::optional<EventRef> innermost;
  for (const Track& ranges : trace_->tracks()) {
    if (ranges.key.kind != TrackKind::kNvtxRanges || ranges.key.thread != thread) continue;
    for (const LaneId id : ranges.lanes) {
      if (id == call.lane) break;  // deeper ranges of its own domain do not enclose it
      const Lane& lane = trace_->lane(id);
      const std::optional<EventIndex> at = lane.at(inner.start);
      if (!at || (track.key.kind == TrackKind::kNvtxRanges && lane.end(*at) < inner.end())) continue;
      if (!innermost || lane.start(*at) >= trace_->lane(innermost->lane).start(innermost->index)) innermost = EventRef{id, *at};
    }
  }
  return innermost;
}

std::optional<std::int64_t> EventValues::number(EventRef event, EventColumn column) const {
  const Lane& lane = trace_->lane(event.lane);
  const TrackKey& key = trace_->track_of(event.lane).key;
  switch (column) {
    case EventColumn::kStart:
      return lane.start(event.index);
    case EventColumn::kDuration:
      return duration(event);
    case EventColumn::kGapBefore:
      return gap_before(event);
    case EventColumn::kQueueTime:
      return queue_time(event);
    case EventColumn::kContext:
      return is_on_stream(key.kind) ? std::optional<std::int64_t>(key.context) : std::nullopt;
    case EventColumn::kCorrelation: {
      const bool from_cuda = is_on_stream(key.kind) || key.kind == TrackKind::kCudaApi;  // NVTX ranges have ids of their own there
      const std::uint32_t correlation = lane.correlation(event.index);
      return from_cuda && correlation != 0 ? std::optional<std::int64_t>(correlation) : std::nullopt;
    }
    case EventColumn::kBytes: {
      const MemoryDetail* memory = memory_detail(*trace_, event);
      return memory ? std::optional(static_cast<std::int64_t>(memory->bytes)) : std::nullopt;
    }
    case EventColumn::kThroughput: {
      const MemoryDetail* memory = memory_detail(*trace_, event);
      const Nanoseconds duration = lane.duration(event.index);
      if (!memory || duration <= 0) return std::nullopt;
      constexpr double kMost = 9e18;  // keeps the value of a hostile size an integer
      return static_cast<std::int64_t>(std::min(static_cast<double>(memory->bytes) * 1e9 / static_cast<double>(duration), kMost));
    }
    case EventColumn::kSharedMemory: {
      const KernelDetail* kernel = kernel_detail(*trace_, event);
      if (!kernel || kernel->grid[0] == 0) return std::nullopt;
      return std::int64_t{kernel->static_shared_memory} + kernel->dynamic_shared_memory;
    }
    case EventColumn::kGrid:
    case EventColumn::kBlock:
    case EventColumn::kRegisters: {
      const KernelDetail* kernel = kernel_detail(*trace_, event);
      if (!kernel || kernel->grid[0] == 0) return std::nullopt;
      if (column == EventColumn::kGrid) return size_of(kernel->grid);
      if (column == EventColumn::kBlock) return size_of(kernel->block);
      return kernel->registers_per_thread;
    }
    case EventColumn::kOccupancy:
    case EventColumn::kWaves: {
      const KernelDetail* kernel = kernel_detail(*trace_, event);
      return kernel && key.gpu != kNone ? launch_hundredths(*kernel, trace_->gpus()[key.gpu], column) : std::nullopt;
    }
    case EventColumn::kName:
    case EventColumn::kKind:
    case EventColumn::kProcess:
    case EventColumn::kThread:
    case EventColumn::kDevice:
    case EventColumn::kStream:
    case EventColumn::kNvtxRange:
    case EventColumn::kMemory:
    case EventColumn::kRun:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string EventValues::text(EventRef event, EventColumn column) const {
  const TrackKey& key = trace_->track_of(event.lane).key;
  switch (column) {
    case EventColumn::kName: {
      const std::string_view name = trace_->name(listed_name(*trace_, event));
      return std::string(key.kind == TrackKind::kCudaApi ? api_display_name(name) : name);
    }
    case EventColumn::kKind:
      return std::string(event_kind_name(event_kind(*trace_, event)));
    case EventColumn::kProcess:
      return process_label(*trace_, key.process);
    case EventColumn::kThread:
      return is_on_stream(key.kind) ? std::string() : thread_label(*trace_, key.thread);
    case EventColumn::kDevice:
      return is_on_stream(key.kind) ? gpu_label(*trace_, key.gpu) : std::string();
    case EventColumn::kStream:
      return is_on_stream(key.kind) ? stream_label(*trace_, key.process, key.context, key.stream).english() : std::string();
    case EventColumn::kNvtxRange: {
      const std::optional<EventRef> range = enclosing_range(event);
      return range ? std::string(trace_->name(trace_->lane(range->lane).name(range->index))) : std::string();
    }
    case EventColumn::kMemory: {
      const MemoryDetail* memory = memory_detail(*trace_, event);
      return memory ? memory_text(*memory) : std::string();
    }
    case EventColumn::kRun:
      return std::string(part_title(*trace_, trace_->track_of(event.lane)));
    case EventColumn::kGrid:
    case EventColumn::kBlock: {
      const KernelDetail* kernel = kernel_detail(*trace_, event);
      if (!kernel || kernel->grid[0] == 0) return {};
      return extent_text(column == EventColumn::kGrid ? kernel->grid : kernel->block);
    }
    case EventColumn::kStart:
    case EventColumn::kDuration:
    case EventColumn::kGapBefore:
    case EventColumn::kQueueTime:
    case EventColumn::kContext:
    case EventColumn::kCorrelation:
    case EventColumn::kBytes:
    case EventColumn::kThroughput:
    case EventColumn::kSharedMemory:
    case EventColumn::kRegisters: {
      const std::optional<std::int64_t> value = number(event, column);
      return value ? std::to_string(*value) : std::string();
    }
    case EventColumn::kOccupancy:
    case EventColumn::kWaves: {
      const std::optional<std::int64_t> value = number(event, column);
      return value ? hundredths_text(*value) : std::string();
    }
  }
  return {};
}

std::string memory_text(const MemoryDetail& detail) {
  const auto name = [](MemoryKind kind) { return kind == MemoryKind::kUnknown ? std::string("?") : std::string(memory_kind_name(kind)); };
  if (detail.operation == MemoryOperation::kSet) return detail.destination_memory == MemoryKind::kUnknown ? std::string() : name(detail.destination_memory);
  if (detail.source_memory == MemoryKind::kUnknown && detail.destination_memory == MemoryKind::kUnknown) return {};
  return name(detail.source_memory) + " → " + name(detail.destination_memory);
}

std::string process_label(const Trace& trace, ProcessId process) {
  if (process >= trace.processes().size()) return {};
  return numbered_label(trace.processes()[process].pid, trace.processes()[process].name);
}

std::string thread_label(const Trace& trace, ThreadId thread) {
  if (thread >= trace.threads().size()) return {};
  return numbered_label(trace.threads()[thread].tid, trace.threads()[thread].name);
}

std::string gpu_label(const Trace& trace, GpuId gpu) {
  if (gpu >= trace.gpus().size()) return {};
  std::string label = "GPU " + std::to_string(trace.gpus()[gpu].ordinal);
  if (!trace.gpus()[gpu].name.empty()) label.append(" ").append(trace.gpus()[gpu].name);
  return label + given_names(trace, gpu);
}

Message stream_label(const Trace& trace, ProcessId process, std::uint32_t context, std::uint32_t stream) {
  std::string name = std::to_string(stream);
  const CudaStream* known = trace.find_stream(process, context, stream);
  if (known != nullptr && !known->name.empty()) name.append(" ").append(known->name);
  return Message("Stream {name}", {{"name", std::move(name)}});
}

}  // namespace lanescope
