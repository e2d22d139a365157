#include "agent/core/text.h"

#include <cstdint>
#include <cstring>

#include "collector/channel/ring.h"

namespace lanescope::agent {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;
constexpr std::size_t kLongestCharacter = 4;

std::size_t encode(std::uint32_t character, char* out) noexcept {
  if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) character = kReplacement;
  const auto put = [&](std::size_t i, std::uint32_t bits) { out[i] = static_cast<char>(bits); };
  if (character < 0x80) {
    put(0, character);
    return 1;
  }
  if (character < 0x800) {
    put(0, 0xc0 | character >> 6);
    put(1, 0x80 | (character & 0x3f));
    return 2;
  }
  if (character < 0x10000) {
    put(0, 0xe0 | character >> 12);
    put(1, 0x80 | (character >> 6 & 0x3f));
    put(2, 0x80 | (character & 0x3f));
    return 3;
  }
  put(0, 0xf0 | character >> 18);
  put(1, 0x80 | (character >> 12 & 0x3f));
  put(2, 0x80 | (character >> 6 & 0x3f));
  put(3, 0x80 | (character & 0x3f));
  return 4;
}

}  // namespace

std::string_view bounded_text(const char* message) noexcept {
  if (message == nullptr) return {};
  // One byte more than fits, so that a cut within a character is noticed.
  const std::string_view text(message, strnlen(message, channel::kMaximumTextBytes + 1));
  return text.substr(0, channel::cut_at_character(text, channel::kMaximumTextBytes));
}

std::string_view utf8_text(const wchar_t* message, TextBuffer& buffer) noexcept {
  static_assert(sizeof(wchar_t) == 4);
  if (message == nullptr) return {};
  std::size_t size = 0;
  for (; *message != 0; ++message) {
    char character[kLongestCharacter];
    const std::size_t bytes = encode(static_cast<std::uint32_t>(*message), character);
    if (size + bytes > sizeof(buffer.bytes)) break;
    std::memcpy(buffer.bytes + size, character, bytes);
    size += bytes;
  }
  return {buffer.bytes, size};
}

}  // namespace lanescope::agent
