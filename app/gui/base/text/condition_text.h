// What a trace lacks, in the language of the viewer.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// Provenance::condition and completeness_text() are stored in English, also in files. Sentences that our readers and writers make are recognised by their
// words. Other sentences stay as they are, and so do texts that are longer than all of ours.
[[nodiscard]] Message condition_message(std::string_view sentences);
[[nodiscard]] Message completeness_message(std::string_view text);

}  // namespace lanescope::ui
