// Why a program cannot be recorded, in the language of the viewer.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// Recorders report problems in English, because commands and other programs show them, too. Their sentences are recognised by their words (known_sentences.h);
// names of files and programs, and the reasons that the system gives, stay as they are.
[[nodiscard]] Message problem_message(std::string_view text);

}  // namespace lanescope::ui
