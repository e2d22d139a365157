// Writes files for the user of a window: asks for the file, writes it off the GUI thread, and reports the result. One file at a time; a line in the status bar
// shows it with its progress and can cancel it.
//
// Threads: the GUI thread only; the Write function is called on another one.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/state/settings.h"
#include "model/file/new_file.h"
#include "model/file/progress.h"
#include "model/file/result.h"
#include "model/trace/trace.h"
#include "session/recording_end.h"

namespace lanescope::ui {

class Exports : public QWidget {
  Q_OBJECT

 public:
  struct Destination {
    std::string path;
    Readers readers = Readers::kAsUsual;
    std::shared_ptr<const Trace> source = nullptr;  // the trace whose events are written: if events can no longer be read, an exported text is discarded
    std::uint64_t source_bytes = 0;                 // size of the files that hold the trace, which limits the size of the written file (export_limits.h)
    Progress progress = {};                         // the writer says how far it is
  };
  // Writes the file, or fails with one sentence and leaves an existing file unchanged. Fails soon when asked to stop.
  using Write = std::function<Result<void>(const Destination& to, const std::stop_token& stop)>;
  // Tells after a complete file was written what it lacks; empty: nothing. Called on the GUI thread.
  using Lack = std::function<QString()>;
  // A kind of file that the user can choose: "CSV" and ".csv".
  struct Kind {
    QString name;
    QString suffix;
  };

  explicit Exports(Settings& settings, QWidget* parent = nullptr);
  ~Exports() override;  // cancels a write that is in progress

  // Asks for a file of one of these kinds, in the folder of the last export, or else beside `source`; `name` has no suffix. A path without the suffix of one of
  // the kinds gets the suffix of the chosen kind. Empty: the user cancelled. Requires: at least one kind.
  [[nodiscard]] QString chooseFile(const QString& title, const QString& source, const QString& name, const QList<Kind>& kinds);
  // Emits ended() at once if nothing can be written there, or if another file is being written.
  void write(const Destination& to, Write write, Lack lacks = {});
  [[nodiscard]] bool isWriting() const { return job_.isRunning(); }
  [[nodiscard]] const QString& path() const { return path_; }  // of the file that is being written or was written last
  void stop();                                                 // nothing is written then, unless the file was complete already

 signals:
  void begun();                     // the writing of a file has started
  void wrote(const QString& path);  // it is complete; ended() follows
  void ended(const QString& sentence, lanescope::ui::MessageWeight weight);

 private:
  [[nodiscard]] bool replaces(const QString& path);
  void showProgress();
  Settings& settings_;
  QLabel* text_;
  QProgressBar* bar_;
  QPushButton* cancel_;
  QString path_;
  std::stop_source stop_;
  Progress progress_;  // of the file that is being written
  QTimer looking_;     // at the progress
  LatestJob job_;
};

}  // namespace lanescope::ui
