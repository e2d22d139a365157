#include "thrift_writer.h"

#include <utility>

namespace lanescope::exporters {
namespace {

constexpr std::uint8_t kTrue = 1, kFalse = 2, kByte = 3, kText = 8, kList = 9, kStruct = 12;

}  // namespace

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void ThriftWriter::field(int id, std::uint8_t type) {
  if (const int step = id - last_id_; step > 0 && step < 16) {
    bytes_.push_back(static_cast<char>(step << 4 | type));
  } else {
    bytes_.push_back(static_cast<char>(type));
    append_varint(bytes_, zigzag(id));
  }
  last_id_ = id;
}

ThriftWriter& ThriftWriter::number(int id, std::uint8_t type, std::int64_t value) {
  field(id, type);
  append_varint(bytes_, zigzag(value));
  return *this;
}

ThriftWriter& ThriftWriter::byte(int id, std::int8_t value) {
  field(id, kByte);
  bytes_.push_back(static_cast<char>(value));
  return *this;
}

ThriftWriter& ThriftWriter::boolean(int id, bool value) {
  field(id, value ? kTrue : kFalse);
  return *this;
}

ThriftWriter& ThriftWriter::text(int id, std::string_view value) {
  field(id, kText);
  return element(value);
}

ThriftWriter& ThriftWriter::open_struct(int id) {
  field(id, kStruct);
  return open_element();
}

ThriftWriter& ThriftWriter::close_struct() {
  bytes_.push_back(0);
  last_id_ = outer_ids_.back();
  outer_ids_.pop_back();
  return *this;
}

ThriftWriter& ThriftWriter::open_list(int id, Element element, std::size_t size) {
  field(id, kList);
  const auto type = static_cast<std::uint8_t>(element);
  if (size < 15) {
    bytes_.push_back(static_cast<char>(size << 4 | type));
  } else {
    bytes_.push_back(static_cast<char>(0xf0 | type));
    append_varint(bytes_, size);
  }
  return *this;
}

ThriftWriter& ThriftWriter::element(std::int32_t value) {
  append_varint(bytes_, zigzag(value));
  return *this;
}

ThriftWriter& ThriftWriter::element(std::string_view value) {
  append_varint(bytes_, value.size());
  bytes_.append(value);
  return *this;
}

ThriftWriter& ThriftWriter::open_element() {
  outer_ids_.push_back(last_id_);
  last_id_ = 0;
  return *this;
}

std::string ThriftWriter::finish() {
  bytes_.push_back(0);
  last_id_ = 0;
  return std::exchange(bytes_, {});
}

}  // namespace lanescope::exporters
