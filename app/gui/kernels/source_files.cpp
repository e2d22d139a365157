#include "kernels/source_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "model/trace/kernel_records.h"

namespace lanescope::ui {
namespace {

constexpr qint64 kLargestSource = 16 << 20;
constexpr qsizetype kMostFolders = 64;  // end parts of a recorded path that are tried below each folder

// Paths that are not regular files, for example pipes, are never opened.
std::optional<SourceText> read(const QString& path) {
  const QFileInfo info(path);
  if (!info.isFile() || info.size() > kLargestSource) return std::nullopt;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return std::nullopt;
  const QByteArray text = file.read(kLargestSource);
  return SourceText{path, QString::fromUtf8(text).split(u'\n'), text.size()};
}

}  // namespace

std::optional<SourceText> read_source(const std::string& recorded_path, const QStringList& folders) {
  const QString recorded = QString::fromStdString(recorded_path);
  if (recorded.startsWith(u'/'))
    if (auto text = read(recorded)) return text;
  const QStringList parts = recorded.split(u'/', Qt::SkipEmptyParts);
  for (const QString& folder : folders)
    for (qsizetype first = std::max<qsizetype>(0, parts.size() - kMostFolders); first < parts.size(); ++first) {
      const QStringList end = parts.mid(first);
      if (end.contains(QStringLiteral(".."))) continue;
      if (auto text = read(QDir(folder).filePath(end.join(u'/')))) return text;
    }
  return std::nullopt;
}

std::optional<SourceText> read_source(const Trace& trace, const std::string& recorded_path, const QStringList& folders) {
  if (const lanescope::SourceText* const kept = trace.kernel_records().find_source(recorded_path))
    return SourceText{QString::fromStdString(recorded_path), QString::fromStdString(kept->text).split(u'\n'), static_cast<qint64>(kept->text.size())};
  return read_source(recorded_path, folders);
}

}  // namespace lanescope::ui
