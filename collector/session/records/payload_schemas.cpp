#include "records/payload_schemas.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace lanescope::session {
namespace {

using channel::PayloadValue;

constexpr std::size_t kMaximumEntries = 1u << 16;  // more than any program registers

void append_string(std::string& json, std::string_view text) {
  json += '"';
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      json += '\\';
      json += character;
    } else if (byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      json.append("\\u00").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      json += character;
    }
  }
  json += '"';
}

template <typename Number>
void append_number(std::string& json, Number number) {
  char digits[32];
  json.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

}  // namespace

void PayloadSchemas::add(const channel::Record& record, std::string_view text) {
  if (record.type == channel::RecordType::kPayloadField && fields_.size() < kMaximumEntries)
    fields_[{record.id, record.category}] = {std::string(text), record.payload};
  if (record.type == channel::RecordType::kPayloadEnumerator && enumerators_.size() < kMaximumEntries) enumerators_[{record.id, record.payload}] = text;
}

bool PayloadSchemas::knows(std::uint64_t schema) const {
  const auto first = fields_.lower_bound({schema, 0});
  return first != fields_.end() && first->first.first == schema;
}

std::string PayloadSchemas::json(std::uint64_t schema, std::string_view values) const {
  std::string json = "{";
  for (std::uint32_t position = 0; values.size() >= sizeof(PayloadValue); ++position) {
    PayloadValue header;
    std::memcpy(&header, values.data(), sizeof(header));
    values.remove_prefix(sizeof(header));
    if (header.bytes > values.size()) break;
    const std::string_view bytes = values.substr(0, header.bytes);
    values.remove_prefix(header.bytes);
    std::uint64_t bits = 0;
    const bool is_number = header.kind == PayloadValue::kUnsigned || header.kind == PayloadValue::kSigned || header.kind == PayloadValue::kReal;
    if (is_number && bytes.size() == sizeof(bits)) std::memcpy(&bits, bytes.data(), sizeof(bits));
    if ((is_number && bytes.size() != sizeof(bits)) || (!is_number && header.kind != PayloadValue::kText)) continue;
    const auto found = fields_.find({schema, position});
    if (json.size() > 1) json += ',';
    append_string(json, found == fields_.end() ? std::to_string(position) : found->second.name);
    json += ':';
    if (header.kind == PayloadValue::kText) {
      append_string(json, bytes);
      continue;
    }
    const auto called = found == fields_.end() ? enumerators_.end() : enumerators_.find({found->second.enumeration, bits});
    if (called != enumerators_.end()) {
      append_string(json, called->second);
    } else if (header.kind == PayloadValue::kUnsigned) {
      append_number(json, bits);
    } else if (header.kind == PayloadValue::kSigned) {
      append_number(json, static_cast<std::int64_t>(bits));
    } else if (const double real = std::bit_cast<double>(bits); std::isfinite(real)) {
      append_number(json, real);
    } else {
      json += "null";
    }
  }
  return json += '}';
}

}  // namespace lanescope::session
