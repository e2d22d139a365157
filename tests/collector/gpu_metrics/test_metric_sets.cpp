#include "values/metric_sets.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support/catch.h"
#include "values/chip_metrics.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

// CUPTI knows every chip's metrics without a GPU. Null if the toolkit has no library with them.
const CuptiFunctions* cupti() {
  static const std::optional<CuptiFunctions> functions = []() -> std::optional<CuptiFunctions> {
    void* library = dlopen(LANESCOPE_CUPTI_FOLDER "/libcupti.so", RTLD_LAZY | RTLD_LOCAL);
    return library != nullptr ? resolve_cupti(library) : std::nullopt;
  }();
  return functions ? &*functions : nullptr;
}

std::vector<std::string> names_of(const std::vector<ChosenMetric>& metrics) {
  std::vector<std::string> names;
  for (const ChosenMetric& metric : metrics) names.push_back(metric.name);
  return names;
}

std::vector<ChosenMetric> chosen_for(const char* chip, const char* set = "default") {
  const auto wishes = read_metric_set(set);
  REQUIRE(wishes);
  return choose_metrics(*wishes, [&](std::span<const std::string> together) { return MetricProgram(*cupti(), chip, {}, together).fits_one_pass(); });
}

bool holds(const std::vector<std::string>& names, const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); }

}  // namespace

TEST_CASE("of what is wished for, the first that fits with what was chosen before is taken") {
  const std::vector<MetricWish> wishes{{"A", "", {"a1", "a2"}, ""}, {"B", "", {"b1", "b2"}, ""}, {"C", "", {"c1"}, ""}};
  const std::set<std::string> known{"a2", "b1", "b2", "c1"};
  // b1 does not fit together with a2, and never more than two metrics fit together.
  const auto fits = [&](std::span<const std::string> metrics) {
    const std::set<std::string> all(metrics.begin(), metrics.end());
    const bool known_all = std::all_of(all.begin(), all.end(), [&](const std::string& name) { return known.contains(name); });
    return known_all && all.size() <= 2 && !(all.contains("a2") && all.contains("b1"));
  };
  const std::vector<ChosenMetric> metrics = choose_metrics(wishes, fits);
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[0].metric == "a2");
  CHECK(metrics[1].metric == "b2");
}

TEST_CASE("the default set fits one pass of an H100 or H200 whole") {
  if (cupti() == nullptr) {
    WARN("no CUPTI with metrics of chips: skipped");
    return;
  }
  const std::vector<ChosenMetric> metrics = chosen_for("GH100");
  CHECK(metrics.size() == read_metric_set("default")->size());
  const auto names = names_of(metrics);
  for (const char* name : {"SMs active", "Tensor cores active", "DRAM bandwidth", "DRAM read", "PCIe read", "NVLink sent", "SM clock"}) {
    INFO(name);
    CHECK(holds(names, name));
  }
}

TEST_CASE("every chip that CUPTI can sample gets rows for its multiprocessors, and those with memory of their own for that") {
  if (cupti() == nullptr) {
    WARN("no CUPTI with metrics of chips: skipped");
    return;
  }
  CUpti_Profiler_Host_GetSupportedChips_Params chips{CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
  REQUIRE(cupti()->get_supported_chips(&chips) == CUPTI_SUCCESS);
  REQUIRE(chips.numChips > 20);
  const std::set<std::string> without_sampling{"GV100", "GV11B"};             // CUPTI has no sampling of Volta
  const std::set<std::string> with_shared_memory{"GA10B", "GB10B", "GB20B"};  // chips whose memory is the CPU's
  for (std::size_t i = 0; i < chips.numChips; ++i) {
    const std::string chip = chips.ppChipNames[i];
    INFO(chip);
    const auto metrics = chosen_for(chip.c_str());
    if (without_sampling.contains(chip)) {
      CHECK(metrics.empty());
      continue;
    }
    const auto names = names_of(metrics);
    CHECK(holds(names, "SMs active"));
    CHECK(holds(names, "Instructions issued"));
    const bool has_memory_row = holds(names, "DRAM bandwidth") || holds(names, "DRAM read");
    CHECK((has_memory_row || with_shared_memory.contains(chip)));
    CHECK(metrics.size() >= 7);
  }
}

TEST_CASE("the form of a metric's name says its unit") {
  const std::vector<MetricWish> wishes{{"share", "", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}, ""},
                                       {"rate", "", {"pcie__read_bytes.sum.per_second"}, ""},
                                       {"clock", "", {"gpc__cycles_elapsed.avg.per_second"}, ""},
                                       {"count", "", {"gr__ctas_launched.sum"}, ""}};
  const auto metrics = choose_metrics(wishes, [](std::span<const std::string>) { return true; });
  CHECK(metrics[0].unit == "%");
  CHECK(metrics[0].maximum == 100);
  CHECK(metrics[1].unit == "B/s");
  CHECK(metrics[2].unit == "Hz");
  CHECK(metrics[3].unit.empty());
}

TEST_CASE("a file names metrics of one's own, with what to call them") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "lanescope-metric-set.txt";
  std::ofstream(path) << "# mine\nlts__t_sectors.sum   L2 sectors\n\n  sm__cycles_active.avg  # how long\n";
  const auto wishes = read_metric_set(path.string());
  std::filesystem::remove(path);
  REQUIRE(wishes);
  REQUIRE(wishes->size() == 2);
  CHECK((*wishes)[0].name == "L2 sectors");
  CHECK((*wishes)[0].metrics == std::vector<std::string>{"lts__t_sectors.sum"});
  CHECK((*wishes)[1].name == "sm__cycles_active.avg");
  const auto missing = read_metric_set("no-such-set");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::kUsage);
}
