// What the window shows while there is no trace: the ways to get one.
#pragma once

#include <vector>

#include <QLabel>
#include <QWidget>

namespace lanescope::ui {

// A recently opened file, or several that were opened in one step.
struct RecentFileText {
  QString entry;  // identifies it
  QString name;
  QString folder;  // with ~ for the user's home folder; long paths and names are shortened in their middle
  QString facts;   // "3 h ago, 12.3 MiB"; "the file is gone"; empty while nothing is known
};

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  void setRecentFiles(const std::vector<RecentFileText>& files);

 signals:
  void openRequested();
  void launchRequested();
  void attachRequested();
  void recentRequested(const QString& entry);

 private:
  void follow(const QString& link);
  QLabel* text_;
};

}  // namespace lanescope::ui
