#include "timeline/widget/shown_text.h"

#include <algorithm>
#include <string_view>

#include <QGuiApplication>
#include <QRegularExpression>

namespace lanescope {
namespace {

constexpr QChar kIsolate(0x2068);     // FIRST STRONG ISOLATE: the first letter decides the direction
constexpr QChar kEndIsolate(0x2069);  // POP DIRECTIONAL ISOLATE

enum class Way { kLeft, kRight, kNone };  // the direction of a character: Latin, Hebrew, digits and signs

Way way_of(char32_t letter) {
  switch (QChar::direction(letter)) {
    case QChar::DirL:
      return Way::kLeft;
    case QChar::DirR:
    case QChar::DirAL:
      return Way::kRight;
    default:
      return Way::kNone;
  }
}

// Characters around names, or between two of them.
bool is_delimiter(char32_t letter) { return std::u32string_view(U"\n[](){}<>:;,·|=").find(letter) != std::u32string_view::npos; }

}  // namespace

QString isolated(const QString& text) {
  constexpr char16_t kFirstFromTheRight = 0x0590;
  const bool is_plain = std::none_of(text.begin(), text.end(), [](QChar unit) { return unit.unicode() >= kFirstFromTheRight; });
  if (is_plain || QGuiApplication::layoutDirection() == Qt::RightToLeft) return text;
  const QList<uint> letters = text.toUcs4();
  const auto has = [&](Way way) { return std::any_of(letters.begin(), letters.end(), [way](uint letter) { return way_of(letter) == way; }); };
  const bool is_name = !has(Way::kLeft) && std::none_of(letters.begin(), letters.end(), is_delimiter);
  if (!has(Way::kRight) || is_name) return text;
  QString shown;
  for (qsizetype i = 0; i < letters.size();) {
    // From a right-to-left letter to the last letter or digit before a left-to-right letter or before a delimiter.
    qsizetype end = i;
    if (way_of(letters[i]) == Way::kRight)
      for (qsizetype next = i; next < letters.size() && way_of(letters[next]) != Way::kLeft && !is_delimiter(letters[next]); ++next)
        if (QChar::isLetterOrNumber(letters[next]) || QChar::isMark(letters[next])) end = next + 1;
    const bool is_run = end > i;
    if (is_run) shown += kIsolate;
    for (end = std::max(end, i + 1); i < end; ++i) shown += QString::fromUcs4(reinterpret_cast<const char32_t*>(&letters[i]), 1);
    if (is_run) shown += kEndIsolate;
  }
  return shown;
}

QString without_mnemonic(QString text) {
  static const QRegularExpression added(QStringLiteral("\\(&.\\)"));
  return text.remove(added).remove(u'&');
}

}  // namespace lanescope
