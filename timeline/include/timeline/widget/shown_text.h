// Texts of the folders without Qt in the language of this process.
#pragma once

#include <QString>

#include "model/text/message.h"

namespace lanescope {

// For a text of Lanescope that contains names. Names in a right-to-left script are isolated, as Unicode defines it, so that the numbers, brackets and units
// beside them keep their places. A text that consists only of such a name is unchanged, and so is every text if the interface itself is right-to-left.
[[nodiscard]] QString isolated(const QString& text);

[[nodiscard]] inline QString shown_text(const Message& message) { return isolated(QString::fromStdString(message.in(shown_language()))); }
// Words of Lanescope that stand alone, for example the title of a column.
[[nodiscard]] inline QString shown_text(std::string_view words) { return QString::fromStdString(shown_language().translate(words)); }
[[nodiscard]] inline QString shown_text(const char* words) { return shown_text(std::string_view(words)); }

// The text of a menu entry without its mnemonic, for use elsewhere: "Zoom in" for "Zoom &in", and "缩放" for "缩放(&Z)", to which a mnemonic was added.
[[nodiscard]] QString without_mnemonic(QString text);

}  // namespace lanescope
