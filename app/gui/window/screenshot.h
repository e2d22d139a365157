// Draws the window of a trace into a picture file: `lanescope-ui FILE --screenshot OUT.png`.
#pragma once

#include <optional>

#include <QObject>
#include <QTimer>

#include "model/file/new_file.h"
#include "window/main_window.h"
#include "window/opening_view.h"

namespace lanescope::ui {

struct ScreenshotRequest {
  QStringList files;
  Several several = Several::kBeside;
  QString picture;  // path of the picture file; ends in .png
  Overwrite overwrite = Overwrite::kRefuse;
  QSize size{1600, 1000};
  OpeningView view;
};

class Screenshot : public QObject {
  Q_OBJECT

 public:
  Screenshot(MainWindow& window, ScreenshotRequest request, QObject* parent = nullptr);
  void start();

 signals:
  // Emitted once: with an empty sentence if the picture was written, else with the reason why not.
  void finished(const QString& sentence);

 private:
  void look();
  void lookForProblem();
  void end(const QString& sentence);
  // Fails with one sentence.
  [[nodiscard]] Result<void> take();

  MainWindow& window_;
  ScreenshotRequest request_;
  std::optional<NewFile> file_;  // created at the start, so that problems with the file are known before anything is drawn
  QTimer timer_;
  bool loaded_ = false;
  int quiet_looks_ = 0;  // consecutive ones
};

}  // namespace lanescope::ui
