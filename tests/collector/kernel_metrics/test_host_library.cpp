// What CUPTI's own host library says about metrics, if it is installed; it needs no GPU.
#include "kernel_metrics/host_library.h"
#include "kernel_metrics/plan.h"
#include "model/kernels/counters/sections.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::kernel_metrics;

namespace {

constexpr const char* kChip = "GH100";

// Null if no library knows the chip.
const gpu_metrics::CuptiFunctions* library() {
  const auto loaded = load_host_library();
  if (!loaded || !metric_names(**loaded, kChip)) {
    WARN("no library of metrics: skipped");
    return nullptr;
  }
  return *loaded;
}

std::size_t passes(const gpu_metrics::CuptiFunctions& cupti, const std::vector<std::string>& metrics) { return passes_of(cupti, kChip, metrics); }

}  // namespace

TEST_CASE("metrics take the passes that Nsight Compute needs for them") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  CHECK(passes(*cupti, {"gpu__time_duration.sum", "dram__bytes_read.sum", "smsp__inst_issued.sum"}) == 1);
  CHECK(passes(*cupti, {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}) == 8);
  CHECK(passes(*cupti, {"lts__throughput.avg.pct_of_peak_sustained_elapsed"}) == 4);
  CHECK(passes(*cupti, kernels::metrics_of_set("triage")) == 1);
}

TEST_CASE("names that are Nsight Compute's own, or nobody's, are refused alone") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  for (const char* name : {"launch__grid_size", "memory_l2_theoretical_sectors_global", "derived__avg_thread_executed", "sm__no_such_thing.sum", ""}) {
    CAPTURE(name);
    CHECK(passes(*cupti, {name}) == 0);
  }
  const std::vector<std::string> mixed{"launch__grid_size", "gpu__time_duration.sum", "sm__no_such_thing.sum", "smsp__inst_executed.sum"};
  CHECK(known_metrics(*cupti, kChip, mixed) == std::vector<std::string>{"gpu__time_duration.sum", "smsp__inst_executed.sum"});
  CHECK(known_metrics(*cupti, "XX999", mixed).empty());
}

TEST_CASE("every metric of a set is one that a GH100 counts") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  for (const kernels::SectionSet& set : kernels::section_sets()) {
    CAPTURE(set.name);
    const std::vector<std::string> metrics = kernels::metrics_of_set(set.name);
    CHECK(known_metrics(*cupti, kChip, metrics) == metrics);
  }
}

TEST_CASE("arithmetic of half precision is counted in the passes of the other precisions") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  for (const char* set : {"roofline", "full"}) {
    CAPTURE(set);
    std::vector<std::string> metrics = kernels::metrics_of_set(set);
    const std::size_t all = passes(*cupti, metrics);
    CHECK(std::erase_if(metrics, [](const std::string& metric) { return metric.find("_op_h") != metric.npos && metric.find("_pred_on") != metric.npos; }) == 4);
    CHECK(passes(*cupti, metrics) == all);
  }
}

TEST_CASE("groups of one pass have every metric that one pass can count, and what each is to have") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  const std::vector<std::string> always{"gpu__time_duration.sum"};
  const std::vector<std::string> metrics{"smsp__inst_executed.sum",
                                         "gpu__time_duration.sum",
                                         "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                         "l1tex__t_sector_hit_rate.pct",
                                         "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                         "dram__bytes_read.sum"};
  const OnePassGroups one_pass = groups_of_one_pass(*cupti, kChip, always, metrics);
  std::vector<std::string> found;
  for (const std::vector<std::string>& group : one_pass.groups) {
    CHECK(passes(*cupti, group) == 1);
    REQUIRE(group.front() == always.front());
    found.insert(found.end(), group.begin() + 1, group.end());
  }
  CHECK(found == std::vector<std::string>{metrics[0], metrics[3], metrics[4], metrics[5]});
  CHECK(one_pass.left_out == std::vector<std::string>{metrics[2]});  // needs eight passes
  CHECK(groups_of_one_pass(*cupti, kChip, always, always).groups == std::vector<std::vector<std::string>>{always});
}

TEST_CASE("runs of a program count what takes a pass of its own, and the two parts of a rate") {
  const auto* cupti = library();
  if (cupti == nullptr) return;
  const std::vector<std::string> always{"gpu__time_duration.sum"};
  const std::string count = "smsp__sass_inst_executed_op_global_ld.sum", operations = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
  const std::vector<std::string> metrics{"dram__bytes_read.sum", count, operations + ".per_cycle_elapsed", "lts__throughput.avg.pct_of_peak_sustained_elapsed"};
  const OnePassGroups runs = groups_of_runs(*cupti, kChip, always, metrics);
  REQUIRE(runs.groups.size() == 2);
  CHECK(runs.groups[0] == std::vector<std::string>{always[0], metrics[0], kCycles});
  CHECK(runs.groups[1] == std::vector<std::string>{count, operations});
  for (const std::vector<std::string>& group : runs.groups) CHECK(passes(*cupti, group) == 1);
  CHECK(runs.left_out == std::vector<std::string>{metrics[3]});
}
