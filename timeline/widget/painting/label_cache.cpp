#include "painting/label_cache.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <QTextLayout>

namespace lanescope::timeline {
namespace {

constexpr int kCapacity = 8192;
constexpr int kWidthStep = 8;          // logical pixels: labels are shortened to multiples of it, so that zooming finds them in the cache
constexpr int kNarrowest = 16;         // a label that is shortened to less is useless
constexpr std::size_t kLongest = 240;  // characters; longer labels never fit on a screen

// The number of digits at the end of a name like "step 12".
qsizetype counter_length(QStringView text) {
  constexpr qsizetype kLongestCounter = 8;
  qsizetype length = 0;
  while (length < text.size() && text[text.size() - 1 - length].isDigit()) ++length;
  const bool is_counter = length > 0 && length <= kLongestCounter && length < text.size() && text[text.size() - 1 - length].isSpace();
  return is_counter ? length : 0;
}

// The number at the end of a name is kept, because it distinguishes neighbours: "st…12", or "12" alone.
QString shortened(const QString& text, int width, const QFontMetrics& metrics) {
  const QString number = text.last(counter_length(text)), end = QChar(0x2026) + number;
  if (!number.isEmpty() && metrics.horizontalAdvance(end) > width && metrics.horizontalAdvance(number) <= width) return number;
  if (end.size() == 1 || metrics.horizontalAdvance(end) > width) return metrics.elidedText(text, Qt::ElideRight, width);
  QString begin = text.chopped(end.size() - 1).trimmed();
  while (metrics.horizontalAdvance(begin + end) > width) begin.chop(1);
  return begin + end;
}

}  // namespace

LabelCache::LabelCache(const QFont& font) : font_(font), metrics_(font), labels_(kCapacity) {}

void LabelCache::setFont(const QFont& font) {
  font_ = font;
  metrics_ = QFontMetrics(font);
  labels_.clear();
}

const LabelCache::Label& LabelCache::make(const Key& key) {
  if (const Label* found = labels_.object(key)) return *found;
  auto label = std::make_unique<Label>();
  QString text = QString::fromUtf8(key.text, static_cast<qsizetype>(std::min(key.length, kLongest)));
  if (key.width > 0) text = shortened(text, key.width, metrics_);
  label->text.setTextFormat(Qt::PlainText);
  label->text.setPerformanceHint(QStaticText::AggressiveCaching);
  label->text.setText(text);
  label->text.prepare(QTransform(), font_);
  label->width = metrics_.horizontalAdvance(text);
  label->rise = riseOf(text);
  const Label& made = *label;
  labels_.insert(key, label.release());
  return made;
}

// Fonts are queried only if a letter may need a fallback font.
double LabelCache::riseOf(const QString& text) const {
  constexpr char16_t kFirstBeyondLatin = 0x0250;
  if (std::none_of(text.begin(), text.end(), [](QChar unit) { return unit.unicode() >= kFirstBeyondLatin; })) return 0;
  QTextLayout layout(text, font_);
  layout.beginLayout();
  const QTextLine line = layout.createLine();
  layout.endLayout();
  return line.ascent() - metrics_.ascent();
}

void LabelCache::draw(QPainter& painter, std::string_view text, int width, QPointF left_top, double height) {
  if (width < kNarrowest || text.empty()) return;
  const Label* label = &make({text.data(), text.size(), 0});
  if (label->width > width) label = &make({text.data(), text.size(), width / kWidthStep * kWidthStep});
  const double above = std::floor((height - metrics_.height()) / 2) - label->rise;
  painter.drawStaticText(left_top + QPointF(0, above), label->text);
}

}  // namespace lanescope::timeline
