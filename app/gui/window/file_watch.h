// Says what becomes of the files of the shown trace: events that can't be read any more, and files that were written again since they were opened.
//
// Threads: the GUI thread only. Unreadable events are discovered on demand, on any thread, and are asked for from time to time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <QObject>
#include <QTimer>

#include "base/files/file_state.h"
#include "base/state/selection_state.h"
#include "session/session_controller.h"
#include "window/message_area.h"
#include "window/trace_status.h"

namespace lanescope::ui {

class FileWatch : public QObject {
  Q_OBJECT

 public:
  // A child of the window, which looks only while it is visible. All must outlive it.
  FileWatch(QWidget& window, const SelectionState& state, const SessionController& session, MessageArea& messages, TraceStatus& status);

  void tellChanges();  // reports files that were written again since they were opened, once

 signals:
  void reloadWished();

 private:
  void showTrace(TraceChange change);
  void noteFiles();  // remembers their present state
  void tellProblems();

  QWidget& window_;
  const SelectionState& state_;
  const SessionController& session_;
  MessageArea& messages_;
  TraceStatus& status_;
  QTimer watching_;  // runs while files are shown
  std::vector<std::pair<std::filesystem::path, FileState>> opened_as_;
  QTimer reading_;             // runs while events are read on demand
  QString told_lack_;          // of this trace
  std::size_t told_problems_;  // of the process
};

}  // namespace lanescope::ui
