#include "device_text.h"

#include <algorithm>

#include "model/trace/parts.h"

namespace lanescope::stats {
std::string device_text(const Trace& trace, GpuId gpu) {
  const Gpu& device = trace.gpus()[gpu];
  std::string text = (device.name.empty() ? std::string("GPU") : device.name) + " (" + std::to_string(device.ordinal) + ")";
  const auto is_called_so = [&device](const Gpu& one) { return one.name == device.name && one.ordinal == device.ordinal; };
  if (std::count_if(trace.gpus().begin(), trace.gpus().end(), is_called_so) < 2) return text;
  const TracePart* const part = PartsOfGpus(trace).of(gpu);
  return part == nullptr ? text : part->label + ": " + text;
}

}  // namespace lanescope::stats
