// What a recording says of itself, in the language that is shown.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// DiagnosticMessage::text, and what a recording that runs says, are English: files hold them. Sentences that agents and recorders make are known by
// their words (base/known_sentences.h); what comes from elsewhere, such as the reasons that a library gives, stays as it is.
[[nodiscard]] Message diagnostic_message(std::string_view text);

}  // namespace lanescope::ui
