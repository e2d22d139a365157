// What the command line asks to show of a trace.
#pragma once

#include <optional>

#include <QString>

#include "model/file/result.h"
#include "window/main_window.h"

namespace lanescope::ui {

struct OpeningView {
  std::optional<TimeRange> range;  // visible; nothing: the whole trace
  QString panel;                   // is raised among its tabs; empty: the first one
};

// Shows the view in a window whose trace is open. For panels about a kernel, a kernel is selected.
void show_view(MainWindow& window, const OpeningView& view);
// Fails with one sentence if nothing of the trace is in the range: the whole trace is shown then.
[[nodiscard]] Result<void> check_view(MainWindow& window, const OpeningView& view);

// Shows the view when the window has opened what it is opening. If that fails, files that are opened later are not affected. The window tells if nothing of the
// trace is in the range.
enum class Opening : std::uint8_t { kOneTrace, kTwoTraces };
void show_view_once_open(MainWindow& window, const OpeningView& view, Opening opening);

}  // namespace lanescope::ui
