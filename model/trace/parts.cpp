#include "model/trace/parts.h"

#include <algorithm>

namespace lanescope {

const TracePart* part_of(const Trace& trace, TrackId track) noexcept {
  const std::vector<TracePart>& parts = trace.parts();  // their tracks follow each other
  const auto part = std::upper_bound(parts.begin(), parts.end(), track, [](TrackId id, const TracePart& one) { return id < one.end_track; });
  return part == parts.end() ? nullptr : &*part;
}

const TracePart* part_of(const Trace& trace, const Track& track) noexcept { return part_of(trace, static_cast<TrackId>(&track - trace.tracks().data())); }

const TracePart* part_of_process(const Trace& trace, ProcessId process) noexcept {
  if (trace.parts().empty()) return nullptr;
  for (int kind = 0; kind <= static_cast<int>(kLastTrackKind); ++kind)
    if (const auto tracks = trace.tracks_of(process, static_cast<TrackKind>(kind)); !tracks.empty()) return part_of(trace, tracks.front());
  return nullptr;
}

PartsOfGpus::PartsOfGpus(const Trace& trace) {
  if (trace.parts().empty()) return;
  parts_.resize(trace.gpus().size());
  for (const TracePart& part : trace.parts()) {
    const auto add = [&](GpuId gpu) {
      if (gpu < parts_.size() && parts_[gpu] == nullptr) parts_[gpu] = &part;
    };
    for (TrackId track = part.first_track; track < part.end_track; ++track) add(trace.tracks()[track].key.gpu);
    for (CounterId counter = part.first_counter; counter < part.end_counter; ++counter) add(trace.counters()[counter].gpu);
  }
}

}  // namespace lanescope
