// How a trace came about and how complete it is: the recording, each process's completeness, messages, and what the target printed.
// Nothing is filled in while the panel is hidden.
#pragma once

#include <QPlainTextEdit>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QWidget>

#include "base/paced_update.h"
#include "base/selection_state.h"

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
  void showOutputPage() { tabs_->setCurrentWidget(output_); }  // what the program prints; at its end, it follows what comes

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show();
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
  Recording now_ = Recording::kIsOver;
  std::size_t shown_output_ = 0;  // pieces of the target's output that are shown, or left out before those
  std::size_t shown_bytes_ = 0;   // of output
};

// "exited with 3", "ended by signal 9 (Killed)", "still running when the recording stopped".
[[nodiscard]] QString process_end_text(const Process& process);
// How many events a trace has, where they are, and what that takes of memory.
[[nodiscard]] QString event_place_text(const Trace& trace);

}  // namespace lanescope::ui
