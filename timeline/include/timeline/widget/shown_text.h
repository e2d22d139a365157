// Texts of the folders without Qt, as this process shows them.
#pragma once

#include <QString>

#include "model/text/message.h"

namespace lanescope {

// A text of ours in which names stand. Names of a script that runs from the right are isolated, as Unicode has it, so that the numbers, brackets and
// units beside them keep their places. A text that is such a name alone stays as it is, and so does every text where the interface itself runs
// from the right.
[[nodiscard]] QString isolated(const QString& text);

[[nodiscard]] inline QString shown_text(const Message& message) { return isolated(QString::fromStdString(message.in(shown_language()))); }
// Words of ours that stand by themselves, such as the title of a column.
[[nodiscard]] inline QString shown_text(std::string_view words) { return QString::fromStdString(shown_language().translate(words)); }
[[nodiscard]] inline QString shown_text(const char* words) { return shown_text(std::string_view(words)); }

// A menu's text as it is read elsewhere, without its mnemonic: "Zoom in" of "Zoom &in", and of texts to which one was added "缩放" of "缩放(&Z)".
[[nodiscard]] QString without_mnemonic(QString text);

}  // namespace lanescope
