// Colours of events: pure functions, for light and dark themes.
//
// Kernels are blue, with a shade for each name; copies to the device are green, from the device red, within the device violet, sets grey violet; calls that
// wait are amber; NVTX ranges have the colour that the program gave them.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/trace/trace.h"

namespace lanescope::timeline {

using Rgb = std::uint32_t;  // 0xffRRGGBB

enum class ColorScheme : std::uint8_t { kLight, kDark };

// Of an event with this name. `nvtx_color`: the colour that the program asked for (ARGB), 0 for none.
[[nodiscard]] Rgb event_color(TrackKind kind, std::string_view name, std::uint32_t nvtx_color, ColorScheme scheme) noexcept;
// True if the program may give each event of the kind a colour, which is in its NvtxDetail.
[[nodiscard]] constexpr bool has_own_colors(TrackKind kind) noexcept {
  return kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks;
}
// Of a function that was seen to run: the hue shows the kind of code, the shade the function; grey if no function is known.
[[nodiscard]] Rgb call_color(CodeKind kind, std::string_view function, ColorScheme scheme) noexcept;
// Of a column in which no name dominates.
[[nodiscard]] Rgb mixed_color(TrackKind kind, ColorScheme scheme) noexcept;
// `share` of b, the rest of a.
[[nodiscard]] Rgb blend(Rgb a, Rgb b, double share) noexcept;
// How well two colours can be distinguished, from 1 (not at all) to 21: the contrast ratio of WCAG 2, which requires 4.5 between text and its background.
[[nodiscard]] double contrast(Rgb a, Rgb b) noexcept;
// Black or white, whichever has more contrast: at least 4.5 for every background.
[[nodiscard]] Rgb text_color_on(Rgb background) noexcept;
// A hue from 0 to 360, saturation and lightness from 0 to 1.
[[nodiscard]] Rgb from_hsl(double hue, double saturation, double lightness) noexcept;

}  // namespace lanescope::timeline
