// Draws the window of a trace into a picture: `lanescope-ui FILE --screenshot OUT.png`.
#pragma once

#include <optional>

#include <QObject>
#include <QTimer>

#include "window/main_window.h"

namespace lanescope::ui {

struct ScreenshotRequest {
  QStringList files;
  Several several = Several::kBeside;
  QString picture;
  QSize size{1600, 1000};
  std::optional<TimeRange> range;  // visible; none: everything
  QString panel;                   // in front of its tabs; empty: the first
};

class Screenshot : public QObject {
  Q_OBJECT

 public:
  Screenshot(MainWindow& window, ScreenshotRequest request, QObject* parent = nullptr);
  void start();

 signals:
  // Comes once: an empty sentence when the picture was written, else what went wrong.
  void finished(const QString& sentence);

 private:
  void look();
  void lookForProblem();
  void take();

  MainWindow& window_;
  ScreenshotRequest request_;
  QTimer timer_;
  bool loaded_ = false;
  int quiet_looks_ = 0;  // in a row
};

}  // namespace lanescope::ui
