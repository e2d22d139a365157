// Texts of the folders without Qt, as this process shows them.
#pragma once

#include <QString>

#include "model/text/message.h"

namespace lanescope {

[[nodiscard]] inline QString shown_text(const Message& message) { return QString::fromStdString(message.in(shown_language())); }
// Words of ours that stand by themselves, such as the title of a column.
[[nodiscard]] inline QString shown_text(std::string_view words) { return QString::fromStdString(shown_language().translate(words)); }
[[nodiscard]] inline QString shown_text(const char* words) { return shown_text(std::string_view(words)); }

}  // namespace lanescope
