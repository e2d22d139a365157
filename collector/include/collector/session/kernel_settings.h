// What a recording finds out about kernels beyond their times.
#pragma once

#include <chrono>
#include <cstdint>

namespace lanescope::session {

enum class KernelCollection {
  kNone,
  kPcSamples,  // where warps stand, and what for, while the program runs
};

struct KernelSettings {
  KernelCollection collection = KernelCollection::kNone;
  std::uint32_t sampling_period = 0;    // kPcSamples: 2^n cycles of a multiprocessor between two samples, 5 to 31; 0: as CUPTI has it
  std::chrono::milliseconds window{0};  // kPcSamples: for which is sampled, and from the begin of that to the next; 0: all the time
  std::chrono::milliseconds every{0};
  bool operator==(const KernelSettings&) const = default;
};

}  // namespace lanescope::session
