#include "window/start/recent_entry.h"

#include <QFileInfo>
#include <QUrl>

namespace lanescope::ui {
namespace {

// First lines; absolute paths begin with a slash. The other lines are paths without line breaks.
constexpr QLatin1String kTogether("together:"), kBeside("beside:");

QString absolute(const QString& path) { return QFileInfo(path).absoluteFilePath(); }

}  // namespace

QString entry_of(const Wish& wish) {
  if (wish.further.isEmpty() && wish.beside.isEmpty()) return absolute(wish.path);
  QStringList lines{wish.beside.isEmpty() ? QString(kTogether) : QString(kBeside)};
  QStringList paths = QStringList(wish.path) + wish.further;
  if (!wish.beside.isEmpty()) paths = {wish.path, wish.beside};  // several that are one trace can't be compared
  for (const QString& path : paths) lines += QString::fromLatin1(QUrl::toPercentEncoding(absolute(path), "/"));
  return lines.join(u'\n');
}

QStringList paths_of(const QString& entry) {
  if (entry.startsWith(u'/')) return {entry};
  QStringList paths;
  for (const QString& line : entry.split(u'\n').mid(1)) paths += QUrl::fromPercentEncoding(line.toLatin1());
  return paths;
}

Wish wish_of(const QString& entry) {
  const QStringList paths = paths_of(entry);
  if (entry.startsWith(kBeside)) return {WishKind::kOpen, paths.value(0), {}, paths.value(1)};
  return {WishKind::kOpen, paths.value(0), paths.mid(1)};
}

}  // namespace lanescope::ui
