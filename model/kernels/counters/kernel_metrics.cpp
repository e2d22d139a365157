#include "model/kernels/counters/kernel_metrics.h"

#include <algorithm>
#include <utility>

namespace lanescope::kernels {

KernelMetrics::KernelMetrics(std::vector<Metric> metrics) : metrics_(std::move(metrics)) {
  for (std::size_t i = 0; i < metrics_.size(); ++i) by_name_.try_emplace(metrics_[i].name, i);
}

void KernelMetrics::add(ProfiledKernel kernel) {
  // Hits and their look-ups may be counted in different passes with different numbers of look-ups. A rate above 100 % therefore means that all hit.
  constexpr std::string_view kHitRate = "hit_rate.pct";
  constexpr double kAll = 100;
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (kernel.values[i] > kAll && metrics_[i].name.ends_with(kHitRate)) kernel.values[i] = kAll;
  kernels_.push_back(std::move(kernel));
}

std::optional<double> KernelMetrics::value(const ProfiledKernel& kernel, std::string_view metric) const {
  constexpr double kMost = 1e17;  // three years in ns; byte counts computed from such a value still fit into 64 bits
  const auto found = by_name_.find(metric);
  if (found == by_name_.end()) return std::nullopt;
  const double value = kernel.values[found->second];
  return value >= 0 && value <= kMost ? std::optional(value) : std::nullopt;
}

}  // namespace lanescope::kernels
