// Writes JSON objects into a buffer that is passed to a consumer piece by piece. Internal to model/export.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/export/text_export.h"

namespace lanescope::exporters {

class JsonWriter {
 public:
  explicit JsonWriter(const TextConsumer& write) : write_(write) {}

  // Appends text unchanged.
  JsonWriter& raw(std::string_view text) {
    buffer_ += text;
    return *this;
  }
  JsonWriter& string(std::string_view text);  // quoted and escaped; broken UTF-8 is replaced
  JsonWriter& key(std::string_view name);     // with a comma in front if necessary
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& element();  // writes a comma if necessary

  template <std::integral Number>
  JsonWriter& field(std::string_view name, Number value) {
    key(name).buffer_ += std::to_string(value);
    return *this;
  }
  JsonWriter& field(std::string_view name, double value);
  JsonWriter& field(std::string_view name, std::string_view value) { return key(name).string(value); }
  JsonWriter& field(std::string_view name, const char* value) { return field(name, std::string_view(value)); }
  JsonWriter& field(std::string_view name, const std::uint32_t (&extent)[3]);
  // Writes ns as µs with three decimals, exactly.
  JsonWriter& microseconds(std::string_view name, std::int64_t nanoseconds);

  // The same for a point in time, relative to the origin, whose default is 0. Perfetto ignores events before 0.
  JsonWriter& timestamp(std::string_view name, std::int64_t nanoseconds) { return microseconds(name, nanoseconds - origin_); }
  void set_origin(std::int64_t nanoseconds) noexcept { origin_ = nanoseconds; }

  // Passes the buffer to the consumer if it is large. Returns false once the consumer has refused.
  bool flush_some() { return buffer_.size() < kPiece ? good_ : flush(); }
  bool flush();

 private:
  static constexpr std::size_t kPiece = 1u << 18;
  const TextConsumer& write_;
  std::string buffer_;
  std::int64_t origin_ = 0;  // ns
  bool first_ = true;        // no element of the innermost bracket has been written
  bool good_ = true;
};

}  // namespace lanescope::exporters
