// Structured payloads of NVTX events, which a trace keeps as JSON objects of numbers and strings: {"Message size [bytes]":4096}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

struct PayloadField {
  std::string name;
  std::string value;  // a string's text, or a number as it is in the JSON
};

// The fields in their order, up to the first one that makes no sense. Threads: any.
[[nodiscard]] std::vector<PayloadField> payload_fields(std::string_view json);

// The field of that name as a whole number; nothing if there is no such field.
[[nodiscard]] std::optional<std::int64_t> payload_integer(std::string_view json, std::string_view name);

// True if the payload is data whose fields nobody knew, so that only the number of its schema, its size and its first bytes are known. Its fields were
// described before the recording started, or never.
[[nodiscard]] bool has_unknown_fields(std::string_view json);

}  // namespace lanescope
