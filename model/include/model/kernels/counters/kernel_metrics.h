// What hardware counters said of kernels, launch by launch: values under the names that Nsight Compute gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/details.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// Instructions of one opcode, executed by warps.
struct OpcodeCount {
  std::string opcode;  // "FFMA"
  std::uint64_t executed = 0;
  std::uint64_t threads = 0;  // of these warps, whose predicate was true; 0 where it was not counted
};

// A launch whose counters were read.
struct ProfiledKernel {
  std::string name;
  std::string process;
  std::uint32_t pid = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
  Gpu gpu;
  KernelDetail detail;
  std::vector<double> values;        // one a metric; NaN where it was not measured
  std::vector<OpcodeCount> opcodes;  // most executed first; empty where they were not counted
};

struct Metric {
  std::string name;  // "sm__throughput.avg.pct_of_peak_sustained_elapsed"
  std::string unit;  // in which values are: ns, byte, hz and what else there is, per second where it is a rate; "%"
};

class KernelMetrics {
 public:
  // Of metrics of equal names, the first counts.
  explicit KernelMetrics(std::vector<Metric> metrics);

  // Requires: kernel.values has one value a metric. Rates of hits beyond 100 % become 100 %.
  void add(ProfiledKernel kernel);
  [[nodiscard]] std::span<const Metric> metrics() const noexcept { return metrics_; }
  [[nodiscard]] std::span<const ProfiledKernel> kernels() const noexcept { return kernels_; }
  // None where the metric is not there or was not measured, or its value is none that a counter has: it is 0 or more, and 1e17 at most. O(1).
  [[nodiscard]] std::optional<double> value(const ProfiledKernel& kernel, std::string_view metric) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<Metric> metrics_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> by_name_;
  std::vector<ProfiledKernel> kernels_;
};

}  // namespace lanescope::kernels
