// Text that a target passes: bounded, and as UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

#include "collector/channel/layout.h"

namespace lanescope::agent {

// The message of a C string (null allowed), cut to the length that a record can hold.
std::string_view bounded_text(const char* message) noexcept;

// Room for one wide message as UTF-8.
struct TextBuffer {
  char bytes[channel::kMaximumTextBytes];
};

// The message of a wide string (UTF-32 on Linux; null allowed), as UTF-8 in `buffer`, cut at a character if it does not fit. Invalid characters become U+FFFD.
std::string_view utf8_text(const wchar_t* message, TextBuffer& buffer) noexcept;

}  // namespace lanescope::agent
