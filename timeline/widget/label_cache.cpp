#include "label_cache.h"

#include <algorithm>
#include <memory>

namespace lanescope::timeline {
namespace {

constexpr int kCapacity = 8192;
constexpr int kWidthStep = 8;          // logical pixels: labels are shortened to multiples of it, so that zooming finds them again
constexpr int kNarrowest = 16;         // a shortened label below this says nothing
constexpr std::size_t kLongest = 240;  // characters; more never fits on a screen

}  // namespace

LabelCache::LabelCache(const QFont& font) : font_(font), metrics_(font), labels_(kCapacity) {}

void LabelCache::set_font(const QFont& font) {
  font_ = font;
  metrics_ = QFontMetrics(font);
  labels_.clear();
}

const LabelCache::Label& LabelCache::make(const Key& key) {
  if (const Label* found = labels_.object(key)) return *found;
  auto label = std::make_unique<Label>();
  QString text = QString::fromUtf8(key.text, static_cast<qsizetype>(std::min(key.length, kLongest)));
  if (key.width > 0) text = metrics_.elidedText(text, Qt::ElideRight, key.width);
  label->text.setTextFormat(Qt::PlainText);
  label->text.setPerformanceHint(QStaticText::AggressiveCaching);
  label->text.setText(text);
  label->text.prepare(QTransform(), font_);
  label->width = metrics_.horizontalAdvance(text);
  const Label& made = *label;
  labels_.insert(key, label.release());
  return made;
}

const QStaticText* LabelCache::label(std::string_view text, int width) {
  if (width < kNarrowest || text.empty()) return nullptr;
  const Label& whole = make({text.data(), text.size(), 0});
  if (whole.width <= width) return &whole.text;
  const int shortened = width / kWidthStep * kWidthStep;
  return &make({text.data(), text.size(), shortened}).text;
}

}  // namespace lanescope::timeline
