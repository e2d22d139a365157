// Asks what becomes of a running recording when the user wants something else.
#pragma once

#include <QWidget>

#include "loading/live_recording.h"
#include "session/session_machine.h"

namespace lanescope::ui {

// If the recording is to be stopped, the answer about the program is stored in `recording`.
[[nodiscard]] session_event::Answer ask_about_recording(QWidget& window, const Wish& wish, LiveRecording& recording);

}  // namespace lanescope::ui
