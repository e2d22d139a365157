// Everything that is known of an event, in words: what tooltips and the details panel show, and what is copied from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::timeline {

struct Property {
  std::string label;  // "Grid"
  std::string value;  // "<<<128, 1, 1>>>"
  bool operator==(const Property&) const = default;
};

// The first property is the name. What is not known is left out. Requires: the event is in the trace. O(lanes · log n): it looks up the
// call that launched the work, and the NVTX ranges around that call.
[[nodiscard]] std::vector<Property> describe_event(const Trace& trace, EventRef event);

// Share of the multiprocessor's warps that a kernel of this shape can keep resident, 0 to 1, limited by warps, blocks, registers and shared
// memory; none where the GPU's limits are not known.
[[nodiscard]] std::optional<double> theoretical_occupancy(const KernelDetail& kernel, const Gpu& gpu) noexcept;

// "label<tab>value" lines.
[[nodiscard]] std::string as_text(const std::vector<Property>& properties);

// What the event is called: its name, or what stands for a nameless one ("[CUDA memcpy Host-to-Device]").
[[nodiscard]] std::string event_title(const Trace& trace, EventRef event);

}  // namespace lanescope::timeline
