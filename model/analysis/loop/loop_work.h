// The GPU work, the calls and the time that findings are shares of: those of the program's loop, if one is known.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "awaited_work.h"
#include "idle/counter_readings.h"
#include "idle/gpu_operations.h"
#include "iterations.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"
#include "model/text/message.h"
#include "model/trace/storage/interval_union.h"
#include "ranks/programs.h"
#include "ranks/rank_work.h"

namespace lanescope::analysis {

// True if counters of kernels were read while the program ran. Then the profiler held up the program for that, as was asked for.
[[nodiscard]] bool reads_counters(const Trace& trace) noexcept;

// What shares refer to: `the loop "step_*"`, "the time".
[[nodiscard]] Message loop_time_text(const Families& families, const Loop& loop);

// The recurrence in a column of a table: "once", "loop"; empty if no loop is known.
[[nodiscard]] std::string_view when_text(const Loop& loop, Recurrence recurrence) noexcept;

// Iterations after the first `warm_up` in which the process started to read counters of kernels, in order; empty if fewer than kLeastLeftAlone were not
// disturbed.
inline constexpr std::size_t kLeastLeftAlone = 3;
[[nodiscard]] std::vector<TimeRange> disturbed_of(ProcessId process, std::span<const TimeRange> iterations, std::size_t warm_up, const ReadingTimes& readings);

// Costs that a program pays once (setup, warm-up) would dilute the costs that its loop pays again and again, so they do not count. If only a part of
// the trace was asked for, all of the part counts; if no loop is known, everything counts.
//
// Any thread.
class LoopWork {
 public:
  // O(NVTX ranges, plus GPU work after the loop, plus GPU work in it that was enqueued before).
  explicit LoopWork(const RuleContext& context);

  [[nodiscard]] const Loop& loop() const noexcept { return loop_; }
  // Iterations of the loop, including those that warm up; empty if only a part of the trace was asked for.
  [[nodiscard]] const std::vector<IterationSeries>& iterations() const noexcept { return iterations_; }
  // Families that were found in the search for the loop, which is of one of them.
  [[nodiscard]] const Families& families() const noexcept { return families_; }
  [[nodiscard]] Recurrence recurrence(const GpuOperation& operation) const { return has(operation) ? Recurrence::kRecurring : Recurrence::kOnce; }
  [[nodiscard]] Recurrence recurrence(const IdleGap& gap, const IdlePart& part) const { return has(gap, part) ? Recurrence::kRecurring : Recurrence::kOnce; }
  [[nodiscard]] Recurrence recurrence(EventRef operation) const { return has(operation) ? Recurrence::kRecurring : Recurrence::kOnce; }
  // True if an operation of a GPU belongs to it: it was enqueued in the loop of its process. O(1) within the loop's time, otherwise O(log n).
  [[nodiscard]] bool has(const GpuOperation& operation) const;
  [[nodiscard]] bool has(EventRef operation) const;
  // The same for an operation whose start is known.
  [[nodiscard]] bool has(EventRef operation, Nanoseconds start) const;
  // The operations of a lane that start in the time and belong to it: their number and their total time. Looks at each operation that starts after the
  // loop; of the others only at those at the ends of the time and of the loop.
  struct Share {
    std::uint64_t operations = 0;
    Nanoseconds time = 0;
  };
  [[nodiscard]] Share share_of(LaneId lane, TimeRange time) const;
  // True if what a process does on the CPU at t belongs to it.
  [[nodiscard]] bool has(ProcessId process, Nanoseconds t) const { return loop_.recurrence(process, t, t) == Recurrence::kRecurring; }
  // True if a part of a gap belongs to it: GPUs go on with the loop's work after the CPU has left it, and begin with it after what was enqueued before.
  [[nodiscard]] bool has(const IdleGap& gap, const IdlePart& part) const;
  // The time for which a process was in its loop, and up to the end of the GPU work that it enqueued there; nothing if it takes no part. O(log
  // processes).
  [[nodiscard]] std::optional<TimeRange> of_process(ProcessId process) const noexcept;
  // The part that belongs to it of the extent in which a GPU works: while processes that use the GPU are in their loops, or it has work of these loops;
  // after the work that they enqueued before.
  [[nodiscard]] TimeRange of_gpu(GpuId gpu, TimeRange extent) const noexcept;
  // Iterations of the process in which counters of kernels were read: disturbed_of. Their length, and the idle time of GPUs in them, says nothing about
  // the program: it runs with an empty queue and cold caches.
  [[nodiscard]] std::span<const TimeRange> disturbed(ProcessId process) const noexcept;
  // The number of these iterations, of all processes.
  [[nodiscard]] std::size_t disturbed_iterations() const noexcept;
  // Replaces the causes of idle time in disturbed iterations by `overhead`. `parts` are those of the gap; `into` is visited instead.
  void lay_to_reading(const IdleGap& gap, std::span<const IdlePart> parts, std::vector<IdlePart>& into) const;
  // True if a disturbed iteration contains t.
  [[nodiscard]] bool is_disturbed(ProcessId process, Nanoseconds t) const noexcept;
  // GPUs of the processes that read counters of kernels (counter_readings.h).
  [[nodiscard]] const std::set<GpuId>& with_readings() const noexcept { return with_readings_; }
  // The base of shares for a time of the GPU: its length, minus the part that reading counters of kernels took. That was asked for, and may be nearly
  // all.
  [[nodiscard]] Nanoseconds span(GpuId gpu, TimeRange time) const { return std::max<Nanoseconds>(0, time.length() - reading(gpu)); }
  // The same for idle time: it also excludes all of the disturbed iterations, none of which counts.
  [[nodiscard]] Nanoseconds undisturbed_span(GpuId gpu, TimeRange time) const { return std::max<Nanoseconds>(0, span(gpu, time) - disturbed_busy(gpu)); }
  // The time for which the GPU was idle while the program read counters of kernels, and in disturbed iterations; 0 if it read none. If it read some,
  // O(n log n) the first time.
  [[nodiscard]] Nanoseconds reading(GpuId gpu) const;
  // A visitor that should be shown all work in the time, so that reading() need not go through it alone; null if there is nothing to look for, or if
  // only a part of the trace is looked at. Requires: nobody asks for reading(), or a span, before the visit has ended.
  [[nodiscard]] OperationVisitor* collect_readings() const;
  // For each rank, its work in the loop. Shares refer to the extent: from where its process entered the loop to where it left it, or to the end of its
  // work. If no iterations are marked, nobody can say when it left, and the end of its work counts. For a rank that takes no part in the loop, all its
  // work. O(GPU work) the first time, unless collect_ranks() was called and its visitor has seen the work.
  [[nodiscard]] const std::vector<RankWork>& of_ranks() const;
  // A visitor that should be shown all work in the time, so that of_ranks() need not go through it alone. Requires: nobody asks for of_ranks() before
  // the visit has ended.
  [[nodiscard]] RankCollector& collect_ranks() const;
  // The programs of these ranks, and how the ranks of each waited for each other. If only a part of the trace was asked for, the loops of the whole trace
  // tell programs apart, and ranks that take part in none are one more. The first time, O(communication kernels · log n) in addition, and for a part
  // O(NVTX ranges).
  [[nodiscard]] const std::vector<RanksOfProgram>& programs() const;
  // The part of the GPUs' work in the loop for which the program waits; computed when it is first asked for (awaited_work.h).
  [[nodiscard]] const AwaitedWork& awaited() const;
  [[nodiscard]] Message text() const { return loop_time_text(families_, loop_); }
  // The same for the ranks of one program.
  [[nodiscard]] Message text(const RanksOfProgram& program) const;

