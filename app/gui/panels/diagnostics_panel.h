// How a trace came about and how complete it is: the recording, each process's completeness, messages, and what the target printed.
// Nothing is filled in while the panel is hidden.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <QPlainTextEdit>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"

namespace lanescope::ui {

class DiagnosticsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit DiagnosticsPanel(SelectionState& state, QWidget* parent = nullptr);

  [[nodiscard]] const QTreeWidget& processes() const { return *processes_; }
  [[nodiscard]] const QTreeWidget& messages() const { return *messages_; }
  [[nodiscard]] QString output() const { return output_->toPlainText(); }
  // While the program is recorded, processes whose end is not known run.
  enum class Recording { kGoesOn, kIsOver };
  void setRecording(Recording recording);
  // Those that hold the trace. Of events that stay in them nobody has looked whether they are sound: that is done once the panel is shown, as
  // `lanescope info` does, and damageFound() follows where they are not.
  void setFiles(std::vector<std::filesystem::path> files);
  [[nodiscard]] bool isLooking() const { return job_.isRunning(); }
  [[nodiscard]] QString recording() const { return recording_->toPlainText(); }
  void showRecordingPage() { tabs_->setCurrentWidget(recording_); }
  void showOutputPage() { tabs_->setCurrentWidget(output_); }  // what the program prints; at its end, it follows what comes

 signals:
  void damageFound();  // anew, in the files of the trace that is shown

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show();
  void look(const Trace& trace);  // for damage in the files
  void showRecording(const Trace& trace);
  void showProcesses(const Trace& trace);
  void showMessages(const Trace& trace);
  void showOutput(const Trace& trace);

  SelectionState& state_;
  QTabWidget* tabs_;
  QTextBrowser* recording_;
  QTreeWidget* processes_;
  QTreeWidget* messages_;
  QPlainTextEdit* output_;
  PacedUpdate paced_;
  std::vector<std::filesystem::path> files_;
  bool has_looked_ = false;          // or looks just now
  std::vector<std::string> damage_;  // a sentence a file, with the file's name where there are several
  LatestJob job_;
  Recording now_ = Recording::kIsOver;
  std::size_t shown_output_ = 0;  // pieces of the target's output that are shown, or left out before those
  std::size_t shown_bytes_ = 0;   // of output
};

// "exited with 3", "ended by signal 9 (Killed)", "still running when the recording stopped".
[[nodiscard]] QString process_end_text(const Process& process);
// How many events a trace has, where they are, and what that takes of memory.
[[nodiscard]] QString event_place_text(const Trace& trace);

}  // namespace lanescope::ui
