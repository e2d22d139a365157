// How a trace was made and how complete it is: the recording, the completeness of each process, messages, and the output of the target. Nothing is filled in
// while the panel is hidden.
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
#include "base/jobs/while_shown.h"
#include "base/state/selection_state.h"

namespace lanescope::ui {

class DiagnosticsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit DiagnosticsPanel(SelectionState& state, QWidget* parent = nullptr);

  [[nodiscard]] const QTreeWidget& processes() const { return *processes_; }
  [[nodiscard]] const QTreeWidget& messages() const { return *messages_; }
  [[nodiscard]] QString output() const { return output_->toPlainText(); }
  // While the program is recorded, processes without a known end are running.
  enum class Recording { kGoesOn, kIsOver };
  void setRecording(Recording recording);
  // The files that hold the trace. Events that stay in them were not checked for damage: the panel checks them when it is shown, as `lanescope info` does, and
  // emits damageFound() if some are damaged.
  void setFiles(std::vector<std::filesystem::path> files);
  [[nodiscard]] bool isLooking() const { return job_.isRunning(); }
  [[nodiscard]] QString recording() const { return recording_->toPlainText(); }
  void showOutputPage() { tabs_->setCurrentWidget(output_); }  // the output of the program; if it is scrolled to its end, it follows new output

 signals:
  void damageFound();  // the check found damage in the files of the shown trace

 private:
  void show();
  void look(const Trace& trace);  // checks the files for damage
  void showRecording(const Trace& trace);
  void showProcesses(const Trace& trace);
  void showMessages(const Trace& trace);
  void showOutput(const Trace& trace);

  SelectionState& state_;
  QTabWidget* tabs_;
  QTextBrowser* recording_;
  QTreeWidget* processes_;
  QLabel* missing_;  // above the processes
  QTreeWidget* messages_;
  QPlainTextEdit* output_;
  std::vector<std::filesystem::path> files_;
  bool has_looked_ = false;          // the check has finished or is running
  std::vector<std::string> damage_;  // a sentence for each file, with the name of the file if there are several
  LatestJob job_;
  Recording now_ = Recording::kIsOver;
  std::size_t shown_output_ = 0;  // pieces of the target's output that are shown, or were left out before them
  std::size_t shown_bytes_ = 0;   // of output
  WhileShown while_shown_{*this, [this] { show(); }};
};

// "exited with 3", "ended by signal 9 (Killed)", "still running when the recording stopped".
[[nodiscard]] QString process_end_text(const Process& process);
// How many events a trace has, where they are stored, and how much memory that takes.
[[nodiscard]] QString event_place_text(const Trace& trace);

}  // namespace lanescope::ui
