#include "values/metric_sets.h"

#include <algorithm>
#include <array>
#include <fstream>

namespace lanescope::gpu_metrics {
namespace {

constexpr std::array kSets = {
    MetricSet{"default", "SMs, tensor cores, warps, memory, PCIe, NVLink and clocks: as much of it as the GPU can count at once"},
    MetricSet{"light", "SMs active, instructions issued, tensor cores, and memory bandwidth alone"},
    MetricSet{"nvml", "What the driver counts of SMs, tensor cores, memory and links, ten times a second: cheap, needs no rights, from Hopper on"},
};

constexpr std::string_view kPercent = ".avg.pct_of_peak_sustained_elapsed";

std::vector<std::string> percent(std::initializer_list<std::string_view> bases) {
  std::vector<std::string> metrics;
  for (const std::string_view base : bases) metrics.push_back(std::string(base).append(kPercent));
  return metrics;
}
std::vector<std::string> per_second(std::initializer_list<std::string_view> bases) {
  std::vector<std::string> metrics;
  for (const std::string_view base : bases) metrics.push_back(std::string(base).append(".per_second"));
  return metrics;
}

std::vector<MetricWish> light_set() {
  return {
      {"SMs active", "SM", percent({"sm__cycles_active"}), "Share of time in which a multiprocessor had at least one warp, mean of all."},
      {"Instructions issued", "SM", percent({"sm__inst_executed_realtime", "sm__inst_issued"}),
       "Instructions that the multiprocessors executed, of the most that they could."},
      {"Tensor cores active", "SM",
       percent({"sm__pipe_tensor_cycles_active", "sm__pipe_tensor_cycles_active_realtime", "sm__inst_executed_pipe_tensor_realtime"}),
       "Share of cycles in which the tensor pipes worked, mean of all."},
      {"DRAM bandwidth", "Memory", percent({"dram__throughput", "dramc__throughput"}), "Throughput of the GPU's memory, of the most that it could be."},
  };
}

std::vector<MetricWish> default_set() {
  std::vector<MetricWish> wishes = light_set();
  const std::vector<MetricWish> more = {
      {"DRAM read", "Memory", percent({"dram__read_throughput", "dramc__read_throughput", "fbpa__dram_read_bytes"}),
       "Reads from the GPU's memory, of the most that they could be."},
      {"DRAM write", "Memory", percent({"dram__write_throughput", "dramc__write_throughput", "fbpa__dram_write_bytes"}),
       "Writes to the GPU's memory, of the most that they could be."},
      {"PCIe read", "Links", per_second({"pcie__read_bytes.sum", "pcie__rx_bytes.sum"}), "Bytes that the GPU received over PCIe."},
      {"PCIe write", "Links", per_second({"pcie__write_bytes.sum", "pcie__tx_bytes.sum"}), "Bytes that the GPU sent over PCIe."},
      {"NVLink received", "Links", per_second({"nvlrx__bytes.sum"}), "Bytes that the GPU received over NVLink."},
      {"NVLink sent", "Links", per_second({"nvltx__bytes.sum"}), "Bytes that the GPU sent over NVLink."},
      {"Warps in flight", "SM", percent({"sm__warps_active_realtime", "tpc__warps_active_realtime", "tpc__warps_active_shader_cs_realtime"}),
       "Warps that were on the multiprocessors, of the most that fit: achieved occupancy, idle multiprocessors included."},
      {"GPU active", "SM", percent({"gr__cycles_active"}), "Share of time in which the GPU's graphics and compute engine worked."},
      {"L2 cache", "Memory", percent({"lts__t_sectors"}), "Sectors that the L2 cache served, of the most that it could."},
      {"SM clock", "Clocks", per_second({"gpc__cycles_elapsed.avg"}), "Frequency of the multiprocessors' clock."},
      {"System clock", "Clocks", per_second({"sys__cycles_elapsed.avg"}), "Frequency of the GPU's system clock."},
  };
  wishes.insert(wishes.end(), more.begin(), more.end());
  return wishes;
}

ChosenMetric chosen(const MetricWish& wish, const std::string& metric) {
  ChosenMetric result{metric, wish.name, wish.group, wish.description};
  const auto holds = [&](std::string_view part) { return metric.find(part) != std::string::npos; };
  if (holds(".pct_of_") || metric.ends_with(".pct")) {
    result.unit = "%";
    result.resolution = 0.01;
    result.maximum = 100;
  } else if (metric.ends_with(".per_second")) {
    const bool bytes = holds("bytes");
    const bool cycles = holds("cycles_elapsed");
    result.unit = bytes ? "B/s" : cycles ? "Hz" : "1/s";
    result.resolution = bytes ? 1e4 : cycles ? 1e5 : 1;
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::span<const MetricSet> metric_sets() noexcept { return kSets; }

Result<std::vector<MetricWish>> read_metric_set(const std::string& name_or_file) {
  if (name_or_file.empty() || name_or_file == "default") return default_set();
  if (name_or_file == "light") return light_set();
  if (name_or_file == "nvml") return std::vector<MetricWish>();
  std::ifstream file(name_or_file);
  if (!file)
    return Error{"There is no set of GPU metrics called " + name_or_file + ", and no file of that name: the sets are default, light and nvml.",
                 ErrorKind::kUsage};
  std::vector<MetricWish> wishes;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const auto gap = std::min(text.find_first_of(" \t"), text.size());
    const std::string metric(text.substr(0, gap));
    const std::string name(trimmed(text.substr(gap)));
    wishes.push_back({name.empty() ? metric : name, {}, {metric}, {}});
  }
  if (wishes.empty()) return Error{"The file " + name_or_file + " names no GPU metric: it should have one a line.", ErrorKind::kUsage};
  return wishes;
}

std::vector<ChosenMetric> choose_metrics(std::span<const MetricWish> wishes, const MetricTrial& fits) {
  std::vector<ChosenMetric> choice;
  std::vector<std::string> metrics;
  for (const MetricWish& wish : wishes) {
    for (const std::string& metric : wish.metrics) {
      metrics.push_back(metric);
      if (fits(metrics)) {
        choice.push_back(chosen(wish, metric));
        break;
      }
      metrics.pop_back();
    }
  }
  return choice;
}

}  // namespace lanescope::gpu_metrics
