// What the window shows while there is no trace: how to get one.
#pragma once

#include <QLabel>
#include <QWidget>

namespace lanescope::ui {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  void setRecentFiles(const QStringList& paths);

 signals:
  void openRequested();
  void launchRequested();
  void attachRequested();
  void fileRequested(const QString& path);

 private:
  void follow(const QString& link);
  QLabel* text_;
};

}  // namespace lanescope::ui
