// The icons of the toolbar, drawn in the colours of the palette so that they fit light and dark themes.
#pragma once

#include <QIcon>
#include <QPalette>

namespace lanescope::ui {

enum class Glyph { kRecord, kAttach, kStop, kBack, kForward, kFit, kLoop };

[[nodiscard]] QIcon glyph_icon(Glyph glyph, const QPalette& palette);

}  // namespace lanescope::ui
