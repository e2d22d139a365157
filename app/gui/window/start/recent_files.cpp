#include "window/start/recent_files.h"

#include <algorithm>

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QFontMetrics>

#include "timeline/core/words/format.h"
#include "window/start/recent_entry.h"
#include "window/trace_status.h"

namespace lanescope::ui {
namespace {

constexpr int kNameInCharacters = 60;
constexpr int kOneOfTwoInCharacters = 36;
constexpr int kFolderInCharacters = 50;
constexpr qsizetype kMostLookedAt = 16;  // files of one entry; of more, nothing is said

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

// What is known of all the files together; nothing until each is known.
std::optional<FileFacts> facts_of_all(const QStringList& paths, const FileLookup& lookup) {
  FileFacts all{FileFacts::State::kThere, 0, 0};
  for (const QString& path : paths) {
    const std::optional<FileFacts> facts = lookup.of(path);
    if (!facts) return std::nullopt;
    if (facts->state != FileFacts::State::kThere) return facts;
    all.changed = std::max(all.changed, facts->changed);
    all.bytes += facts->bytes;
  }
  return all;
}

// "a.trace and b.trace, compared"; with their folders if the names are the same.
QString name_of(const QString& entry, const QFontMetrics& metrics) {
  const QStringList paths = paths_of(entry);
  if (paths.size() < 2) return shortened(QFileInfo(paths.value(0)).fileName(), kNameInCharacters, metrics);
  QFileInfo first(paths[0]), second(paths[1]);
  const bool are_alike = first.fileName() == second.fileName();
  const auto name = [&](const QFileInfo& file) {
    return shortened(are_alike ? file.dir().dirName() + u'/' + file.fileName() : file.fileName(), kOneOfTwoInCharacters, metrics);
  };
  if (!wish_of(entry).beside.isEmpty()) return QObject::tr("%1 and %2, compared").arg(name(first), name(second));
  if (paths.size() == 2) return QObject::tr("%1 and %2, as one trace").arg(name(first), name(second));
  return QObject::tr("%1 and %2 more, as one trace").arg(name(first), QString::number(paths.size() - 1));
}

RecentFileText shown_entry(const QString& entry, const std::optional<FileFacts>& facts, const QFontMetrics& metrics) {
  QString folder = QFileInfo(paths_of(entry).value(0)).absolutePath();
  const QString home = QDir::homePath();
  if (folder == home || folder.startsWith(home + u'/')) folder.replace(0, home.size(), QStringLiteral("~"));
  return {entry, name_of(entry, metrics), shortened(folder, kFolderInCharacters, metrics), facts_text(facts)};
}

}  // namespace

RecentFiles::RecentFiles(Settings& settings, QMenu& menu, StartPage& page, QObject* parent) : QObject(parent), settings_(settings), menu_(menu), page_(page) {
  connect(&lookup_, &FileLookup::found, this, &RecentFiles::take);
  connect(&page, &StartPage::recentRequested, this, &RecentFiles::choose);
  connect(&menu, &QMenu::aboutToShow, this, [this] {
    readAgain();
    for (const QString& entry : listed_) look(entry);
  });
  list();
}

void RecentFiles::add(const Wish& wish) {
  settings_.addRecentEntry(entry_of(wish));
  list();
}

void RecentFiles::choose(const QString& entry) { emit chosen(wish_of(entry)); }

void RecentFiles::look(const QString& entry) {
  for (const QString& path : paths_of(entry).first(std::min(kMostLookedAt, paths_of(entry).size()))) lookup_.look(path);
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
  for (const QString& entry : settings_.recentFiles())
    if (paths_of(entry).contains(path)) settings_.removeRecentEntry(entry);
  list();
}

void RecentFiles::list() {
  listed_ = settings_.recentFiles();
  menu_.clear();
  entries_.clear();
  for (const QString& entry : listed_) {
    const QStringList paths = paths_of(entry);
    QAction* action = menu_.addAction(QString(), this, [this, entry] { choose(entry); });
    action->setToolTip(paths.join(u'\n'));
    action->setStatusTip(paths.join(QStringLiteral(", ")));
    entries_.push_back(action);
    look(entry);
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
    const QString& entry = listed_[static_cast<qsizetype>(i)];
    const RecentFileText text = shown_entry(entry, facts_of_all(paths_of(entry), lookup_), page_.fontMetrics());
    QString name = text.name;
    name.replace(u'&', QStringLiteral("&&"));
    entries_[i]->setText(text.facts.isEmpty() ? tr("%1    %2").arg(name, text.folder) : tr("%1    %2, %3").arg(name, text.folder, text.facts));
    texts.push_back(text);
  }
  page_.setRecentFiles(texts);
}

}  // namespace lanescope::ui
