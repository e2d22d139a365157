#include "rank_work.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "idle/gpu_operations.h"
#include "model/trace/combining/parts.h"

namespace lanescope::analysis {

namespace {

// From the first operation of these tracks to the end of the last.
TimeRange extent_of(const Trace& trace, std::span<const TrackId> tracks) noexcept {
  TimeRange all{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  for (const TrackId track : tracks)
    for (const LaneId id : trace.tracks()[track].lanes) {
      const TimeRange extent = trace.lane(id).extent();
      if (!extent.empty()) all = {std::min(all.begin, extent.begin), std::max(all.end, extent.end)};
    }
  return all;
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

RankCollector::RankCollector(const Trace& trace, TimeRange time, Counts counts)
    : trace_(trace),
      time_(time),
      counts_(std::move(counts)),
      communication_(trace, is_communication_name),
      sends_or_receives_(trace, is_send_or_receive_name) {}

void RankCollector::begin(GpuId gpu) {
  gpu_ = gpu;
  last_ = nullptr;
}

void RankCollector::visit(std::span<const GpuOperation> operations) {
  for (const GpuOperation& operation : operations) {
    if (counts_ && !counts_(operation)) continue;
    if (last_ == nullptr || operation.process != last_process_) {
      const auto [rank, is_new] = ranks_.try_emplace({operation.process, gpu_});
      last_ = &rank->second;
      const std::optional<SavedPart> part = is_new ? saved_part_of(trace_, part_of_process(trace_, operation.process)) : std::nullopt;
      if (part) last_->recorded = part->time;
    }
    last_process_ = operation.process;
    GpuOperation recorded = operation;
    recorded.range = operation.range.intersected(last_->recorded);
    add(recorded, *last_);
  }
}

void RankCollector::add(const GpuOperation& operation, Rank& rank) {
  RankWork& work = rank.work;
  for (TimeBeside* each : {&work.communication, &work.transfers, &work.memory}) each->advance(operation.range.begin, work.compute);
  if (work.operations++ == 0) work.extent = operation.range;
  work.extent.end = std::max(work.extent.end, operation.range.end);
  if (operation.kind != TrackKind::kMemory) {
    const bool communicates = operation.kind == TrackKind::kKernels && communication_(operation.name);
    if (!communicates) return work.compute.add(operation.range);
    work.communication.add(operation.range, work.compute);
    const bool is_collective = !sends_or_receives_(operation.name);
    if (is_collective) {
      ++work.collective_operations;
      work.collectives.add(operation.range);
    }
    ++work.communication_operations;
    if (++communication_operations_ <= kMostMatched)
      rank.kernels.push_back({operation.range, operation.event, operation.name, is_collective});
    else if (communication_operations_ == kMostMatched + 1)
      for (auto& [key, each] : ranks_) each.kernels = {};
    return;
  }
  work.memory.add(operation.range, work.compute);
  const MemoryDetail& detail = trace_.memory_detail(operation.detail);
  const bool migrates = detail.copy_kind == CopyKind::kUnifiedHostToDevice || detail.copy_kind == CopyKind::kUnifiedDeviceToHost;  // not a copy by a call
  if (is_transfer(detail) && !migrates && !moves_pageable_memory(detail)) work.transfers.add(operation.range, work.compute);
}

std::vector<RankWork> RankCollector::take() {
  std::vector<RankWork> all;
  all.reserve(ranks_.size());
  const bool all_time = time_.begin == std::numeric_limits<Nanoseconds>::min();
  const GpuTracks tracks(trace_);
  for (auto& [key, rank] : ranks_) {
    RankWork& work = rank.work;
    work.process = key.first;
    work.gpu = key.second;
    for (TimeBeside* each : {&work.communication, &work.transfers, &work.memory}) each->finish(work.compute);
    work.communication_kernels = std::make_shared<const std::vector<CommunicationKernel>>(std::move(rank.kernels));
    work.first = work.extent.begin;
    if (!all_time) work.extent = time_.intersected(extent_of(trace_, tracks.of(work.gpu, work.process)));  // shares refer to the time that was asked for
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
