#include "model/file/wire.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace lanescope {

std::size_t varints_in(std::string_view packed) noexcept {
  // Many bytes at once. The highest bit of a byte says that another byte of its number follows: as a signed number, the byte is below 0.
  using Bytes = std::int8_t __attribute__((vector_size(16)));
  constexpr std::size_t kMostAdded = 127;  // that a sum of one byte holds
  const std::size_t size = packed.size();
  std::size_t followed = 0;
  while (packed.size() >= sizeof(Bytes)) {
    const std::size_t count = std::min(kMostAdded, packed.size() / sizeof(Bytes));
    Bytes sums{};
    for (std::size_t i = 0; i < count; ++i) {
      Bytes bytes;
      std::memcpy(&bytes, packed.data() + i * sizeof(bytes), sizeof(bytes));
      sums -= bytes < 0;  // which is -1 where it holds
    }
    for (std::size_t i = 0; i < sizeof(Bytes); ++i) followed += static_cast<std::size_t>(sums[i]);
    packed.remove_prefix(count * sizeof(Bytes));
  }
  for (const char byte : packed) followed += static_cast<std::uint8_t>(byte) >> 7;
  return size - followed;
}

void append_field(std::uint32_t number, std::string_view content, std::string& bytes) {
  append_varint(number << 3 | WireField::kBytes, bytes);
  append_varint(content.size(), bytes);
  bytes += content;
}

void append_field(std::uint32_t number, std::uint64_t value, std::string& bytes) {
  append_varint(number << 3 | WireField::kVarint, bytes);
  append_varint(value, bytes);
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty()) return std::nullopt;
  const char* const end = rest_.data() + rest_.size();
  WireField field;
  std::uint64_t tag = 0;
  const char* at = read_varint(rest_.data(), end, tag);
  sound_ = false;
  if (at == nullptr || tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3 == 0) return std::nullopt;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<std::uint32_t>(tag & 7);
  std::uint64_t length = 0;
  switch (field.type) {
    case WireField::kVarint:
      at = read_varint(at, end, field.value);
      if (at == nullptr) return std::nullopt;
      break;
    case WireField::kBytes:
      at = read_varint(at, end, length);
      if (at == nullptr) return std::nullopt;
      break;
    case WireField::kEightBytes:
      length = 8;
      break;
    case WireField::kFourBytes:
      length = 4;
      break;
    default:
      return std::nullopt;
  }
  if (length > static_cast<std::uint64_t>(end - at)) return std::nullopt;
  field.bytes = {at, static_cast<std::size_t>(length)};
  at += length;
  field.whole = rest_.substr(0, static_cast<std::size_t>(at - rest_.data()));
  rest_.remove_prefix(field.whole.size());
  sound_ = true;
  return field;
}

}  // namespace lanescope
