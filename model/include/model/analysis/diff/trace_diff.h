// Changes from one trace to another, or from some runs of a program to others, and which of them are more than noise.
//
// Traces are aligned by the iterations of their loop (an NVTX range that repeats): everything is compared per iteration, and only what happened in
// iterations counts; the same iteration of several ranks is one sample. If there are no iterations, the whole traces are compared, cut into kSlices
// pieces of equal length. In both cases a trace gives a series of samples for each item, which tells its noise within a run. If there are several runs
// a side, each gives one value, and the spread of the values is the noise. The interval of a change allows for the number of compared items: if nothing
// changed, one of kFalseAlarms comparisons says that something did. A change whose interval includes zero is noise.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class DiffKind : std::uint8_t {
  kDuration,  // of iterations, otherwise from the first event to the last
  kGpuBusy,   // time in which GPUs worked, and...
  kGpuIdle,   // ...in which they did not, in all and by cause
  kKernel,
  kMemory,  // copies and sets
  kApi,
  kRange,     // NVTX ranges, by family: "step_*"
  kProducts,  // matrix products by the NVTX ranges around their launches, if their kernels have other names now
};
[[nodiscard]] std::string_view diff_kind_name(DiffKind kind) noexcept;  // "Kernel"

enum class DiffVerdict : std::uint8_t {
  kSame,  // no change, or one within noise that is small: the interval lies within TraceDiff::kNarrow percent
  kMore,  // more time in the second trace
  kLess,
  kOnlyFirst,  // not in the second trace
  kOnlySecond,
  kUnsure,  // changed, but there are too few samples to tell it from noise, the interval includes zero and is wide, or was_left_out
};
[[nodiscard]] std::string_view diff_verdict_name(DiffVerdict verdict) noexcept;  // "more"

struct DiffSide {
  std::uint64_t count = 0;  // in all runs and ranks
  Nanoseconds total = 0;
  double per_iteration = 0;  // ns, the mean of ranks and of runs; the total of a run if there are no iterations
};

struct DiffItem {
  DiffKind kind = DiffKind::kDuration;
  std::string name;  // for kProducts "step_*: FP32 -> TF32"
  // For ranges of a family that several NVTX domains have, in any of the runs: the domain of these, "" for the default domain. `name` ends with it then:
  // "step_*@loader". Null for others.
  std::shared_ptr<const std::string> domain;
  DiffSide first, second;
  double change = 0;      // percent of the first; NaN if the first has none
  double change_low = 0;  // the interval in which the change lies; NaN if it is not given
  double change_high = 0;
  DiffVerdict verdict = DiffVerdict::kSame;
  bool was_left_out = false;  // there are very many items, and this is one of those that differ least: it was not judged
  // For items that are unsure: true if noise is known, and is large; otherwise there are too few samples.
  [[nodiscard]] bool is_too_noisy() const noexcept { return verdict == DiffVerdict::kUnsure && !std::isnan(change_low); }
  [[nodiscard]] double difference() const noexcept { return second.per_iteration - first.per_iteration; }  // ns
};

// The family of the ranges that an item of kRange is about.
[[nodiscard]] std::string family_of_ranges(const DiffItem& item);

struct DiffOptions {
  std::string range;                // the iterations' NVTX range; chosen if empty
  std::optional<std::size_t> skip;  // first iterations of each process that do not count; if not given, those that warm up
  std::stop_token stop = {};        // when asked to stop, the comparison ends soon, with a result that is of no use
};

struct TraceDiff {
  static constexpr std::size_t kSlices = 50;
  static constexpr double kFalseAlarms = 0.01;
  static constexpr double kNarrow = 20;  // percent: if the change may be larger than this, the item is not called the same
  // If there are more items than these, or their samples are more than these together, only the items whose times differ most are judged against noise.
  static constexpr std::size_t kMostJudged = 20'000;
  static constexpr std::size_t kMostJudgedSamples = 200'000'000;
  std::string aligned_by;      // the family of ranges; empty if none repeats in both
  std::string repeating_work;  // then: the kernel that starts each iteration in both; empty: whole traces
  [[nodiscard]] bool by_iteration() const noexcept { return !aligned_by.empty() || !repeating_work.empty(); }
  std::size_t first_iterations = 0;  // of all runs; the same iteration of several ranks counts once
  std::size_t second_iterations = 0;
  std::size_t first_skipped = 0;  // iterations that were left out
  std::size_t second_skipped = 0;
  std::size_t first_disturbed = 0;  // iterations that were left out because counters of kernels were read in them
  std::size_t second_disturbed = 0;
  std::size_t first_left_out = 0;  // iterations of all ranks that the recordings do not have whole (docs/analysis.md, Iterations)
  std::size_t second_left_out = 0;
  std::size_t first_inside = 0;  // ranges of all ranks that lie inside another iteration
  std::size_t second_inside = 0;
  std::size_t first_elsewhere = 0;  // and on other threads, at the same time
  std::size_t second_elsewhere = 0;
  std::size_t first_runs = 1;
  std::size_t second_runs = 1;
  std::vector<DiffItem> items;  // duration, GPUs, then by difference, the largest first
};

// O(n log n) over the events of both. Fails if options.range names no range of one of the traces, or if skip leaves no iteration.
[[nodiscard]] Result<TraceDiff> compare_traces(const Trace& first, const Trace& second, const DiffOptions& options = {});

// The same for runs of a program before and after a change. Requires: one run a side or more, none null.
using Runs = std::span<const std::shared_ptr<const Trace>>;
[[nodiscard]] Result<TraceDiff> compare_runs(Runs first, Runs second, const DiffOptions& options = {});

}  // namespace lanescope::analysis
