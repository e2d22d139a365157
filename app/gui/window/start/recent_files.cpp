#include "window/start/recent_files.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QFontMetrics>

#include "timeline/core/words/format.h"
#include "window/trace_status.h"

namespace lanescope::ui {
namespace {

constexpr int kNameInCharacters = 60;
constexpr int kFolderInCharacters = 50;

QString shortened(const QString& text, int characters, const QFontMetrics& metrics) {
  return metrics.elidedText(text, Qt::ElideMiddle, metrics.averageCharWidth() * characters);
}

QString facts_text(const std::optional<FileFacts>& facts) {
  if (!facts) return {};
  switch (facts->state) {
    case FileFacts::State::kGone:
      return QObject::tr("the file is gone");
    case FileFacts::State::kNotReadable:
      return QObject::tr("can't be read");
    case FileFacts::State::kThere:
      break;
  }
  return QObject::tr("%1, %2").arg(age_text(QDateTime::currentSecsSinceEpoch() - facts->changed),
                                   QString::fromStdString(timeline::format_bytes(static_cast<std::uint64_t>(facts->bytes))));
}

RecentFileText text_of_file(const QString& path, const std::optional<FileFacts>& facts, const QFontMetrics& metrics) {
  const QFileInfo file(path);
  QString folder = file.absolutePath();
  const QString home = QDir::homePath();
  if (folder == home || folder.startsWith(home + u'/')) folder.replace(0, home.size(), QStringLiteral("~"));
  return {path, shortened(file.fileName(), kNameInCharacters, metrics), shortened(folder, kFolderInCharacters, metrics), facts_text(facts)};
}

}  // namespace

RecentFiles::RecentFiles(Settings& settings, QMenu& menu, StartPage& page, QObject* parent) : QObject(parent), settings_(settings), menu_(menu), page_(page) {
  connect(&lookup_, &FileLookup::found, this, &RecentFiles::take);
  connect(&menu, &QMenu::aboutToShow, this, [this] {
    readAgain();
    for (const QString& path : listed_) lookup_.look(path);
  });
  list();
}

void RecentFiles::add(const QString& path) {
  settings_.addRecentFile(path);
  list();
}

void RecentFiles::readAgain() {
  settings_.readAgain();
  if (settings_.recentFiles() != listed_) list();
}

void RecentFiles::forgetIfGone(const QString& path) {
  failed_.insert(path);
  lookup_.look(path);
}

void RecentFiles::take(const QString& path) {
  const std::optional<FileFacts> facts = lookup_.of(path);
  if (!failed_.remove(path) || facts->state != FileFacts::State::kGone) return show();
  settings_.removeRecentFile(path);
  list();
}

void RecentFiles::list() {
  listed_ = settings_.recentFiles();
  menu_.clear();
  entries_.clear();
  for (const QString& path : listed_) {
    QAction* entry = menu_.addAction(QString(), this, [this, path] { emit chosen(path); });
    entry->setToolTip(path);
    entry->setStatusTip(path);
    entries_.push_back(entry);
    lookup_.look(path);
  }
  menu_.addSeparator();
  menu_.addAction(tr("Clear the list"), this, [this] {
    settings_.clearRecentFiles();
    list();
  });
  menu_.setEnabled(!listed_.isEmpty());
  show();
}

void RecentFiles::show() {
  std::vector<RecentFileText> texts;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const QString& path = listed_[static_cast<qsizetype>(i)];
    const RecentFileText text = text_of_file(path, lookup_.of(path), page_.fontMetrics());
    QString name = text.name;
    name.replace(u'&', QStringLiteral("&&"));
    entries_[i]->setText(text.facts.isEmpty() ? tr("%1    %2").arg(name, text.folder) : tr("%1    %2, %3").arg(name, text.folder, text.facts));
    texts.push_back(text);
  }
  page_.setRecentFiles(texts);
}

}  // namespace lanescope::ui
