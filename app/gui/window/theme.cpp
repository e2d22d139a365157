#include "window/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleOption>

namespace lanescope::ui {
namespace {

struct Shades {
  QColor window, base, alternate, button, text, dimmed, highlight, link, border;
};

QPalette palette_of(const Shades& shades) {
  QPalette palette(shades.text, shades.button, shades.button.lighter(120), shades.border, shades.border, shades.text, shades.base);
  palette.setColor(QPalette::Window, shades.window);
  palette.setColor(QPalette::WindowText, shades.text);
  palette.setColor(QPalette::AlternateBase, shades.alternate);
  palette.setColor(QPalette::ButtonText, shades.text);
  palette.setColor(QPalette::PlaceholderText, shades.dimmed);
  palette.setColor(QPalette::Highlight, shades.highlight);
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, shades.link);
  palette.setColor(QPalette::ToolTipBase, shades.base);
  palette.setColor(QPalette::ToolTipText, shades.text);
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, shades.dimmed);
  return palette;
}

QPalette light_palette() {
  return palette_of({"#f3f4f6", "#ffffff", "#f7f8fa", "#eceef1", "#1d2127", "#646c78", "#2f6fb3", "#1f62a8", "#c3c8d0"});
}

QPalette dark_palette() {
  return palette_of({"#22262c", "#1a1d22", "#1f2329", "#2b3037", "#d9dde3", "#98a0ac", "#2f6fb3", "#7db4ee", "#3a4049"});
}

// Cells of tables stand apart, texts on buttons do not touch their frames, and fields to type into are seen on dark windows, too, where
// Fusion's own frame is darker still.
class RoomyStyle : public QProxyStyle {
 public:
  RoomyStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool dark = option->palette.color(QPalette::Window).lightness() < 128;
    if (element != PE_FrameLineEdit || !dark || (option->state & State_HasFocus)) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(option->palette.color(QPalette::Mid).lighter(130));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    painter->restore();
  }
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    if (metric == PM_FocusFrameHMargin && qobject_cast<const QAbstractItemView*>(widget)) return kCellMargin;
    if (metric == PM_HeaderMargin) return kCellMargin;
    return QProxyStyle::pixelMetric(metric, option, widget);
  }
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents, const QWidget* widget) const override {
    const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    return type == CT_PushButton ? size.expandedTo({contents.width() + 2 * kButtonMargin, 0}) : size;
  }

 private:
  static constexpr int kCellMargin = 5;     // px
  static constexpr int kButtonMargin = 11;  // px
};

}  // namespace

void apply_theme(Theme theme) {
  static const QPalette desktop = QApplication::palette();
  QApplication::setStyle(new RoomyStyle);
  switch (theme) {
    case Theme::kSystem:
      QApplication::setPalette(desktop.color(QPalette::Base).lightness() < 128 ? dark_palette() : light_palette());
      break;
    case Theme::kLight:
      QApplication::setPalette(light_palette());
      break;
    case Theme::kDark:
      QApplication::setPalette(dark_palette());
      break;
  }
}

}  // namespace lanescope::ui
