// What a process left of its counters (collector/channel/kernel_counters.h), as far as it is whole.
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

enum class Ending { kWhole, kCut };  // kCut: the file ends within a record, or in what is none

struct LoadedCode {
  channel::CodeRecord record;
  std::string code;
};

struct Begun {
  channel::BeginRecord record;
  std::string kernel;  // mangled
};

// Hands over what the file holds, record by record, in its order; what nobody is to be told of is skipped. The file is a regular one and no
// link: whatever else is there is empty. Time: linear in its size; memory: that of its largest record.
Ending read_records(const std::filesystem::path& file, const std::function<void(Counted&&)>& counted, const std::function<void(RanKernel&&)>& ran,
                    const std::function<void(LoadedCode&&)>& loaded = {}, const std::function<void(Begun&&)>& begun = {});

// What the file says of the kernel of each launch, by correlation id: CUPTI's record where it is there, whichever of the two came first, else what the
// agent knew. Without a name where the kernel is an event already.
using RanKernels = std::unordered_map<std::uint32_t, RanKernel>;
RanKernels read_kernels(const std::filesystem::path& file);

}  // namespace lanescope::kernel_metrics
