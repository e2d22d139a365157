// GPU work of each process on each GPU, by what it is for: what a rank of a distributed program did.
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
  bool is_collective = true;  // or a send or receive
};

// Of how many communication kernels of all ranks each is kept: to match them takes some 150 bytes each.
inline constexpr std::size_t kMostMatched = 4'000'000;

// Cheap to copy: copies share their kernels.
struct RankWork {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  std::uint64_t operations = 0;
  Nanoseconds first = 0;                       // when its first operation began
  TimeRange extent;                            // from the first operation to the last, or all of the time that was asked for
  CoveredTime compute;                         // by kernels that do not communicate, and whole graphs
  TimeBeside communication;                    // by kernels of communication libraries; beside `compute`, as are the next two
  TimeBeside transfers;                        // by copies between memories, but for those of pageable memory and migrations
  TimeBeside memory;                           // by all copies and sets
  CoveredTime collectives;                     // by kernels of communication libraries, but for sends and receives
  std::uint64_t collective_operations = 0;     // how many these are
  std::uint64_t communication_operations = 0;  // all kernels of communication libraries...
  // ...and each of them, by start; never null, and empty where all ranks together have more than kMostMatched.
  std::shared_ptr<const std::vector<CommunicationKernel>> communication_kernels;
};

// Whether the ranks that worked were recorded for about as long, to within a fifth: else sums over their times say nothing of one against the others.
[[nodiscard]] bool are_of_like_length(std::span<const RankWork> ranks);

// Collects that of all ranks, of what counts, where a condition is given. Memory does not grow with the operations, but for communication kernels.
class RankCollector : public OperationVisitor {
 public:
  using Counts = std::function<bool(const GpuOperation&)>;
  // `time` is that of the operations that it will see. The trace must outlive it.
  RankCollector(const Trace& trace, TimeRange time, Counts counts);

  void begin(GpuId gpu) override;
  void visit(std::span<const GpuOperation> operations) override;
  void end() override {}

  // Once it has seen all, of each rank with any operation, by process and GPU. To be called once.
  [[nodiscard]] std::vector<RankWork> take();

 private:
  struct Rank {
    RankWork work;
    std::vector<CommunicationKernel> kernels;  // empty once all have more than kMostMatched
  };
  void add(const GpuOperation& operation, Rank& rank);

  const Trace& trace_;
  TimeRange time_;
  Counts counts_;
  NameMemo<bool> communication_, sends_or_receives_;
  std::map<std::pair<ProcessId, GpuId>, Rank> ranks_;
  std::uint64_t communication_operations_ = 0;  // of all
  GpuId gpu_ = kNone;                           // that is gone through
  ProcessId last_process_ = kNone;              // operations often follow others of their process
  Rank* last_ = nullptr;
};

// How long a rank computed, or did anything but communicate, within times that are asked for one after the other: `RankWork::compute`, whatever counts.
class ComputedTime {
 public:
  enum class Copies : std::uint8_t { kLeftOut, kCount };  // between memories, and sets
  // Of tracks of GPU work. O(lanes). The trace and the answers must outlive it.
  ComputedTime(const Trace& trace, std::span<const TrackId> tracks, NameMemo<bool>& communicates, Copies copies = Copies::kLeftOut);
  // Takes least where times ascend: O(lanes), and O(k log k) of the operations within.
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

// Whether the operation of a memory track is a copy that could run beside kernels of the GPU: between different memories.
[[nodiscard]] bool is_transfer(const MemoryDetail& detail) noexcept;
[[nodiscard]] bool moves_pageable_memory(const MemoryDetail& detail) noexcept;

}  // namespace lanescope::analysis
