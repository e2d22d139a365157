// Which hardware metrics are sampled: what is wished for, in order of importance, and what of it a chip can give at once.
//
// A GPU's performance monitors count only so many things in one pass, and sampling has one pass. Chips differ in what they have and in what
// goes together, so the choice is made by trying (MetricTrial), not by tables.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::gpu_metrics {

// One row that is wished for. The first metric that the chip has, and that goes together with what was chosen before, wins.
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
  std::string unit;       // "%", "B/s", "Hz", "1/s" or empty, by the form of the metric's name
  double resolution = 1;  // what an integer of it is worth, in that unit
  double maximum = 0;     // 0 where none is known
};

// Whether all of these metrics together can be sampled in one pass.
using MetricTrial = std::function<bool(std::span<const std::string> metrics)>;

struct MetricSet {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::span<const MetricSet> metric_sets() noexcept;

// The wishes of a set, none of the one that takes what the driver counts: by its name, or from a file that names one metric a line, with
// what to call it behind the name if that is to differ.
Result<std::vector<MetricWish>> read_metric_set(const std::string& name_or_file);

[[nodiscard]] std::vector<ChosenMetric> choose_metrics(std::span<const MetricWish> wishes, const MetricTrial& fits);

}  // namespace lanescope::gpu_metrics
