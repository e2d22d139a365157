#include "rank_work.h"

#include <algorithm>
#include <limits>
#include <set>

#include "idle/gpu_operations.h"
namespace lanescope::analysis {
namespace {

void add(const Trace& trace, NameMemo<bool>& communication, NameMemo<bool>& sends_or_receives, const GpuOperation& operation, RankWork& work,
         std::vector<CommunicationKernel>& kernels) {
  for (TimeBeside* each : {&work.communication, &work.transfers, &work.memory}) each->advance(operation.range.begin, work.compute);
  if (work.operations++ == 0) work.extent = operation.range;
  work.extent.end = std::max(work.extent.end, operation.range.end);
  const Lane& lane = trace.lane(operation.event.lane);
  const TrackKind kind = trace.track_of(operation.event.lane).key.kind;
  if (kind != TrackKind::kMemory) {
    const bool communicates = kind == TrackKind::kKernels && communication(lane.name(operation.event.index));
    if (!communicates) return work.compute.add(operation.range);
    work.communication.add(operation.range, work.compute);
    const NameId name = lane.name(operation.event.index);
    const bool is_collective = !sends_or_receives(name);
    if (is_collective) {
      ++work.collective_operations;
      work.collectives.add(operation.range);
    }
    if (++work.communication_operations <= kMostMatched) kernels.push_back({operation.range, operation.event, name, is_collective});
    return;
  }
  work.memory.add(operation.range, work.compute);
  const MemoryDetail& detail = trace.memory_detail(lane.detail(operation.event.index));
  const bool migrates = detail.copy_kind == CopyKind::kUnifiedHostToDevice || detail.copy_kind == CopyKind::kUnifiedDeviceToHost;  // no call copies
  if (is_transfer(detail) && !migrates && !moves_pageable_memory(detail)) work.transfers.add(operation.range, work.compute);
}

}  // namespace

ComputedTime::ComputedTime(const Trace& trace, std::span<const TrackId> tracks, NameMemo<bool>& communicates, Copies copies) : communicates_(communicates) {
  for (const TrackId id : tracks) {
    const Track& track = trace.tracks()[id];
    if (track.key.kind == TrackKind::kMemory && copies == Copies::kLeftOut) continue;
    for (const LaneId lane : track.lanes) sources_.push_back({LaneCursor(trace.lane(lane)), track.key.kind});
  }
}

Nanoseconds ComputedTime::within(TimeRange time) {
  found_.clear();
  for (auto& [cursor, kind] : sources_) {
    const Lane& lane = cursor.lane();
    for (EventIndex i = cursor.seek(time.begin); i < lane.size() && lane.start(i) < time.end; ++i)
      if (kind != TrackKind::kKernels || !communicates_(lane.name(i))) found_.push_back(time.intersected({lane.start(i), lane.end(i)}));
  }
  std::sort(found_.begin(), found_.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  CoveredTime covered;
  for (const TimeRange& range : found_) covered.add(range);
  return covered.total();
}

bool is_transfer(const MemoryDetail& detail) noexcept {
  if (detail.operation != MemoryOperation::kCopy) return false;
  switch (detail.copy_kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kDeviceToHost:
    case CopyKind::kHostToArray:
    case CopyKind::kArrayToHost:
    case CopyKind::kPeerToPeer:
    case CopyKind::kUnifiedHostToDevice:
    case CopyKind::kUnifiedDeviceToHost:
      return true;
    default:
      return false;
  }
}

bool moves_pageable_memory(const MemoryDetail& detail) noexcept {
  return detail.operation == MemoryOperation::kCopy && (detail.source_memory == MemoryKind::kPageable || detail.destination_memory == MemoryKind::kPageable);
}

std::vector<RankWork> rank_work(const Trace& trace, TimeRange time, const std::function<bool(const GpuOperation&)>& counts, const std::stop_token& stop) {
  std::set<std::pair<ProcessId, GpuId>> ranks;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind)) ranks.insert({track.key.process, track.key.gpu});
  const GpuTracks tracks(trace);
  NameMemo<bool> communication(trace, is_communication_name), sends_or_receives(trace, is_send_or_receive_name);
  std::vector<RankWork> all;
  const auto none = std::make_shared<const std::vector<CommunicationKernel>>();
  std::uint64_t in_all = 0;  // communication kernels
  for (const auto& [process, gpu] : ranks) {
    RankWork work;
    std::vector<CommunicationKernel> kernels;
    work.process = process;
    work.gpu = gpu;
    GpuOperations operations(trace, tracks.of(gpu, process), time, stop);
    while (const std::optional<GpuOperation> operation = operations.next())
      if (!counts || counts(*operation)) add(trace, communication, sends_or_receives, *operation, work, kernels);
    if (work.operations == 0) continue;
    for (TimeBeside* each : {&work.communication, &work.transfers, &work.memory}) each->finish(work.compute);
    in_all += work.communication_operations;
    if (in_all > kMostMatched) {
      kernels = {};
      for (RankWork& before : all) before.communication_kernels = none;
    }
    work.communication_kernels = std::make_shared<const std::vector<CommunicationKernel>>(std::move(kernels));
    work.first = work.extent.begin;
    const bool all_time = time.begin == std::numeric_limits<Nanoseconds>::min();
    if (!all_time) work.extent = time.intersected(trace.extent());  // shares are of the time that was asked for
    all.push_back(std::move(work));
  }
  return all;
}

bool are_of_like_length(std::span<const RankWork> ranks) {
  Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max(), longest = 0;
  for (const RankWork& rank : ranks) {
    if (rank.operations == 0) continue;
    shortest = std::min(shortest, rank.extent.length());
    longest = std::max(longest, rank.extent.length());
  }
  return longest == 0 || longest - shortest <= longest / 5;
}

}  // namespace lanescope::analysis
