// Reads the counters that a process left (collector/channel/kernel_counters.h), as far as they are complete.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
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

enum class Ending { kWhole, kCut };  // kCut: the file ends within a record, or in bytes that are not a record

struct LoadedCode {
  channel::CodeRecord record;
  std::string code;
};

struct Begun {
  channel::BeginRecord record;
  std::string kernel;  // mangled
};

// Hands over the records of the file in order; records whose function is empty are skipped. If `file` is a link or not a regular file, it is treated
// as empty. Time: linear in its size; memory: that of its largest record.
Ending read_records(const std::filesystem::path& file, const std::function<void(Counted&&)>& counted, const std::function<void(RanKernel&&)>& ran,
                    const std::function<void(LoadedCode&&)>& loaded = {}, const std::function<void(Begun&&)>& begun = {});

// What the file has about the kernel of each launch, by correlation id: CUPTI's record if there is one, even if it came first, else the agent's.
// Without a name if the kernel is already an event.
using RanKernels = std::unordered_map<std::uint32_t, RanKernel>;
RanKernels read_kernels(const std::filesystem::path& file);

}  // namespace lanescope::kernel_metrics
