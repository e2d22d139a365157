// What GPUs did during iterations of processes, and for these iterations: internal to rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "loop/loop_work.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"

namespace lanescope::analysis {

// What the time of an iteration consists of, as seen from the GPUs of its process. After the idle causes comes GPU work that the iteration enqueued,
// whenever it was done: first all except communication; then communication beside which nothing else runs; then the part of that which is known to be
// waiting for a rank that came later. Last come other processes that use the GPU: what it did for them alone; then idle time in front of their work,
// in which this process had nothing for the GPU either.
inline constexpr std::size_t kWork = kIdleCauses, kCommunicating = kIdleCauses + 1, kWaiting = kIdleCauses + 2, kOthers = kIdleCauses + 3,
                             kIdleForOthers = kIdleCauses + 4;
inline constexpr std::size_t kComponents = kIdleCauses + 5;
using Components = std::array<Nanoseconds, kComponents>;

struct Iteration {
  EventRef range;
  TimeRange time;
};

// Iterations of one process: in order, and none overlap. There may be millions for which only the time is known.
struct Iterations {
  struct OfGpu {
    std::array<std::vector<Nanoseconds>, kComponents> components;  // of each iteration; empty if it is 0 in all
    std::vector<Nanoseconds> reading;                              // likewise, counters of kernels: how long the GPU was idle because of them
    std::vector<Nanoseconds> busy;                                 // likewise: how long the GPU worked for its process in the iteration's time
    std::vector<Nanoseconds> held;  // likewise: how long the GPU was idle in its time because work of another iteration waited on the GPU
    [[nodiscard]] Nanoseconds busy_in(std::size_t iteration) const { return busy.empty() ? 0 : busy[iteration]; }
    [[nodiscard]] Nanoseconds held_in(std::size_t iteration) const { return held.empty() ? 0 : held[iteration]; }
    [[nodiscard]] Nanoseconds of(std::size_t iteration, std::size_t component) const {
      return components[component].empty() ? 0 : components[component][iteration];
    }
    [[nodiscard]] Nanoseconds enqueued(std::size_t iteration) const { return of(iteration, kWork) + of(iteration, kCommunicating) + of(iteration, kWaiting); }
  };
  struct Origin {  // of waiting in work that the iteration enqueued
    std::size_t iteration = 0;
    std::uint32_t rank = 0;  // of LoopWork::of_ranks
    Nanoseconds time = 0;
  };
  std::vector<Iteration> all;
  std::map<GpuId, OfGpu> gpus;
  std::vector<Origin> origins;

  void add(std::vector<Nanoseconds>& times, std::size_t iteration, Nanoseconds time) const {
    if (time == 0) return;
    times.resize(all.size());
    times[iteration] += time;
  }
  // The iteration that contains t. O(log iterations).
  [[nodiscard]] std::optional<std::size_t> at(Nanoseconds t) const noexcept;
  // Without the time that reading counters of kernels took, which was asked for.
  [[nodiscard]] Nanoseconds length(std::size_t iteration) const;
};

// The iterations of a process.
struct OfProcess {
  const IterationSeries* series = nullptr;
  Iterations iterations;
};

// Adds what the GPUs did: how long they were busy in an iteration, what it enqueued, and why they were idle in it. Work counts for the iteration that
// enqueued it, because when a program runs ahead, the iteration that waits would otherwise be charged for the work of many. Work whose launch is not
// known counts in the iteration in which it was done. Idle time while work of another iteration waited on the GPU, for an event or another stream, is
// no cause of this one's length: `held`.
//
// `gpus` are those of each process; `waits` are ordered by kernel. Overhead on GPUs in `with_readings` (counter_readings.h) is no cause of idle time: it
// was asked for. O(operations · log lanes + iterations · log processes), for all processes together.
void add_what_gpus_did(const RuleContext& context, std::span<const KernelWait> waits, const std::map<ProcessId, std::vector<GpuId>>& gpus,
                       const std::set<GpuId>& with_readings, std::span<OfProcess> processes);

}  // namespace lanescope::analysis
