// Caches labels for painting: shortened to the room, with their layout. The least recently used labels are removed.
#pragma once

#include <string_view>

#include <QCache>
#include <QFont>
#include <QFontMetrics>
#include <QPainter>
#include <QStaticText>

namespace lanescope::timeline {

class LabelCache {
 public:
  explicit LabelCache(const QFont& font);

  // Draws `text`, shortened to `width` logical pixels, starting at a position, vertically centred in `height`; draws nothing if not even its start fits. A
  // number at the end of a name is kept: "st…12". Its letters have the same baseline as those of other labels, whatever fonts they come from. The text must
  // stay valid until clear().
  void draw(QPainter& painter, std::string_view text, int width, QPointF left_top, double height);
  void clear() { labels_.clear(); }
  void setFont(const QFont& font);
  [[nodiscard]] const QFont& font() const { return font_; }

 private:
  struct Key {
    const char* text;
    std::size_t length;
    int width;  // 0: not shortened
    bool operator==(const Key&) const = default;
    friend size_t qHash(const Key& key, size_t seed = 0) { return qHashMulti(seed, reinterpret_cast<quintptr>(key.text), key.length, key.width); }
  };
  struct Label {
    QStaticText text;
    int width = 0;
    double rise = 0;  // height of its highest letters above those of font(): a fallback font for letters that font() lacks may be higher
  };
  const Label& make(const Key& key);
  [[nodiscard]] double riseOf(const QString& text) const;

  QFont font_;
  QFontMetrics metrics_;
  QCache<Key, Label> labels_;
};

}  // namespace lanescope::timeline
