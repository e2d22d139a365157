// What GPUs did in the iterations of processes, and for these: internal to rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "loop/loop_work.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"

namespace lanescope::analysis {

// What the time of an iteration is made of, seen from the GPUs of its process.
// Behind the idle causes stands GPU work that the iteration enqueued, whenever it was done: but for communication; communication that nothing else runs
// beside; and such as far as it is known to be waiting for a rank that came later. Last come other processes that use the GPU: what it did for them alone, and
// idle time in front of that.
inline constexpr std::size_t kWork = kIdleCauses, kCommunicating = kIdleCauses + 1, kWaiting = kIdleCauses + 2, kOthers = kIdleCauses + 3;
inline constexpr std::size_t kComponents = kIdleCauses + 4;
using Components = std::array<Nanoseconds, kComponents>;

struct Iteration {
  EventRef range;
  TimeRange time;
};

// Of one process: in order, none of which overlaps another. There may be millions, of which nothing but the time is known.
struct Iterations {
  struct OfGpu {
    std::array<std::vector<Nanoseconds>, kComponents> components;  // of each; empty where it is 0 in all
    std::vector<Nanoseconds> reading;                              // likewise, counters of kernels: for how long the GPU was idle for it
    std::vector<Nanoseconds> busy;                                 // likewise: for how long the GPU worked for its process in its time
    std::vector<Nanoseconds> held;  // likewise: for how long the GPU was idle in its time, as what another iteration enqueued waited on the GPU
    [[nodiscard]] Nanoseconds busy_in(std::size_t iteration) const { return busy.empty() ? 0 : busy[iteration]; }
    [[nodiscard]] Nanoseconds held_in(std::size_t iteration) const { return held.empty() ? 0 : held[iteration]; }
    [[nodiscard]] Nanoseconds of(std::size_t iteration, std::size_t component) const {
      return components[component].empty() ? 0 : components[component][iteration];
    }
    [[nodiscard]] Nanoseconds enqueued(std::size_t iteration) const { return of(iteration, kWork) + of(iteration, kCommunicating) + of(iteration, kWaiting); }
  };
  struct Origin {  // of waiting in an iteration that enqueued it
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
  // That in which t lies. O(log iterations).
  [[nodiscard]] std::optional<std::size_t> at(Nanoseconds t) const noexcept;
  // Without what reading counters of kernels took, which was asked for.
  [[nodiscard]] Nanoseconds length(std::size_t iteration) const;
};

enum class Overhead : std::uint8_t {
  kDiffers,       // is a cause of idle time as all are
  kReadsCounters  // was asked for
};

// The iterations of a process.
struct OfProcess {
  const IterationSeries* series = nullptr;
  Iterations iterations;
};

// Adds what the GPUs did: what they were busy with in an iteration, what it enqueued, and why they were idle in it. Work counts to the iteration that enqueued
// it: a program that runs ahead pays for the work of many in the one that waits. Work whose launch is not known counts where it was done. Idle time while work
// of another iteration waited on the GPU, for an event or another stream, is no cause of this one's: `held`.
//
// `gpus` are those of each process; `waits` are ordered by kernel. O(operations · log lanes + iterations · log processes), for all processes together.
void add_what_gpus_did(const RuleContext& context, std::span<const KernelWait> waits, const std::map<ProcessId, std::vector<GpuId>>& gpus, Overhead overhead,
                       std::span<OfProcess> processes);

}  // namespace lanescope::analysis
