// What the command line wants to be shown of a trace.
#pragma once

#include <optional>

#include <QString>

#include "model/file/result.h"
#include "window/main_window.h"

namespace lanescope::ui {

struct OpeningView {
  std::optional<TimeRange> range;  // visible; none: everything
  QString panel;                   // in front of its tabs; empty: the first
};

// Shows it in a window whose trace is open. A kernel is selected for panels that are about one.
void show_view(MainWindow& window, const OpeningView& view);
// Fails with one sentence where nothing of the trace is in the range: all of it is shown then.
[[nodiscard]] Result<void> check_view(MainWindow& window, const OpeningView& view);

// Shows it once what the window begins to open is there, but not of what is opened later where that fails; the window says where nothing of the trace
// is in the range.
enum class Opening : std::uint8_t { kOneTrace, kTwoTraces };
void show_view_once_open(MainWindow& window, const OpeningView& view, Opening opening);

}  // namespace lanescope::ui
