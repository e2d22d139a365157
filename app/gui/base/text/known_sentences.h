// Recognises sentences that our programs wrote into files in English by their words.
#pragma once

#include <span>
#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// Returns the text as a message whose parts that match a pattern can be translated. Names, parts that match no pattern, and texts that are longer than any of
// ours stay as they are. In a pattern, {count} and {byte} stand for numbers, other placeholders for any words; the words of {reason} may match a pattern, too.
// `between` separates the parts, which `join` puts together. O(words · patterns).
[[nodiscard]] Message known_parts(std::string_view text, std::span<const std::string_view> patterns, std::string_view between,
                                  Message (*join)(Message, Message));

}  // namespace lanescope::ui
