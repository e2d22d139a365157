// Colours by kind and name, worked out once for each.
#pragma once

#include <array>
#include <vector>

#include "timeline/core/colors.h"

namespace lanescope::timeline {

class ColorCache {
 public:
  void clear() { known_ = {}; }
  [[nodiscard]] Rgb color(const Trace& trace, TrackKind kind, NameId name, std::uint32_t nvtx_color, ColorScheme scheme) {
    if (nvtx_color != 0) return event_color(kind, {}, nvtx_color, scheme);
    std::vector<Rgb>& of_kind = known_[static_cast<std::size_t>(kind)];
    if (name >= of_kind.size()) of_kind.resize(trace.name_count());
    Rgb& entry = of_kind[name];
    if (entry == 0) entry = event_color(kind, trace.name(name), 0, scheme);
    return entry;
  }

 private:
  std::array<std::vector<Rgb>, 11> known_;  // by TrackKind, then name; 0: not yet known
};

}  // namespace lanescope::timeline
