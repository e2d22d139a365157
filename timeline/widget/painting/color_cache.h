// Colours by kind and name, each computed once.
#pragma once

#include <vector>

#include "timeline/core/pixels/colors.h"

namespace lanescope::timeline {

class ColorCache {
 public:
  void clear() { known_.clear(); }
  [[nodiscard]] Rgb color(const Trace& trace, TrackKind kind, NameId name, std::uint32_t nvtx_color, ColorScheme scheme) {
    if (nvtx_color != 0) return event_color(kind, {}, nvtx_color, scheme);
    const auto index = static_cast<std::size_t>(kind);
    if (index >= known_.size()) known_.resize(index + 1);
    std::vector<Rgb>& of_kind = known_[index];
    if (name >= of_kind.size()) of_kind.resize(trace.name_count());
    Rgb& entry = of_kind[name];
    if (entry == 0) entry = event_color(kind, trace.name(name), 0, scheme);
    return entry;
  }

 private:
  std::vector<std::vector<Rgb>> known_;  // by TrackKind, then name; 0: not yet known
};

}  // namespace lanescope::timeline
