// What a recording reports about itself, in the language of the viewer.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// DiagnosticMessage::text and the messages of a running recording are English, because files hold them. Sentences that agents and recorders make are recognised
// by their words (base/text/known_sentences.h); other texts, for example reasons that a library gives, stay as they are.
[[nodiscard]] Message diagnostic_message(std::string_view text);

}  // namespace lanescope::ui
