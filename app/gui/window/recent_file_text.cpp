#include "window/recent_file_text.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QObject>

#include "timeline/core/format.h"
#include "window/trace_status.h"

namespace lanescope::ui {
namespace {

constexpr int kNameInCharacters = 60;
constexpr int kFolderInCharacters = 50;

QString shortened(const QString& text, int characters, const QFontMetrics& metrics) {
  return metrics.elidedText(text, Qt::ElideMiddle, metrics.averageCharWidth() * characters);
}

QString facts_of(const QFileInfo& file) {
  if (!file.exists()) return QObject::tr("the file is gone");
  return QObject::tr("%1, %2").arg(age_text(file.lastModified().secsTo(QDateTime::currentDateTime())),
                                   QString::fromStdString(timeline::format_bytes(static_cast<std::uint64_t>(file.size()))));
}

}  // namespace

RecentFileText recent_file_text(const QString& path, const QFontMetrics& metrics) {
  const QFileInfo file(path);
  QString folder = file.absolutePath();
  const QString home = QDir::homePath();
  if (folder == home || folder.startsWith(home + u'/')) folder.replace(0, home.size(), QStringLiteral("~"));
  return {shortened(file.fileName(), kNameInCharacters, metrics), shortened(folder, kFolderInCharacters, metrics), facts_of(file)};
}

}  // namespace lanescope::ui
