// Files that a window writes for its user: asks where, writes off the GUI thread, and says what became of it. One at a time; the line in the
// status bar tells which and ends it.
//
// Threads: the GUI thread only; what writes is called on another one.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include <QLabel>
#include <QPushButton>
#include <QStringList>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/state/settings.h"
#include "model/file/new_file.h"
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
    std::shared_ptr<const Trace> source = nullptr;  // what is written is made of its events: where these can't be read any more, a text takes no place
    std::uint64_t source_bytes = 0;                 // of the files that hold it, by which what is written of it is bounded (export_limits.h)
  };
  // Writes the file, or fails with one sentence and leaves what was there. When asked to stop, it fails soon.
  using Write = std::function<Result<void>(const Destination& to, const std::stop_token& stop)>;
  // Says, once a file is whole, what it lacks of what was to be in it; empty: nothing. Called on the GUI thread.
  using Lack = std::function<QString()>;
  // A kind of file that can be chosen: "CSV" and ".csv".
  struct Kind {
    QString name;
    QString suffix;
  };

  explicit Exports(Settings& settings, QWidget* parent = nullptr);
  ~Exports() override;  // ends what is being written

  // Asks for a file of one of these kinds, in the folder of the last one, or else beside `source`; `name` is without a suffix. A path
  // that does not end in the suffix of one of the kinds gets that of the chosen kind. Empty: nobody wants one. Requires: at least one kind.
  [[nodiscard]] QString chooseFile(const QString& title, const QString& source, const QString& name, const QList<Kind>& kinds);
  // Emits ended() at once where nothing can be written there, and where another file is being written.
  void write(const Destination& to, Write write, Lack lacks = {});
  [[nodiscard]] bool isWriting() const { return job_.isRunning(); }
  [[nodiscard]] const QString& path() const { return path_; }  // that is written, or was last
  void stop();                                                 // nothing is written then, unless it was whole already

 signals:
  void begun();                     // a file is written from now on
  void wrote(const QString& path);  // it is whole; ended() follows
  void ended(const QString& sentence, lanescope::ui::MessageWeight weight);

 private:
  [[nodiscard]] bool replaces(const QString& path);
  Settings& settings_;
  QLabel* text_;
  QPushButton* cancel_;
  QString path_;
  std::stop_source stop_;
  LatestJob job_;
};

}  // namespace lanescope::ui
