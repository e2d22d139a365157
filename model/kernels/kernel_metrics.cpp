#include "model/kernels/kernel_metrics.h"

#include <cmath>
#include <utility>

namespace lanescope::kernels {

KernelMetrics::KernelMetrics(std::vector<Metric> metrics) : metrics_(std::move(metrics)) {
  for (std::size_t i = 0; i < metrics_.size(); ++i) by_name_.try_emplace(metrics_[i].name, i);
}

void KernelMetrics::add(ProfiledKernel kernel) { kernels_.push_back(std::move(kernel)); }

std::optional<double> KernelMetrics::value(const ProfiledKernel& kernel, std::string_view metric) const {
  const auto found = by_name_.find(metric);
  if (found == by_name_.end() || !std::isfinite(kernel.values[found->second])) return std::nullopt;
  return kernel.values[found->second];
}

}  // namespace lanescope::kernels