 private:
  // Sets enqueued_before_. Returns the start of the loop's part of a GPU, for each process that uses it.
  [[nodiscard]] std::map<std::pair<ProcessId, GpuId>, Nanoseconds> find_begins();
  [[nodiscard]] std::vector<RankWork> find_ranks() const;
  [[nodiscard]] std::vector<RanksOfProgram> find_programs_of_ranks() const;
  struct Reading {
    Nanoseconds idle = 0;            // reading()
    Nanoseconds disturbed_busy = 0;  // what disturbed iterations have in addition
  };
  [[nodiscard]] Reading reading_of(GpuId gpu) const;
  [[nodiscard]] Nanoseconds disturbed_busy(GpuId gpu) const { return reading_of(gpu).disturbed_busy; }
  void find_readings() const;
  void begin_readings() const;
  void add_reading(const IdleGap& gap, std::span<const IdlePart> parts) const;
  void find_disturbed();

  const Trace& trace_;
  TimeRange time_;
  std::shared_ptr<SharedLaunchIndex> launch_index_;
  std::stop_token stop_;
  Families families_;
  std::vector<IterationSeries> iterations_;
  Loop loop_;
  std::vector<std::optional<TimeRange>> loops_;  // loop_.of each process: needed for each operation
  std::map<ProcessId, std::vector<TimeRange>> disturbed_;
  std::map<ProcessId, TimeRange> processes_;                   // of_process()
  std::map<GpuId, TimeRange> gpus_;                            // GPUs that processes use in their loops
  std::map<std::pair<ProcessId, GpuId>, Nanoseconds> begins_;  // of the loop's part of each GPU that a process with a loop uses
  std::unordered_map<LaneId, EventIndex> enqueued_before_;     // lanes with work in the loop's time that was enqueued before: the first operation after it
  std::set<GpuId> with_readings_;                              // GPUs whose overhead is the reading of counters
  mutable std::once_flag readings_are_known_;
  mutable std::map<GpuId, Reading> readings_;
  mutable std::map<GpuId, IntervalUnion> disturbed_of_gpus_;      // of all processes that use them
  mutable std::unique_ptr<OperationVisitor> readings_collector_;  // set after collect_readings() was called
  mutable std::vector<IdlePart> laid_;                            // scratch of add_reading()
  mutable std::unique_ptr<RankCollector> rank_collector_;
  mutable std::once_flag ranks_are_known_;
  mutable std::vector<RankWork> ranks_;
  mutable std::once_flag programs_are_known_;
  mutable std::vector<RanksOfProgram> programs_;
  mutable std::once_flag awaited_is_known_;
  mutable std::optional<AwaitedWork> awaited_;
};

// The loop work of the context, computed when the first rule asks for it, and shared by all rules. Any thread.
[[nodiscard]] const LoopWork& loop_work(const RuleContext& context);

}  // namespace lanescope::analysis
