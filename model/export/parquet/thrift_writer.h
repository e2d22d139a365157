// Writes structures in Thrift's compact protocol, the format of Parquet's headers and footer
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Internal to model/export.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::exporters {

// Appends `value` in groups of 7 bits, the lowest first.
void append_varint(std::string& bytes, std::uint64_t value);
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

// Fields of a structure are written in ascending order of their ids. Each open_struct() needs a close_struct().
class ThriftWriter {
 public:
  enum class Element : std::uint8_t { kInt32 = 5, kText = 8, kStruct = 12 };

  ThriftWriter& integer16(int id, std::int16_t value) { return number(id, 4, value); }
  ThriftWriter& integer32(int id, std::int32_t value) { return number(id, 5, value); }
  ThriftWriter& integer64(int id, std::int64_t value) { return number(id, 6, value); }
  ThriftWriter& byte(int id, std::int8_t value);
  ThriftWriter& boolean(int id, bool value);
  ThriftWriter& text(int id, std::string_view value);
  ThriftWriter& open_struct(int id);
  ThriftWriter& close_struct();

  // The next calls write the elements, by the functions below; structures among them are opened without an id.
  ThriftWriter& open_list(int id, Element element, std::size_t size);
  ThriftWriter& element(std::int32_t value);
  ThriftWriter& element(std::string_view value);
  ThriftWriter& open_element();

  // Returns the bytes so far with the end of the outermost structure, and empties the writer.
  [[nodiscard]] std::string finish();

 private:
  ThriftWriter& number(int id, std::uint8_t type, std::int64_t value);
  void field(int id, std::uint8_t type);

  std::string bytes_;
  int last_id_ = 0;
  std::vector<int> outer_ids_;
};

}  // namespace lanescope::exporters
