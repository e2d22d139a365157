// The few signs of the toolbar, drawn in the palette's colours so that they fit light and dark surroundings.
#pragma once

#include <QIcon>
#include <QPalette>

namespace lanescope::ui {

enum class Glyph { kRecord, kAttach, kStop, kBack, kForward, kFit, kLoop };

[[nodiscard]] QIcon glyph_icon(Glyph glyph, const QPalette& palette);

}  // namespace lanescope::ui
