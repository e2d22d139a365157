// Runs the program of a trace again to read the counters of one of its kernels, by `lanescope kernels` as a child process.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>

#include <QElapsedTimer>
#include <QProcess>
#include <QStringList>
#include <QTimer>

#include "base/jobs/latest_job.h"
#include "kernels/kernel_facts.h"

namespace lanescope::ui {

class KernelProfiling : public QObject {
  Q_OBJECT

 public:
  explicit KernelProfiling(QObject* parent = nullptr);
  ~KernelProfiling() override;  // ends the program if it still runs

  // What would be run: the words of the command, its folder, and the file that it writes.
  struct Run {
    QStringList command;
    QString folder;
    QString file;
    QString caution;  // a sentence on which launch will be measured; empty: the kernel's own
  };
  // Plans the run for the kernel of this trace, which was read from this file (the recording is written beside it if possible). The program is the `lanescope`
  // beside this viewer, or else the one in PATH.
  [[nodiscard]] static Run plan(const KernelFacts& facts, const QString& trace_file);

  // Ends with measured() or failed(). Requires: no run is in progress.
  void start(std::shared_ptr<const KernelFacts> facts, const Run& run);
  void cancel();  // ends the program, or the reading of what it left
  [[nodiscard]] bool isRunning() const { return state_ != State::kIdle; }

 signals:
  void progressed(const QString& sentence);
  // `of`: the trace whose kernel was to be measured.
  void measured(std::shared_ptr<const lanescope::Trace> recording, const QString& file, const std::shared_ptr<const lanescope::Trace>& of);
  void failed(const QString& sentence);

 private:
  void ended();
  void end(const QString& sentence);  // empty: success
  [[nodiscard]] QString lastWords() const;

  QProcess process_;
  QTimer tick_;
  QElapsedTimer clock_;
  QByteArray errors_;  // the end of its standard error
  Run run_;
  std::shared_ptr<const KernelFacts> facts_;                // of the run that is in progress
  enum class State { kIdle, kRunning, kEnding, kReading };  // no run is in progress; of the program, until it is cancelled and after that; of what it left
  State state_ = State::kIdle;
  QTimer patience_;  // until a program that was told to end is killed
  LatestJob reading_;
};

}  // namespace lanescope::ui
