// Files that were open before, in a menu and on the page that is shown while there is no trace: with what tells files of one name apart, which
// comes when it is known.
//
// Threads: the GUI thread only.
#pragma once

#include <vector>

#include <QMenu>
#include <QObject>
#include <QSet>
#include <QString>

#include "base/files/file_facts.h"
#include "base/state/settings.h"
#include "window/start/start_page.h"

namespace lanescope::ui {

class RecentFiles : public QObject {
  Q_OBJECT

 public:
  RecentFiles(Settings& settings, QMenu& menu, StartPage& page, QObject* parent = nullptr);

  void add(const QString& path);
  // Other windows and other programs of this user open files, too: what they opened comes here, and when the menu is about to be shown.
  void readAgain();
  // A file that somebody removed is offered once more, when it could not be opened, and not for ever.
  void forgetIfGone(const QString& path);

 signals:
  void chosen(const QString& path);

 private:
  void list();
  void show();  // what is known of the listed ones
  void take(const QString& path);

  Settings& settings_;
  QMenu& menu_;
  StartPage& page_;
  FileLookup lookup_;
  QStringList listed_;
  std::vector<QAction*> entries_;  // of the menu: one a listed file
  QSet<QString> failed_;           // that could not be opened
};

}  // namespace lanescope::ui
