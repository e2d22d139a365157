// Protobuf messages in wire format: counts and reads their content before a message is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

// Reads a varint that begins at `at`. Returns null if it does not end before `end`.
[[nodiscard]] inline const char* read_varint(const char* at, const char* end, std::uint64_t& value) noexcept {
  constexpr unsigned kLongest = 10;  // bytes
  value = 0;
  for (unsigned shift = 0; at < end && shift < 7 * kLongest; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(*at++);
    value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7f) << shift : 0;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

// The number of varints in a packed column. O(bytes).
[[nodiscard]] std::size_t varints_in(std::string_view packed) noexcept;

// Appends a varint. Signed numbers are stored as zigzag.
inline void append_varint(std::uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
// Appends a field of bytes: a text, a message, or a packed column.
void append_field(std::uint32_t number, std::string_view content, std::string& bytes);
// Appends a field of one number.
void append_field(std::uint32_t number, std::uint64_t value, std::string& bytes);

// A field of a message in wire format.
struct WireField {
  static constexpr std::uint32_t kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5;
  std::uint32_t number = 0;
  std::uint32_t type = kVarint;
  std::uint64_t value = 0;  // of a varint
  std::string_view bytes;   // of other types: the bytes behind the tag, and behind the length if there is one
  std::string_view whole;   // with the tag
};

// Walks through the fields of a message.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  // Returns nothing at the end, and if the next bytes are no valid field: then sound() is false.
  [[nodiscard]] std::optional<WireField> next();
  // Skips varint fields for which `may_pass(number)` is true, as long as their tags have one byte. For many short messages, next() would take more time than
  // everything else. The following bytes, sound or not, are left for next().
  template <typename MayPass>
  void pass_numbers(MayPass may_pass) {
    constexpr std::size_t kLongest = 10;  // bytes of a number
    const char* at = rest_.data();
    const char* const end = at + rest_.size();
    while (at < end) {
      const auto tag = static_cast<std::uint8_t>(*at);
      if (tag >= 0x80 || tag >> 3 == 0 || (tag & 7) != WireField::kVarint || !may_pass(std::uint32_t{tag} >> 3)) break;
      const char* value = at + 1;
      while (value < end && static_cast<std::uint8_t>(*value) >= 0x80) ++value;
      if (value == end || static_cast<std::size_t>(value - at) > kLongest) break;
      at = value + 1;
    }
    rest_.remove_prefix(static_cast<std::size_t>(at - rest_.data()));
  }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool sound() const noexcept { return sound_; }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

}  // namespace lanescope
