#include "window/look/theme.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QPlainTextEdit>
#include <QProxyStyle>
#include <QStyleOption>
#include <QToolButton>

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
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText}) palette.setColor(QPalette::Disabled, role, shades.dimmed);
  return palette;
}

QPalette light_palette() { return palette_of({"#f3f4f6", "#ffffff", "#f7f8fa", "#eceef1", "#1d2127", "#646c78", "#2f6fb3", "#1f62a8", "#c3c8d0"}); }

QPalette dark_palette() { return palette_of({"#22262c", "#1a1d22", "#1f2329", "#2b3037", "#d9dde3", "#98a0ac", "#2f6fb3", "#7db4ee", "#3a4049"}); }

// Differences to Fusion: cells of tables have margins, texts on buttons do not touch their frames, input fields and check boxes are visible in dark windows,
// too, where Fusion's own frames are even darker, a button that is switched on differs from others by more than a shade, and the handle of a scroll bar stands
// out, not its groove as in Fusion.
class RoomyStyle : public QProxyStyle {
 public:
  RoomyStyle() : QProxyStyle(QStringLiteral("Fusion")), desktop_(QApplication::palette()) {}
  [[nodiscard]] const QPalette& desktop() const { return desktop_; }  // before the first change
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override {
    if (element == PE_IndicatorArrowDown && has_text_and_menu(widget)) {
      // Fusion's arrow has a few pixels in the corner, into which the text extends.
      QStyleOption arrow = *option;
      arrow.rect = visualRect(option->direction, widget->rect(), {widget->width() - kMenuArrow, 0, kMenuArrow - kCellMargin, widget->height()});
      return QProxyStyle::drawPrimitive(element, &arrow, painter, widget);
    }
    if (element == PE_PanelScrollAreaCorner) return painter->fillRect(option->rect, option->palette.color(QPalette::Window));
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_FrameMenu) {  // otherwise a dark menu cannot be distinguished from what is below it
      painter->setPen(option->palette.color(QPalette::Mid));
      painter->setBrush(Qt::NoBrush);
      return painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
    }
    if ((element == PE_PanelButtonCommand || element == PE_PanelButtonTool) && (option->state & State_On)) return mark_switched_on(*option, *painter);
    const bool dark = option->palette.color(QPalette::Window).lightness() < 128;
    if (dark && element == PE_IndicatorCheckBox) return outline(*option, *painter, option->palette.color(QPalette::Mid).lighter(kBoxOutline));
    const bool of_field = element == PE_FrameLineEdit || (element == PE_Frame && qobject_cast<const QPlainTextEdit*>(widget) != nullptr);
    if (of_field && dark && !(option->state & State_HasFocus)) outline(*option, *painter, option->palette.color(QPalette::Mid).lighter(kFieldOutline));
  }
  // A title that has too little room ends with an ellipsis: Fusion cuts it, those of numbers at their beginning.
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override {
    const auto* header = element == CE_HeaderLabel ? qstyleoption_cast<const QStyleOptionHeader*>(option) : nullptr;
    if (header == nullptr) return QProxyStyle::drawControl(element, option, painter, widget);
    QStyleOptionHeader shown = *header;
    shown.text = header->fontMetrics.elidedText(header->text, Qt::ElideRight, header->rect.width());
    QProxyStyle::drawControl(element, &shown, painter, widget);
  }
  static void outline(const QStyleOption& option, QPainter& painter, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(color);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    painter.restore();
  }
  static void mark_switched_on(const QStyleOption& option, QPainter& painter) {
    QColor tint = option.palette.color(QPalette::Highlight);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(tint);
    tint.setAlpha(kSwitchedOnTint);
    painter.setBrush(tint);
    painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    painter.restore();
  }
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter, const QWidget* widget) const override {
    const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (control != CC_ScrollBar || bar == nullptr) return QProxyStyle::drawComplexControl(control, option, painter, widget);
    const QPalette& palette = option->palette;
    painter->fillRect(option->rect, palette.color(QPalette::Window));
    if (bar->minimum == bar->maximum) return;
    const bool held = (option->activeSubControls & SC_ScrollBarSlider) != 0;
    QColor handle = palette.color(QPalette::WindowText);
    handle.setAlpha(held ? 150 : 85);
    const QRectF box = QRectF(subControlRect(control, option, SC_ScrollBarSlider, widget)).adjusted(3, 3, -3, -3);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(handle);
    painter->drawRoundedRect(box, std::min(box.width(), box.height()) / 2, std::min(box.width(), box.height()) / 2);
    painter->restore();
  }
  // Without buttons at the ends.
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part, const QWidget* widget) const override {
    const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (control != CC_ScrollBar || bar == nullptr) return QProxyStyle::subControlRect(control, option, part, widget);
    const bool upright = bar->orientation == Qt::Vertical;
    const int length = upright ? bar->rect.height() : bar->rect.width();
    const int span = bar->maximum - bar->minimum;
    int handle = length;
    if (span > 0) {
      const auto whole = static_cast<double>(span) + std::max(bar->pageStep, 1);
      handle = std::clamp(static_cast<int>(length * std::max(bar->pageStep, 1) / whole), std::min(kShortestHandle, length), length);
    }
    const int begin = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition, length - handle, bar->upsideDown);
    const auto along = [&](int from, int to) {
      const QRect rect = upright ? QRect(0, from, bar->rect.width(), to - from) : QRect(from, 0, to - from, bar->rect.height());
      return visualRect(bar->direction, bar->rect, rect);
    };
    switch (part) {
      case SC_ScrollBarSlider:
        return along(begin, begin + handle);
      case SC_ScrollBarSubPage:
        return along(0, begin);
      case SC_ScrollBarAddPage:
        return along(begin + handle, length);
      case SC_ScrollBarGroove:
        return along(0, length);
      default:
        return {};
    }
  }
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    if (metric == PM_FocusFrameHMargin && qobject_cast<const QAbstractItemView*>(widget)) return kCellMargin;
    if (metric == PM_HeaderMargin) return kCellMargin;
    return QProxyStyle::pixelMetric(metric, option, widget);
  }
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents, const QWidget* widget) const override {
    const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    if (type == CT_ToolButton && has_text_and_menu(widget)) return size.grownBy({kMenuArrow / 2, 0, kMenuArrow / 2, 0});  // keeps the text centred
    return type == CT_PushButton ? size.expandedTo({contents.width() + 2 * kButtonMargin, 0}) : size;
  }

 private:
  static bool has_text_and_menu(const QWidget* widget) {
    const auto* button = qobject_cast<const QToolButton*>(widget);
    return button != nullptr && button->menu() != nullptr && button->popupMode() == QToolButton::InstantPopup && button->icon().isNull() &&
           !button->text().isEmpty();
  }

  static constexpr int kMenuArrow = 18;       // px
  static constexpr int kCellMargin = 5;       // px
  static constexpr int kButtonMargin = 11;    // px
  static constexpr int kShortestHandle = 24;  // px of a scroll bar
  static constexpr int kSwitchedOnTint = 90;  // of 255
  static constexpr int kFieldOutline = 130;   // percent of the brightness of other frames in dark windows
  static constexpr int kBoxOutline = 180;
  QPalette desktop_;
};

}  // namespace

void apply_theme(Theme theme) {
  // Only once: setting another style would make tables lose the widths of their columns.
  auto* style = dynamic_cast<RoomyStyle*>(QApplication::style());
  if (style == nullptr) QApplication::setStyle(style = new RoomyStyle);
  switch (theme) {
    case Theme::kSystem:
      QApplication::setPalette(style->desktop().color(QPalette::Base).lightness() < 128 ? dark_palette() : light_palette());
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
