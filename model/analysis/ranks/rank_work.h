// GPU work of each process on each GPU, by its purpose: what a rank of a distributed program did.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "model/trace/trace.h"
#include "threads/call_class.h"
#include "threads/lane_cursor.h"

namespace lanescope::analysis {

struct CommunicationKernel {
  TimeRange range;
  EventRef event;
  NameId name = 0;
  bool is_collective = true;  // false: a send or receive
};

// Up to this many communication kernels of all ranks, each of them is kept: matching them takes some 150 bytes each.
inline constexpr std::size_t kMostMatched = 4'000'000;

// Cheap to copy: copies share their kernels.
struct RankWork {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  std::uint64_t operations = 0;
  Nanoseconds first = 0;                       // start of its first operation
  TimeRange extent;                            // from the first operation to the last, cut to the time that was asked for
  CoveredTime compute;                         // time of kernels that do not communicate, and of whole graphs
  TimeBeside communication;                    // time of kernels of communication libraries; beside `compute`, as are the next two
  TimeBeside transfers;                        // time of copies between memories, except those of pageable memory and migrations
  TimeBeside memory;                           // time of all copies and sets
  CoveredTime collectives;                     // time of kernels of communication libraries, except sends and receives
  std::uint64_t collective_operations = 0;     // number of these
  std::uint64_t communication_operations = 0;  // all kernels of communication libraries
  // Each of these, by start. Never null, and empty if all ranks together have more than kMostMatched.
  std::shared_ptr<const std::vector<CommunicationKernel>> communication_kernels;
};

// True if the ranks that worked were recorded for about the same time, to within a fifth. Otherwise sums over their times can't be compared.
[[nodiscard]] bool are_of_like_length(std::span<const RankWork> ranks);

// Collects the work of all ranks that counts, if a condition is given. Of a saved part of a recording, operations count as far as they lie in it: what ran
// beside the rest was not saved. Memory does not grow with the operations, except for communication kernels.
class RankCollector : public OperationVisitor {
 public:
  using Counts = std::function<bool(const GpuOperation&)>;
  // `time` is the time of the operations that it will see. The trace must outlive it.
  RankCollector(const Trace& trace, TimeRange time, Counts counts);

  void begin(GpuId gpu) override;
  void visit(std::span<const GpuOperation> operations) override;
  void end() override {}

  // Returns the work of each rank with any operation, by process and GPU, after it has seen everything. Must be called once.
  [[nodiscard]] std::vector<RankWork> take();

 private:
  struct Rank {
    RankWork work;
    std::vector<CommunicationKernel> kernels;  // empty once all ranks together have more than kMostMatched
    TimeRange recorded = GpuOperations::kEver;
  };
  void add(const GpuOperation& operation, Rank& rank);

  const Trace& trace_;
  TimeRange time_;
  Counts counts_;
  NameMemo<bool> communication_, sends_or_receives_;
  std::map<std::pair<ProcessId, GpuId>, Rank> ranks_;
  std::uint64_t communication_operations_ = 0;  // of all ranks
  GpuId gpu_ = kNone;                           // the current GPU
  ProcessId last_process_ = kNone;              // operations often follow others of the same process
  Rank* last_ = nullptr;
};

// How long a rank computed, or did anything except communication, within times that are asked for one after another: `RankWork::compute`, without its
// condition of what counts.
class ComputedTime {
 public:
  enum class Copies : std::uint8_t { kLeftOut, kCount };  // between memories, and sets
  // For tracks of GPU work. O(lanes). The trace and the answers must outlive it.
  ComputedTime(const Trace& trace, std::span<const TrackId> tracks, NameMemo<bool>& communicates, Copies copies = Copies::kLeftOut);
  // Cheapest if times ascend: O(lanes), plus O(k log k) of the operations within.
  [[nodiscard]] Nanoseconds within(TimeRange time);

 private:
  struct Source {
    LaneCursor cursor;
    TrackKind kind;
  };
  std::vector<Source> sources_;
  NameMemo<bool>& communicates_;
  std::vector<TimeRange> found_;
};

// True if the operation of a memory track is a copy that could run beside kernels of the GPU: between different memories.
[[nodiscard]] bool is_transfer(const MemoryDetail& detail) noexcept;
[[nodiscard]] bool moves_pageable_memory(const MemoryDetail& detail) noexcept;

}  // namespace lanescope::analysis
