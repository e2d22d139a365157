// Values of hardware counters for kernels, by launch, under the names of Nsight Compute.
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

// Instructions of one opcode that warps executed.
struct OpcodeCount {
  std::string opcode;  // "FFMA"
  std::uint64_t executed = 0;
  std::uint64_t threads = 0;  // threads of these warps whose predicate was true; 0 if not counted
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
  std::vector<double> values;        // one for each metric; NaN if it was not measured
  std::vector<OpcodeCount> opcodes;  // most executed first; empty if not counted
};

struct Metric {
  std::string name;  // "sm__throughput.avg.pct_of_peak_sustained_elapsed"
  std::string unit;  // of the values: ns, byte, hz and others, per second for rates; "%"
};

class KernelMetrics {
 public:
  // If metrics have equal names, the first counts.
  explicit KernelMetrics(std::vector<Metric> metrics);

  // Requires: kernel.values has one value for each metric. Hit rates above 100 % become 100 %.
  void add(ProfiledKernel kernel);
  [[nodiscard]] std::span<const Metric> metrics() const noexcept { return metrics_; }
  [[nodiscard]] std::span<const ProfiledKernel> kernels() const noexcept { return kernels_; }
  // Nothing if the metric does not exist, was not measured, or has a value that no counter can have: less than 0 or more than 1e17. O(1).
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
