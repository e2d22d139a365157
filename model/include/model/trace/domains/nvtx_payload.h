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
  std::string value;  // a string's text, or a number as it stands there
};

// The fields in their order; those before the first that makes no sense. Threads: any.
[[nodiscard]] std::vector<PayloadField> payload_fields(std::string_view json);

// The field of that name as a whole number; none where there is none.
[[nodiscard]] std::optional<std::int64_t> payload_integer(std::string_view json, std::string_view name);

// Whether it is data of which nobody knew the fields, so that all there is of it is the number of its schema, its size and its first bytes:
// what the fields are was said before the recording began, or never.
[[nodiscard]] bool has_unknown_fields(std::string_view json);

}  // namespace lanescope
