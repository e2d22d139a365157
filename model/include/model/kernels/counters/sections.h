// Sections of a profiled kernel: its values by question, and what they mean.
//
// Names of sections, metrics and thresholds are Nsight Compute's, where it has them; docs/analysis.md has each formula.
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
// Those of which something was measured. What was not measured is left out.
[[nodiscard]] std::vector<Section> sections(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// A section that can be measured, with the metrics that its rows and the rules on them take: those that CUPTI counts.
struct SectionMetrics {
  std::string_view name;
  std::string_view title;
  std::vector<std::string> metrics;
};
[[nodiscard]] std::vector<SectionMetrics> measurable_sections();

// Which sections are measured together, under Nsight Compute's names; triage is our own: what bounds a kernel, in as few passes as can be.
struct SectionSet {
  std::string_view name;
  std::string_view description;
  std::vector<std::string_view> sections;  // none of triage, which takes metrics of its own
};
[[nodiscard]] std::span<const SectionSet> section_sets();
// The set that has no sections, but counts at each instruction (instruction_counts.h); by itself.
inline constexpr std::string_view kSourceSet = "source";

// Of a set by its name; empty where there is no such set.
[[nodiscard]] std::vector<std::string> metrics_of_set(std::string_view name);

// The part of the GPU that bounds a kernel.
enum class Bound : std::uint8_t { kUnknown, kCompute, kL1, kL2, kDram, kMemory, kLatency, kSmallGrid };
[[nodiscard]] std::string_view bound_name(Bound bound) noexcept;  // "DRAM bandwidth"

struct Advice {
  std::string_view rule;  // "bank_conflicts"
  Message seen;           // one sentence with numbers
  Message what_to_do;
  double gain;                  // of the kernel's time, what it could win at most: 0 to 1
  std::string_view stall = {};  // the state in which its warps are, where that is the cause: "long_scoreboard"
  bool is_gain_known = true;    // false: whether the change can be made at all, nothing says, and gain is 0
};

// The cause that a rule finds, in words: "bank_conflicts" is "conflicts of shared memory's banks".
[[nodiscard]] std::string_view cause_name(std::string_view rule) noexcept;

struct Verdict {
  Bound bound = Bound::kUnknown;
  double utilization = 0;  // of the unit that bounds it, percent of its peak; where none does (latency, small grid), of the one that is used most
  double compute = 0;      // of peak, percent; 0 where it was not measured: likewise memory and its levels
  double memory = 0;
  double l1 = 0;
  double l2 = 0;
  double dram = 0;
  Message pipes;               // how busy the busiest pipe of multiprocessors is; empty where none was measured
  std::vector<Advice> advice;  // those of unknown gain, then the largest gain first; one for each cause, not for each symptom
};
// "DRAM bandwidth (82.0 % of its peak)", "latency (no unit is used beyond 26.2 % of its peak)". Of what exceeds its peak, as no unit can, no share is said.
[[nodiscard]] Message bound_text(const Verdict& verdict);
[[nodiscard]] Verdict judge(const KernelMetrics& metrics, const ProfiledKernel& kernel);

// Time of the launch; 0 where it was not measured.
[[nodiscard]] Nanoseconds duration(const KernelMetrics& metrics, const ProfiledKernel& kernel);

}  // namespace lanescope::kernels
