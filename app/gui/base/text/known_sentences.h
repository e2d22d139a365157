// Sentences that our programs wrote into files in English, known again by their words.
#pragma once

#include <span>
#include <string_view>

#include "model/text/message.h"

namespace lanescope::ui {

// The text as a message of which those parts can be translated that one of the patterns makes; names, and what others wrote, stand between these
// as they are, and so does a text that is longer than any of ours. In a pattern {count} and {byte} stand for numbers, other places for any words.
// `between` stands between parts, which `join` puts together. O(words · patterns).
[[nodiscard]] Message known_parts(std::string_view text, std::span<const std::string_view> patterns, std::string_view between,
                                  Message (*join)(Message, Message));

}  // namespace lanescope::ui
