// Counters of kernels that a trace holds, with what it knows of the launches, and what they say of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"
#include "model/kernels/counters/sections.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// Metrics of this name and an opcode behind it count the instructions of that opcode, where another profiler counted them ("...per_opcode.FFMA").
inline constexpr std::string_view kOpcodeMetric = "sass__inst_executed_per_opcode.";

// All launches of a kernel and shape on one GPU by one process, measured or not.
struct AllLaunches {
  std::uint64_t count = 0;
  Nanoseconds time = 0;  // together
};

// How a launch was measured.
struct Measurement {
  EventRef event;  // the kernel, in its trace
  GpuId gpu = kNone;
  ProcessId process = kNone;
  KernelReplay replay = KernelReplay::kOnePass;
  std::uint32_t passes = 0;    // 0: not known, as of what another profiler measured
  std::uint32_t launches = 1;  // over which passes were spread
  Nanoseconds spent = 0;       // by the program, on measuring
  AllLaunches of_its_kind;
};

struct RecordedMetrics {
  KernelMetrics metrics;
  std::vector<Measurement> measurements;  // one for each of metrics.kernels(); empty where there is no trace, as of Nsight Compute's files
  std::vector<LeftOutKernel> left_out;

  // Time of all launches of its kind on the timeline, which is what a gain in one is worth; where there is none, what its counter says of it alone.
  [[nodiscard]] Nanoseconds weight(std::size_t kernel) const;
  // Of each kind of launch one, that of the median duration of those that count, by weight: where several were measured, they say the same. Without
  // measurements all, by weight.
  [[nodiscard]] std::vector<std::size_t> one_of_each(const std::function<bool(const Measurement&)>& counts = {}) const;
  // The measured launch that says most of a kernel of this name and shape: of `event` itself where it is one, else of the median duration.
  // None where none of its kind was measured. An event of another trace is not valid here.
  [[nodiscard]] std::optional<std::size_t> of_kind(std::string_view name, const KernelDetail& shape, EventRef event) const;
  // The clock of multiprocessors while this launch was measured, Hz, where its counters were read by our own run: the clock was the GPU's own,
  // and caches were as they were. None where that is not known, as of what another profiler measured: it may have locked clocks and emptied caches.
  [[nodiscard]] std::optional<double> own_clock(std::size_t kernel) const;
};

// Launches of which the trace has no kernel are left out. Of a time, all launches of a kind are those that begin within it. O(kernels of the trace)
// where there are counters, else O(1).
[[nodiscard]] RecordedMetrics recorded_metrics(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// Of each measurement, those launches of its kind that count. O(kernels of the trace), but O(1) where there are none.
[[nodiscard]] std::vector<AllLaunches> launches_that_count(const Trace& trace, const std::vector<Measurement>& measurements,
                                                           const std::function<bool(EventRef)>& counts);

// Of the kernel's name and shape, on its GPU by its process. O(kernels of the trace).
[[nodiscard]] AllLaunches all_like(const Trace& trace, EventRef kernel);

// Whether the counters of this kernel were read. O(measured launches).
[[nodiscard]] bool is_measured(const Trace& trace, EventRef kernel);

// What the counters of this kernel say; none where they were not read. O(measured launches).
[[nodiscard]] std::optional<Verdict> verdict_of(const Trace& trace, EventRef kernel);

}  // namespace lanescope::kernels
