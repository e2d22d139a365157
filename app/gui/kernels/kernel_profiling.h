// Starts the program of a trace again to read the counters of one of its kernels: `lanescope kernels`, as a child process.
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
  ~KernelProfiling() override;  // ends the program where it still runs

  // What would be run: the words of the command, where, and the file that it writes.
  struct Run {
    QStringList command;
    QString folder;
    QString file;
  };
  // For the kernel of this trace, read from this file (its recording lies beside it where it can be written there). The program that is run is
  // `lanescope` beside this viewer, else that of PATH.
  [[nodiscard]] static Run plan(const KernelFacts& facts, const QString& trace_file);

  // Ends with measured() or failed(). Requires: it is not running.
  void start(std::shared_ptr<const KernelFacts> facts, const Run& run);
  void cancel();
  [[nodiscard]] bool isRunning() const { return facts_ != nullptr; }

 signals:
  void progressed(const QString& sentence);
  // `of`: the trace whose kernel was to be measured.
  void measured(std::shared_ptr<const lanescope::Trace> recording, const QString& file, const std::shared_ptr<const lanescope::Trace>& of);
  void failed(const QString& sentence);

 private:
  void ended();
  void end(const QString& sentence);  // empty: all is well
  [[nodiscard]] QString lastWords() const;

  QProcess process_;
  QTimer tick_;
  QElapsedTimer clock_;
  QByteArray errors_;  // the last of what it said
  Run run_;
  std::shared_ptr<const KernelFacts> facts_;  // null: nothing runs
  bool cancelled_ = false;
  LatestJob reading_;
};

}  // namespace lanescope::ui
