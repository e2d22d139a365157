// The GPU work, the calls and the time that findings are shares of: those of the program's loop, where one is known.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
#include "ranks/rank_waits.h"
#include "ranks/rank_work.h"

namespace lanescope::analysis {

// Whether counters of kernels were read while the program ran. Then that is what the profiler held it up for, as was asked for.
[[nodiscard]] bool reads_counters(const Trace& trace) noexcept;

// What shares are of: `the loop "step_*"`, "the time".
[[nodiscard]] Message loop_time_text(const Families& families, const Loop& loop);

// When that is, in a column of a table: "once", "loop"; empty where no loop is known.
[[nodiscard]] std::string_view when_text(const Loop& loop, Recurrence recurrence) noexcept;

// Iterations behind the `warm_up` first in which the process began to read counters of kernels, in order; none where fewer than kLeastLeftAlone
// were left alone.
inline constexpr std::size_t kLeastLeftAlone = 3;
[[nodiscard]] std::vector<TimeRange> disturbed_of(ProcessId process, std::span<const TimeRange> iterations, std::size_t warm_up, const ReadingTimes& readings);

// What a program pays once (setup, warm-up) would dilute what its loop pays again and again, so it does not count. Where only a part of the
// trace was asked for, all of that counts, and where no loop is known, everything.
//
// Any thread.
class LoopWork {
 public:
  // O(NVTX ranges, and GPU work behind the loop, and in it that was enqueued before).
  explicit LoopWork(const RuleContext& context);

  [[nodiscard]] const Loop& loop() const noexcept { return loop_; }
  // Those of the loop, with those that warm up; none where only a part of the trace was asked for.
  [[nodiscard]] const std::vector<IterationSeries>& iterations() const noexcept { return iterations_; }
  // Those that were met on the way to the loop, whose family is one of them.
  [[nodiscard]] const Families& families() const noexcept { return families_; }
  [[nodiscard]] Recurrence recurrence(const GpuOperation& operation) const { return has(operation) ? Recurrence::kRecurring : Recurrence::kOnce; }
  [[nodiscard]] Recurrence recurrence(EventRef operation) const { return has(operation) ? Recurrence::kRecurring : Recurrence::kOnce; }
  // Whether an operation of a GPU belongs to it: it was enqueued in the loop of its process. O(1) within the loop's time, else O(log n).
  [[nodiscard]] bool has(const GpuOperation& operation) const;
  [[nodiscard]] bool has(EventRef operation) const;
  // The same, of one whose start is known.
  [[nodiscard]] bool has(EventRef operation, Nanoseconds start) const;
  // Of a lane's operations that begin in the time, those that belong to it: how many, and how long they take together. Looks at each of those alone that begin
  // behind the loop; of others only at the ends of the time and of the loop.
  struct Share {
    std::uint64_t operations = 0;
    Nanoseconds time = 0;
  };
  [[nodiscard]] Share share_of(LaneId lane, TimeRange time) const;
  // Whether what a process does on the CPU at t belongs to it.
  [[nodiscard]] bool has(ProcessId process, Nanoseconds t) const { return loop_.recurrence(process, t, t) == Recurrence::kRecurring; }
  // Whether a part of a gap does: GPUs go on with the loop's work after the CPU has left it.
  [[nodiscard]] bool has(const IdleGap& gap, const IdlePart& part) const;
  // Of a process, while it was in its loop, and to the end of the GPU work that it enqueued there; none where it takes no part. O(log processes).
  [[nodiscard]] std::optional<TimeRange> of_process(ProcessId process) const noexcept;
  // Of a GPU that works during the extent, what belongs to it: while processes that use it are in their loops, or it has work of these; behind
  // what they enqueued before.
  [[nodiscard]] TimeRange of_gpu(GpuId gpu, TimeRange extent) const noexcept;
  // Iterations of the process in which counters of kernels were read: disturbed_of. What these take, and for how long GPUs are idle in them, says
  // nothing of the program: it runs on with an empty queue and cold caches.
  [[nodiscard]] std::span<const TimeRange> disturbed(ProcessId process) const noexcept;
  // How many that are, of all processes.
  [[nodiscard]] std::size_t disturbed_iterations() const noexcept;
  // Replaces causes of idle time in disturbed iterations by `overhead`. `parts` are those of the gap, `into` is what is visited in place of them.
  void lay_to_reading(const IdleGap& gap, std::span<const IdlePart> parts, std::vector<IdlePart>& into) const;
  // Whether one of them holds t.
  [[nodiscard]] bool is_disturbed(ProcessId process, Nanoseconds t) const noexcept;
  // What shares are of, where it is of a time of the GPU: its length, less what reading counters of kernels took of it. That was asked for, and
  // may be nearly all.
  [[nodiscard]] Nanoseconds span(GpuId gpu, TimeRange time) const { return std::max<Nanoseconds>(0, time.length() - reading(gpu)); }
  // The same of idle time: less all of disturbed iterations, of which none counts.
  [[nodiscard]] Nanoseconds undisturbed_span(GpuId gpu, TimeRange time) const { return std::max<Nanoseconds>(0, span(gpu, time) - disturbed_busy(gpu)); }
  // The time for which the GPU was idle while the program read counters of kernels, and in disturbed iterations; 0 where it read none. The first time O(n log
  // n) where it did.
  [[nodiscard]] Nanoseconds reading(GpuId gpu) const;
  // Of each rank, its work in it. Shares are of the extent: from where its process entered the loop to where it left it, or its work ended; where no
  // iterations are marked, nobody can say when it left, and its work's end counts.
  // A rank that takes no part in the loop has all its work. O(GPU work) the first time, unless collect_ranks() was called and its visitor has seen it.
  [[nodiscard]] const std::vector<RankWork>& of_ranks() const;
  // What is to be shown all work in the time, for of_ranks() not to go through it alone. Requires: nobody asks for of_ranks() before that has ended.
  [[nodiscard]] RankCollector& collect_ranks() const;
  // Whether a rank is one of the loop, or of the trace where no loop is known.
  [[nodiscard]] bool steps(const RankWork& rank) const { return !loop_.known() || loop_.of(rank.process); }
  // How those of the ranks that step waited for each other: one for each of of_ranks(), empty of the others. O(communication kernels) beside that the
  // first time.
  [[nodiscard]] const RankWaits& rank_waits() const;
  // What of the GPUs' work in it the program waits for: found when it is first asked for (awaited_work.h).
  [[nodiscard]] const AwaitedWork& awaited() const;
  [[nodiscard]] Message text() const { return loop_time_text(families_, loop_); }

