// Structured payloads of NVTX events as text: the names from their schemas, and the values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/channel/layout.h"

namespace lanescope::session {

class PayloadSchemas {
 public:
  // Takes kPayloadField and kPayloadEnumerator records; others are ignored.
  void add(const channel::Record& record, std::string_view text);

  [[nodiscard]] bool knows(std::uint64_t schema) const;

  // A JSON object: {"Message size [bytes]":4096,"Reduction operation":"Sum"}. A value without a known name is named by the number of its field. `values` is
  // untrusted: the object ends at the first invalid value.
  [[nodiscard]] std::string json(std::uint64_t schema, std::string_view values) const;

 private:
  struct Field {
    std::string name;
    std::uint64_t enumeration = 0;  // 0: none
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Field> fields_;             // by schema and position
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> enumerators_;  // by enumeration and value
};

}  // namespace lanescope::session
