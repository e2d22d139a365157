#include "device_text.h"

#include <algorithm>

namespace lanescope::stats {
namespace {

bool has(const Trace& trace, const TracePart& part, GpuId gpu) {
  for (TrackId track = part.first_track; track < part.end_track; ++track)
    if (trace.tracks()[track].key.gpu == gpu) return true;
  for (CounterId counter = part.first_counter; counter < part.end_counter; ++counter)
    if (trace.counters()[counter].gpu == gpu) return true;
  return false;
}

}  // namespace

std::string device_text(const Trace& trace, GpuId gpu) {
  const Gpu& device = trace.gpus()[gpu];
  std::string text = device.name + " (" + std::to_string(device.ordinal) + ")";
  const auto is_called_so = [&device](const Gpu& one) { return one.name == device.name && one.ordinal == device.ordinal; };
  if (std::count_if(trace.gpus().begin(), trace.gpus().end(), is_called_so) < 2) return text;
  const auto part = std::find_if(trace.parts().begin(), trace.parts().end(), [&](const TracePart& one) { return has(trace, one, gpu); });
  return part == trace.parts().end() ? text : part->label + ": " + text;
}

}  // namespace lanescope::stats
