// Recently opened files, in a menu and on the start page; those that were opened in one step, as one trace or to be compared, are one entry. Facts that tell
// files with the same name apart are shown as soon as they are known.
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
#include "session/session_machine.h"
#include "window/start/start_page.h"

namespace lanescope::ui {

class RecentFiles : public QObject {
  Q_OBJECT

 public:
  RecentFiles(Settings& settings, QMenu& menu, StartPage& page, QObject* parent = nullptr);

  void add(const Wish& wish);  // that was carried out. Requires: its kind is kOpen
  // Other windows and other programs of this user open files, too: this reads what they opened. It is also called when the menu is about to be shown.
  void readAgain();
  // Offers a removed file once more after it could not be opened, then no longer.
  void forgetIfGone(const QString& path);

 signals:
  void chosen(const lanescope::ui::Wish& wish);

 private:
  void choose(const QString& entry);
  void look(const QString& entry);
  void list();
  void show();  // the known facts of the listed files
  void take(const QString& path);

  Settings& settings_;
  QMenu& menu_;
  StartPage& page_;
  FileLookup lookup_;
  QStringList listed_;             // entries
  std::vector<QAction*> entries_;  // of the menu: one for each listed file
  QSet<QString> failed_;           // files that could not be opened
};

}  // namespace lanescope::ui