 private:
  // Sets enqueued_before_. Returns when the loop's part of a GPU begins, of each process that uses it.
  [[nodiscard]] std::map<std::pair<ProcessId, GpuId>, Nanoseconds> find_begins();
  [[nodiscard]] std::vector<RankWork> find_ranks() const;
  struct Reading {
    Nanoseconds idle = 0;            // reading()
    Nanoseconds disturbed_busy = 0;  // what disturbed iterations have beside that
  };
  [[nodiscard]] Reading reading_of(GpuId gpu) const;
  [[nodiscard]] Nanoseconds disturbed_busy(GpuId gpu) const { return reading_of(gpu).disturbed_busy; }
  [[nodiscard]] std::map<GpuId, Reading> find_readings() const;
  void find_disturbed();

  const Trace& trace_;
  TimeRange time_;
  std::shared_ptr<SharedLaunchIndex> launch_index_;
  std::stop_token stop_;
  Families families_;
  std::vector<IterationSeries> iterations_;
  Loop loop_;
  std::vector<std::optional<TimeRange>> loops_;  // loop_.of each process: asked of each operation
  std::map<ProcessId, std::vector<TimeRange>> disturbed_;
  std::map<ProcessId, TimeRange> processes_;                // of_process()
  std::map<GpuId, TimeRange> gpus_;                         // that processes use in their loops
  std::unordered_map<LaneId, EventIndex> enqueued_before_;  // where GPUs did in the loop's time what was enqueued before: the first operation behind
  mutable std::once_flag readings_are_known_;
  mutable std::map<GpuId, Reading> readings_;
  mutable std::unique_ptr<RankCollector> rank_collector_;
  mutable std::once_flag ranks_are_known_;
  mutable std::vector<RankWork> ranks_;
  mutable std::once_flag rank_waits_are_known_;
  mutable RankWaits rank_waits_;
  mutable std::once_flag awaited_is_known_;
  mutable std::optional<AwaitedWork> awaited_;
};

// That of the context, found when the first rule asks for it, and shared by all that do. Any thread.
[[nodiscard]] const LoopWork& loop_work(const RuleContext& context);

}  // namespace lanescope::analysis
