// GPU work of each process on each GPU, by what it is for: what a rank of a distributed program did.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "model/trace/interval_union.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct CommunicationKernel {
  NameId name = 0;
  TimeRange range;
};

// Cheap to copy: copies share their times.
struct RankWork {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  std::uint64_t operations = 0;
  Nanoseconds first = 0;      // when its first operation began
  TimeRange extent;           // from the first operation to the last, or all of the time that was asked for
  IntervalUnion compute;        // kernels that do not communicate, and whole graphs
  IntervalUnion communication;  // kernels of communication libraries...
  IntervalUnion transfers;      // copies between memories, but for those of pageable memory
  IntervalUnion memory;         // all copies and sets
  std::shared_ptr<const std::vector<CommunicationKernel>> communication_kernels;  // ...and each of them, by start; never null
};

// Of what begins within the time and counts, where a condition is given. O(n log lanes).
[[nodiscard]] std::vector<RankWork> rank_work(const Trace& trace, TimeRange time, const std::function<bool(EventRef)>& counts,
                                              const std::stop_token& stop = {});

// Whether the operation of a memory track is a copy that could run beside kernels of the GPU: between different memories.
[[nodiscard]] bool is_transfer(const MemoryDetail& detail) noexcept;
[[nodiscard]] bool moves_pageable_memory(const MemoryDetail& detail) noexcept;

}  // namespace lanescope::analysis
