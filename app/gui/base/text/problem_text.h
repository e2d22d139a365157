// Why a program can't be recorded, in the language that is shown.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// Recorders say it in English, whom commands and other programs read, too. Their sentences are known by their words (known_sentences.h); names of files and
// programs, and the reasons that the system gives, stay as they are.
[[nodiscard]] Message problem_message(std::string_view text);

}  // namespace lanescope::ui
