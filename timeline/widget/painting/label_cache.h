// Labels made ready for painting: shortened to what fits, laid out once. The least recently used are forgotten.
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

  // Writes `text`, shortened to `width` logical pixels, from a place on, in the middle of `height`; nothing when not even its beginning fits. Of names that
  // end in a counter, that stays: "st…12". Its
  // letters stand on one line with those of other labels, whatever fonts they come from. The text must stay where it is until clear().
  void draw(QPainter& painter, std::string_view text, int width, QPointF left_top, double height);
  void clear() { labels_.clear(); }
  void set_font(const QFont& font);
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
    double rise = 0;  // of its highest letters above those of font(): another font, which has letters that this one lacks, may be higher
  };
  const Label& make(const Key& key);
  [[nodiscard]] double rise_of(const QString& text) const;

  QFont font_;
  QFontMetrics metrics_;
  QCache<Key, Label> labels_;
};

}  // namespace lanescope::timeline
