// What a process left of its counters (collector/channel/kernel_counters.h), as far as it is whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/channel/kernel_counters.h"

namespace lanescope::kernel_metrics {

struct Counted {
  channel::CounterRecord record;
  std::string kernel;  // mangled
  std::string reason;
  std::vector<std::uint8_t> image;
};
struct RanKernel {
  channel::KernelRecord record;
  std::string name;
};
struct ProcessRecords {
  std::vector<Counted> counted;
  std::vector<RanKernel> kernels;
  bool is_cut = false;  // it ends within a record, or in what is none
};

[[nodiscard]] ProcessRecords read_records(const std::filesystem::path& file);

}  // namespace lanescope::kernel_metrics
