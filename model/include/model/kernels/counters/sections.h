// Sections of a profiled kernel: its values, grouped by question, and what they mean.
//
// Names of sections, metrics and thresholds are those of Nsight Compute if it has them; docs/analysis.md has each formula.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/counters/kernel_metrics.h"
#include "model/text/message.h"

namespace lanescope::kernels {

enum class ValueUnit : std::uint8_t { kNumber, kPercent, kNanoseconds, kBytes, kBytesPerSecond, kHertz, kCycles, kOperationsPerSecond };

struct SectionRow {
  Message label;
  double value;
  ValueUnit unit;
};
struct Section {
  std::string_view name;   // "SpeedOfLight"
  std::string_view title;  // "GPU speed of light"
  std::vector<SectionRow> rows;
};
// The sections with measured values. Values that were not measured are left out.
[[nodiscard]] std::vector<Section> sections(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// A section that can be measured, with the metrics that its rows and rules need, as far as CUPTI counts them.
struct SectionMetrics {
  std::string_view name;
  std::string_view title;
  std::vector<std::string> metrics;
};
[[nodiscard]] std::vector<SectionMetrics> measurable_sections();

// Sections that are measured together, under Nsight Compute's names. `triage` is our own: it finds what bounds a kernel in as few passes as possible.
struct SectionSet {
  std::string_view name;
  std::string_view description;
  std::vector<std::string_view> sections;  // empty for triage, which has metrics of its own
};
[[nodiscard]] std::span<const SectionSet> section_sets();
// The set that has no sections but counts at each instruction (instruction_counts.h). It can't be combined with other sets.
inline constexpr std::string_view kSourceSet = "source";

// The metrics of a set by its name; empty if there is no such set.
[[nodiscard]] std::vector<std::string> metrics_of_set(std::string_view name);

// The part of the GPU that bounds a kernel.
enum class Bound : std::uint8_t { kUnknown, kCompute, kL1, kL2, kDram, kMemory, kLatency, kSmallGrid };
[[nodiscard]] std::string_view bound_name(Bound bound) noexcept;  // "DRAM bandwidth"

struct Advice {
  std::string_view rule;  // "bank_conflicts"
  Message seen;           // one sentence with numbers
  Message what_to_do;
  double gain;                  // upper bound of the gain, as a fraction of the kernel's time: 0 to 1
  std::string_view stall = {};  // the state of its warps, if that is the cause: "long_scoreboard"
  bool is_gain_known = true;    // false: it is unknown if the change is possible, and gain is 0
};

// The cause that a rule finds, in words: for "bank_conflicts" it is "conflicts of shared memory's banks".
[[nodiscard]] std::string_view cause_name(std::string_view rule) noexcept;

struct Verdict {
  Bound bound = Bound::kUnknown;
  double utilization = 0;  // of the unit that bounds it, percent of its peak; if no unit does (latency, small grid), of the most used unit
  double compute = 0;      // percent of peak; 0 if not measured; likewise memory and its levels
  double memory = 0;
  double l1 = 0;
  double l2 = 0;
  double dram = 0;
  Message pipes;               // how busy the busiest pipe of multiprocessors is; empty if not measured
  std::vector<Advice> advice;  // unknown gain first, then the largest gain first; one for each cause, not for each symptom
};
// "DRAM bandwidth (82.0 % of its peak)", "latency (no unit is used beyond 26.2 % of its peak)". A value above the peak, which is impossible, is not shown.
[[nodiscard]] Message bound_text(const Verdict& verdict);
[[nodiscard]] Verdict judge(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// Time of the launch; 0 if it was not measured.
[[nodiscard]] Nanoseconds duration(const KernelMetrics& metrics, const ProfiledKernel& kernel);

}  // namespace lanescope::kernels
