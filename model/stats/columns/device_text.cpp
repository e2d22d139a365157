#include "device_text.h"

namespace lanescope::stats {

DeviceTexts::DeviceTexts(const Trace& trace) : trace_(trace), parts_(trace) {
  for (const Gpu& gpu : trace.gpus()) ++gpus_[{gpu.name, gpu.ordinal}];
}

std::string DeviceTexts::of(GpuId gpu) const {
  const Gpu& device = trace_.gpus()[gpu];
  std::string text = (device.name.empty() ? std::string("GPU") : device.name) + " (" + std::to_string(device.ordinal) + ")";
  const TracePart* const part = gpus_.at({device.name, device.ordinal}) < 2 ? nullptr : parts_.of(gpu);
  return part == nullptr ? text : part->label + ": " + text;
}

}  // namespace lanescope::stats
