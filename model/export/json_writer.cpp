#include "json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/trace/text/utf8.h"

namespace lanescope::exporters {
namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '"' && c != '\\'; }

// True if JSON needs no escapes for the text. There is no branch for each character, so that compilers can vectorize the loop.
bool is_plain(std::string_view text) {
  constexpr std::size_t kBlock = 64;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    unsigned char others = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      others |= static_cast<unsigned char>(c < 0x20) | static_cast<unsigned char>(c >= 0x7f) | static_cast<unsigned char>(c == '"') |
                static_cast<unsigned char>(c == '\\');
    }
    if (others != 0) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
}

}  // namespace

JsonWriter& JsonWriter::string(std::string_view text) {
  buffer_ += '"';
  if (is_plain(text)) {
    buffer_ += text;
  } else {
    for (const char c : valid_utf8(text)) {
      if (c == '"' || c == '\\') {
        buffer_ += '\\';
        buffer_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        buffer_ += "\\u00";
        buffer_ += kDigits[static_cast<unsigned char>(c) >> 4];
        buffer_ += kDigits[c & 15];
      } else {
        buffer_ += c;
      }
    }
  }
  buffer_ += '"';
  return *this;
}

JsonWriter& JsonWriter::element() {
  if (!first_) buffer_ += ',';
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  element();
  buffer_ += '"';
  buffer_ += name;
  buffer_ += "\":";
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  buffer_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  buffer_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::field(std::string_view name, double value) {
  std::array<char, 32> digits{};
  const double finite = std::isfinite(value) ? value : 0;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), finite).ptr;
  key(name).buffer_.append(digits.data(), end);
  return *this;
}

JsonWriter& JsonWriter::field(std::string_view name, const std::uint32_t (&extent)[3]) {
  key(name).buffer_ += '[';
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis > 0) buffer_ += ',';
    buffer_ += std::to_string(extent[axis]);
  }
  buffer_ += ']';
  return *this;
}

JsonWriter& JsonWriter::microseconds(std::string_view name, std::int64_t nanoseconds) {
  key(name);
  if (nanoseconds < 0) buffer_ += '-';
  const std::uint64_t magnitude = nanoseconds < 0 ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  buffer_ += std::to_string(magnitude / 1000);
  const std::string fraction = std::to_string(1000 + magnitude % 1000);
  buffer_ += '.';
  buffer_.append(fraction, 1, 3);
  return *this;
}

bool JsonWriter::flush() {
  if (good_ && !buffer_.empty()) good_ = write_(buffer_);
  buffer_.clear();
  return good_;
}

}  // namespace lanescope::exporters
