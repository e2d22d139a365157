// One packed column of an EventChunk while it grows.
#pragma once

#include <cstdint>

#include "agent/core/memory/page_buffer.h"
#include "agent/encode/proto_writer.h"

namespace lanescope::agent::encode {

enum class Presence {
  kAlways,      // one value for each event
  kIfAnySaysSo  // left out when all values are 0
};

// The common part: the bytes of the values, and whether any of them is not 0.
class Column {
 public:
  void write(ProtoWriter& out, std::uint32_t field, Presence presence = Presence::kAlways) const noexcept {
    if (presence == Presence::kAlways || says_something_) out.bytes_field(field, bytes_.bytes());
  }
  void clear() noexcept {
    bytes_.clear();
    says_something_ = false;
  }
  [[nodiscard]] bool failed() const noexcept { return bytes_.failed(); }

 protected:
  PageBuffer bytes_;
  bool says_something_ = false;
};

// Unsigned values, unchanged.
class ValueColumn : public Column {
 public:
  using Value = std::uint64_t;
  void add(std::uint64_t value) noexcept {
    says_something_ |= value != 0;
    bytes_.append_varint(value);
  }
};

// Signed differences from the previous value; the first one is relative to `base`.
class DeltaColumn : public Column {
 public:
  using Value = std::int64_t;
  void add(std::int64_t value) noexcept {
    says_something_ |= value != 0;
    bytes_.append_varint(zigzag(value - previous_));
    previous_ = value;
  }
  void clear(std::int64_t base = 0) noexcept {
    Column::clear();
    previous_ = base;
  }

 private:
  std::int64_t previous_ = 0;
};

// Eight bytes each, little-endian. For addresses, whose upper bits would make varints long.
class FixedColumn : public Column {
 public:
  using Value = std::uint64_t;
  void add(std::uint64_t value) noexcept {
    says_something_ |= value != 0;
    bytes_.append(&value, sizeof(value));
  }
};

}  // namespace lanescope::agent::encode
