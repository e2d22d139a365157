// What a trace lacks, in the language that is shown.
#pragma once

#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// Provenance::condition and completeness_text() are English wherever they are kept: files hold them, too. Each sentence that one of our readers and
// writers makes is known by its words; what none of them makes stays as it is, and so does what is longer than all that they make.
[[nodiscard]] Message condition_message(std::string_view sentences);
[[nodiscard]] Message completeness_message(std::string_view text);

}  // namespace lanescope::ui
