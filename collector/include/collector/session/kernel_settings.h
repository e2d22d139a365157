// What a recording finds out about kernels beyond their times.
#pragma once

#include <chrono>
#include <cstdint>

namespace lanescope::session {

enum class KernelCollection {
  kNone,
  kPcSamples,  // where warps stand, and what they wait for, while the program runs
};

struct KernelSettings {
  KernelCollection collection = KernelCollection::kNone;
  std::uint32_t sampling_period = 0;    // kPcSamples: 2^n cycles of a multiprocessor between two samples, n from 5 to 31; 0: CUPTI's default
  std::chrono::milliseconds window{0};  // kPcSamples: length of a window of sampling; 0: all the time
  std::chrono::milliseconds every{0};   // from the start of a window to the start of the next
  bool operator==(const KernelSettings&) const = default;
};

}  // namespace lanescope::session
