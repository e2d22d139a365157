// Writes protobuf messages (the wire format, proto3) without libprotobuf, which must not enter a target: it could conflict with the target's own.
//
// Field numbers are those of proto/lanescope/trace.proto. Fields with their default value are left out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/core/memory/page_buffer.h"

namespace lanescope::agent::encode {

constexpr std::uint64_t zigzag(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63); }

class ProtoWriter {
 public:
  explicit ProtoWriter(PageBuffer& out) noexcept : out_(out) {}

  void unsigned_field(std::uint32_t field, std::uint64_t value) noexcept {
    if (value == 0) return;
    out_.append_varint(std::uint64_t{field} << 3);
    out_.append_varint(value);
  }
  // sint32, sint64.
  void signed_field(std::uint32_t field, std::int64_t value) noexcept { unsigned_field(field, zigzag(value)); }
  // int32: negative values take ten bytes.
  void int32_field(std::uint32_t field, std::int32_t value) noexcept { unsigned_field(field, static_cast<std::uint64_t>(std::int64_t{value})); }
  // fixed64.
  void fixed64_field(std::uint32_t field, std::uint64_t value) noexcept {
    if (value == 0) return;
    out_.append_varint(std::uint64_t{field} << 3 | 1);
    out_.append(&value, sizeof(value));
  }
  // string, bytes, a packed column or a message.
  void bytes_field(std::uint32_t field, std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) element(field, bytes);
  }
  void text_field(std::uint32_t field, std::string_view text) noexcept { bytes_field(field, std::as_bytes(std::span(text))); }
  // One element of a repeated field; it may be empty.
  void element(std::uint32_t field, std::span<const std::byte> bytes) noexcept {
    out_.append_varint(std::uint64_t{field} << 3 | 2);
    out_.append_varint(bytes.size());
    if (!bytes.empty()) out_.append(bytes.data(), bytes.size());
  }
  void element(std::uint32_t field, std::string_view text) noexcept { element(field, std::as_bytes(std::span(text))); }

 private:
  PageBuffer& out_;
};

}  // namespace lanescope::agent::encode
