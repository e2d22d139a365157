// Which hardware metrics are sampled: a list of wishes in order of importance, and those that a chip can count at once.
//
// A GPU's performance monitors can count only a limited number of things in one pass, and sampling has only one pass. Chips differ in the metrics
// that they have and in those that can be combined. So the choice is made by trying (MetricTrial), not by tables.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::gpu_metrics {

// One wished counter. The first metric that the chip has and that can be combined with those already chosen is used.
struct MetricWish {
  std::string name;   // "SMs active"
  std::string group;  // heading under which it is shown
  std::vector<std::string> metrics;
  std::string description;  // one sentence; may be empty
};

// What will be sampled.
struct ChosenMetric {
  std::string metric;  // "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
  std::string name;
  std::string group;
  std::string description;
  std::string unit;       // "%", "B/s", "Hz", "1/s" or empty, derived from the metric's name
  double resolution = 1;  // the value of one integer step, in that unit
  double maximum = 0;     // 0 if none is known
};

// True if all of these metrics together can be sampled in one pass.
using MetricTrial = std::function<bool(std::span<const std::string> metrics)>;

struct MetricSet {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::span<const MetricSet> metric_sets() noexcept;

// Reads the wishes of a set, by its name or from a file. A file names one metric a line, optionally followed by the name to show. The set that uses
// the driver's counts has no wishes.
Result<std::vector<MetricWish>> read_metric_set(const std::string& name_or_file);

[[nodiscard]] std::vector<ChosenMetric> choose_metrics(std::span<const MetricWish> wishes, const MetricTrial& fits);

}  // namespace lanescope::gpu_metrics
