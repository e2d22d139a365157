// Facts about a kernel of one shape: how its launch fills the GPU, what its counters say, and where its warps stalled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/kernels/counters/memory_traffic.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/roofline.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/instructions/costly_line.h"
#include "model/kernels/instructions/instruction_mix.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/kernels/occupancy.h"
#include "model/kernels/program.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

// The records of a trace about all its kernels. Immutable.
struct KernelRecordsOfTrace {
  std::shared_ptr<const Trace> trace;
  kernels::RecordedMetrics counters;
  std::vector<kernels::StallSum> stalls;  // by kernel
  std::optional<kernels::SampledPart> sampled;
  std::vector<kernels::InstructionMix> mixes;
};
// O(kernels of the trace) if it has counters.
[[nodiscard]] std::shared_ptr<const KernelRecordsOfTrace> read_kernel_records(std::shared_ptr<const Trace> trace);

struct KernelFacts {
  EventRef event;  // the launch in question; belongs to `trace`
  std::shared_ptr<const Trace> trace;
  std::string name;        // readable, whole
  std::string brief_name;  // without namespaces and parameters
  KernelDetail detail;
  Gpu gpu;
  std::optional<kernels::Program> program;  // of the recording that the launch is in
  Nanoseconds duration = 0;
  kernels::AllLaunches all;           // of the same name and shape
  double once = 1;                    // share of their time that is left if launches at the same time count once
  std::uint64_t launches_before = 0;  // of kernels of its brief name, in its process, without launches in CUDA graphs

  // Single kernels of a CUDA graph are not measured: the graph is one launch.
  [[nodiscard]] bool is_of_graph() const noexcept { return detail.graph != 0 || detail.graph_node != 0; }

  std::optional<kernels::Occupancy> occupancy;
  std::optional<kernels::Waves> waves;
  std::vector<kernels::Relief> reliefs;

  // Counters of a launch of the same name and shape; empty if none were read.
  struct Counters {
    Message where;  // "of this launch", "of the launch at 0.463 s", "of run A, of the launch at 0.463 s", "of another recording"
    kernels::Verdict verdict;
    std::vector<kernels::Section> sections;
    kernels::Roofline roofline;
    kernels::MemoryTraffic memory;
    Nanoseconds duration = 0;
    std::optional<double> own_clock = {};                        // Hz, as RecordedMetrics::own_clock()
    std::vector<std::optional<kernels::CostlyLine>> lines = {};  // for each advice of the verdict, if the shown trace knows the line
  };
  std::optional<Counters> counters;
  std::vector<kernels::OpcodeCount> opcodes;  // of the kernel's name: the mean of launches whose instructions were counted; empty if there are none
  std::optional<kernels::StallSum> stalls;    // of all launches of the kernel's name
  std::optional<kernels::SampledPart> sampled;
};

// Facts about a kernel of `records`. If two runs are compared, counters of its own run come first. If it has no counters there, they are searched in recordings
// of the same program that were made for its counters, the latest first. Requires: `event` is a kernel of that trace. O(kernels of the trace).
[[nodiscard]] std::shared_ptr<const KernelFacts> kernel_facts(const KernelRecordsOfTrace& records, EventRef event,
                                                              const std::vector<std::shared_ptr<const KernelRecordsOfTrace>>& others);

// The kernel that a selected event stands for: the event itself, or the first kernel that the call launched; not valid if there is none.
[[nodiscard]] EventRef kernel_of(const Trace& trace, EventRef selected);

// The best kernel for a picture: the longest one among those whose counters were read or whose instructions were counted; if there are none, the longest of all
// that overlap the range. Not valid if there is none. O(kernels).
[[nodiscard]] EventRef telling_kernel(const Trace& trace, std::optional<TimeRange> range);

}  // namespace lanescope::ui
