// A plan as the host would write it, except for configurations, which are arbitrary bytes. The first metric of a set starts with the first byte of its
// configuration.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "collector/channel/kernel_counters.h"
#include "kernel_metrics/records.h"

namespace lanescope::test {

struct PlannedBytes {
  std::string_view chip;
  std::string_view config;  // 5 bytes
};

// The content of a process's file.
struct ProcessRecords {
  std::vector<kernel_metrics::Counted> counted;
  std::vector<kernel_metrics::RanKernel> kernels;
  bool is_cut = false;
};
inline ProcessRecords read_records(const std::filesystem::path& file) {
  using namespace kernel_metrics;
  ProcessRecords records;
  records.is_cut = kernel_metrics::read_records(
                       file, [&](Counted&& each) { records.counted.push_back(std::move(each)); },
                       [&](RanKernel&& each) { records.kernels.push_back(std::move(each)); }) == Ending::kCut;
  return records;
}

// Also makes the folder for records.
inline void write_plan(const std::filesystem::path& folder, const channel::LaunchChoice& choice, const std::vector<PlannedBytes>& sets,
                       channel::CounterReplay replay = channel::CounterReplay::kSpread) {
  channel::CounterPlan plan{channel::kCounterPlanVersion, replay, static_cast<std::uint32_t>(sets.size()), channel::CounterKind::kHardware, choice};
  std::filesystem::create_directory(folder / channel::kCounterRecordFolder);
  std::ofstream file(folder / channel::kCounterPlanFile, std::ios::binary);
  const auto put = [&file](const void* bytes, std::size_t size) { file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size)); };
  put(&plan, sizeof(plan));
  for (const PlannedBytes& each : sets) {
    channel::CounterSet set{};
    std::memcpy(set.chip, each.chip.data(), each.chip.size());
    set.passes = 1;
    set.metrics = 2;
    set.config_bytes = 5;
    set.name_bytes = 8;
    put(&set, sizeof(set));
    put(each.config.data(), 5);
    const char names[11] = {each.config[0], '.', 'b', '\0', 'c', '.', 'd'};
    put(names, sizeof(names));
  }
}

}  // namespace lanescope::test
