#include "painting/theme.h"

#include <algorithm>

#include <QFontMetrics>

namespace lanescope::timeline {
namespace {

QColor mix(const QColor& from, const QColor& to, double share) { return QColor::fromRgb(blend(from.rgb(), to.rgb(), share)); }

}  // namespace

Theme Theme::from(const QPalette& palette, const QFont& font) {
  Theme theme;
  const QColor base = palette.color(QPalette::Active, QPalette::Base);
  const QColor text = palette.color(QPalette::Active, QPalette::Text);
  const bool dark = base.lightness() < 128;
  theme.scheme = dark ? ColorScheme::kDark : ColorScheme::kLight;
  theme.background = base;
  theme.group = mix(base, text, dark ? 0.045 : 0.035);
  theme.panel = mix(base, text, dark ? 0.07 : 0.05);
  theme.separator = mix(base, text, dark ? 0.11 : 0.09);
  theme.grid = mix(base, text, dark ? 0.06 : 0.045);
  theme.text = mix(text, base, 0.08);
  theme.quiet_text = mix(text, base, 0.28);
  theme.accent = dark ? QColor(0x2d, 0xd4, 0xbf) : QColor(0x00, 0x7a, 0x6e);
  theme.current = mix(theme.panel, theme.accent, dark ? 0.12 : 0.10);
  theme.range = theme.accent;
  theme.range.setAlpha(dark ? 30 : 24);
  theme.marker = dark ? QColor(0xf2, 0xb8, 0x4b) : QColor(0x95, 0x5c, 0x00);
  const int line = QFontMetrics(font).height();
  theme.rows.level_height = line + 5;
  theme.rows.stacked_height = line + 2;
  theme.rows.group_height = line + 6;
  theme.rows.counter_height = 2 * line + 4;
  theme.rows.gap = 1;
  return theme;
}

}  // namespace lanescope::timeline
