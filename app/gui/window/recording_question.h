// Asks what becomes of a recording that runs when something else is wished for.
#pragma once

#include <QWidget>

#include "loading/live_recording.h"
#include "session/session_machine.h"

namespace lanescope::ui {

// What becomes of the program is noted in the recording, where it is stopped.
[[nodiscard]] session_event::Answer ask_about_recording(QWidget& window, const Wish& wish, LiveRecording& recording);

}  // namespace lanescope::ui
