// What changed from one trace to another, and what of that is more than noise.
//
// Traces are aligned by the iterations of their loop (an NVTX range that repeats): everything is compared per iteration, and only what
// happened in iterations counts. Where there are none, the whole traces are compared, cut into kSlices pieces of equal length. Either way
// each trace gives a series of samples for each item; a bootstrap over them, with a fixed seed, tells how far the change could lie from
// what was seen. A change whose interval includes zero is noise.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class DiffKind : std::uint8_t {
  kDuration,  // of iterations, else from the first event to the last
  kGpuBusy,   // time in which GPUs worked, and...
  kGpuIdle,   // ...in which they did not, in all and by cause
  kKernel,
  kMemory,  // copies and sets
  kApi,
  kRange,  // NVTX ranges, by family: "step_*"
};
[[nodiscard]] std::string_view diff_kind_name(DiffKind kind) noexcept;  // "Kernel"

enum class DiffVerdict : std::uint8_t {
  kSame,  // no change, or not more than noise
  kMore,  // more time in the second trace
  kLess,
  kOnlyFirst,  // not in the second trace
  kOnlySecond,
  kUnsure,  // changed, but there are too few samples to tell it from noise
};
[[nodiscard]] std::string_view diff_verdict_name(DiffVerdict verdict) noexcept;  // "more"

struct DiffSide {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  double per_iteration = 0;  // ns; without iterations the total
};

struct DiffItem {
  DiffKind kind = DiffKind::kDuration;
  std::string name;
  DiffSide first, second;
  double change = 0;      // percent of the first; NaN where the first has none
  double change_low = 0;  // the interval that holds the change with kConfidence; NaN where it can't be told
  double change_high = 0;
  DiffVerdict verdict = DiffVerdict::kSame;
  [[nodiscard]] double difference() const noexcept { return second.per_iteration - first.per_iteration; }  // ns
};

struct DiffOptions {
  std::string range;                // the iterations' NVTX range; chosen when empty
  std::optional<std::size_t> skip;  // first iterations of each process that do not count; those that warm up when not given
  std::stop_token stop = {};        // when asked to stop, the comparison ends soon, with a result that is of no use
};

struct TraceDiff {
  static constexpr std::size_t kSlices = 50;
  static constexpr double kConfidence = 0.99;
  std::string aligned_by;      // the family of ranges; empty where none repeats in both
  std::string repeating_work;  // then: the kernel that begins each iteration in both; empty: whole traces
  [[nodiscard]] bool by_iteration() const noexcept { return !aligned_by.empty() || !repeating_work.empty(); }
  std::size_t first_iterations = 0;
  std::size_t second_iterations = 0;
  std::size_t first_skipped = 0;  // iterations that were left out
  std::size_t second_skipped = 0;
  std::vector<DiffItem> items;  // duration, GPUs, then by difference, the largest first
};

// O(n log n) over the events of both. Fails when options.range names no range of one of the traces, or skip leaves no iteration.
[[nodiscard]] Result<TraceDiff> compare_traces(const Trace& first, const Trace& second, const DiffOptions& options = {});

}  // namespace lanescope::analysis
