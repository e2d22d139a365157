// Labels made ready for painting: shortened to what fits, laid out once. The least recently used are forgotten.
#pragma once

#include <string_view>

#include <QCache>
#include <QFont>
#include <QFontMetrics>
#include <QStaticText>

namespace lanescope::timeline {

class LabelCache {
 public:
  explicit LabelCache(const QFont& font);

  // `text` shortened to `width` logical pixels; null when not even its beginning fits. The text must stay where it is until clear().
  const QStaticText* label(std::string_view text, int width);
  void clear() { labels_.clear(); }
  void set_font(const QFont& font);
  [[nodiscard]] const QFont& font() const { return font_; }
  [[nodiscard]] int line_height() const { return metrics_.height(); }

 private:
  struct Key {
    const char* text;
    std::size_t length;
    int width;  // 0: not shortened
    bool operator==(const Key&) const = default;
    friend size_t qHash(const Key& key, size_t seed = 0) {
      return qHashMulti(seed, reinterpret_cast<quintptr>(key.text), key.length, key.width);
    }
  };
  struct Label {
    QStaticText text;
    int width = 0;
  };
  const Label& make(const Key& key);

  QFont font_;
  QFontMetrics metrics_;
  QCache<Key, Label> labels_;
};

}  // namespace lanescope::timeline
