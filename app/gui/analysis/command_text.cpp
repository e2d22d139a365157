#include "analysis/command_text.h"

#include <QRegularExpression>

namespace lanescope::ui {

QString command_text(const QStringList& words) {
  static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:=@%+,-]+$"));
  QStringList quoted;
  for (QString word : words) {
    if (plain.match(word).hasMatch())
      quoted += word;
    else
      quoted += u'\'' + word.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
  }
  return quoted.join(u' ');
}

}  // namespace lanescope::ui
