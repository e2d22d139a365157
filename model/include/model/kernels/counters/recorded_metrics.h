// Counters of kernels in a trace, with what the trace says about the launches, and what the counters mean for the program.
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

// Metrics with this prefix and an opcode count the instructions of that opcode, if another profiler counted them ("...per_opcode.FFMA").
inline constexpr std::string_view kOpcodeMetric = "sass__inst_executed_per_opcode.";

// All launches of a kernel with one shape on one GPU by one process, measured or not.
struct AllLaunches {
  std::uint64_t count = 0;
  Nanoseconds time = 0;  // total
};

// How a launch was measured.
struct Measurement {
  EventRef event;  // the kernel, in its trace
  GpuId gpu = kNone;
  ProcessId process = kNone;
  KernelReplay replay = KernelReplay::kOnePass;
  std::uint32_t passes = 0;    // 0: unknown, because another profiler measured
  std::uint32_t launches = 1;  // that the passes were spread over
  Nanoseconds spent = 0;       // time that the program spent on measuring
  AllLaunches of_its_kind;
};

struct RecordedMetrics {
  KernelMetrics metrics;
  std::vector<Measurement> measurements;  // one for each of metrics.kernels(); empty without a trace, as for files of Nsight Compute
  std::vector<LeftOutKernel> left_out;
  std::vector<std::size_t> numbers = {};  // of metrics.kernels() among all that were measured, if others were left out by choice

  // The number by which lists name a kernel: the same whichever others are left out.
  [[nodiscard]] std::size_t number(std::size_t kernel) const { return numbers.empty() ? kernel : numbers[kernel]; }
  // Time of all launches of its kind on the timeline, which is the value of a gain. Without a timeline, the duration that its counter gives.
  [[nodiscard]] Nanoseconds weight(std::size_t kernel) const;
  // One launch of each kind, by weight: the launch of median duration among those for which `counts` is true, because several measured launches say the same.
  // Without measurements, all launches by weight.
  [[nodiscard]] std::vector<std::size_t> one_of_each(const std::function<bool(const Measurement&)>& counts = {}) const;
  // The measured launch that best describes a kernel of this name and shape: `event` itself if it was measured, else the launch of median duration. Nothing if
  // no launch of its kind was measured, among those for which `counts` is true. `event` must belong to this trace.
  [[nodiscard]] std::optional<std::size_t> of_kind(std::string_view name, const KernelDetail& shape, EventRef event,
                                                   const std::function<bool(const Measurement&)>& counts = {}) const;
  // The clock of multiprocessors in Hz while this launch was measured, if our own run read its counters: then the GPU chose the clock, and caches were not
  // changed. Nothing if that is unknown, because another profiler may have locked clocks and flushed caches.
  [[nodiscard]] std::optional<double> own_clock(std::size_t kernel) const;
};

// Launches whose kernel is not in the trace are left out. With `time`, only launches that begin within it count as launches of a kind. O(kernels of the trace)
// if there are counters, else O(1).
[[nodiscard]] RecordedMetrics recorded_metrics(const Trace& trace, std::optional<TimeRange> time = std::nullopt);

// For each measurement, the launches of its kind for which `counts` is true. O(kernels of the trace), or O(1) without measurements.
[[nodiscard]] std::vector<AllLaunches> launches_that_count(const Trace& trace, const std::vector<Measurement>& measurements,
                                                           const std::function<bool(EventRef)>& counts);

// Launches with the kernel's name and shape, on its GPU by its process. O(kernels of the trace).
[[nodiscard]] AllLaunches all_like(const Trace& trace, EventRef kernel);

// True if the counters of this kernel were read. O(measured launches).
[[nodiscard]] bool is_measured(const Trace& trace, EventRef kernel);

// The verdict from the counters of this kernel; nothing if they were not read. O(measured launches).
[[nodiscard]] std::optional<Verdict> verdict_of(const Trace& trace, EventRef kernel);

}  // namespace lanescope::kernels
