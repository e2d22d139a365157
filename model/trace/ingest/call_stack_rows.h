// CallStacks of the schema, decoded from the wire without protobuf's own containers, into columns like those of events (packed.h): recordings with
// samples have hundreds of thousands of calls, each of which would be an object of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lanescope {

struct CallStackRows {
  struct Location {
    std::uint32_t kind = 0;
    std::uint32_t module = 0;
    std::uint64_t address = 0;
    std::uint32_t build_id = 0;
    std::uint32_t function = 0;
    std::uint32_t source_file = 0;
    std::uint32_t source_line = 0;
  };
  struct Function {
    std::uint32_t function = 0;
    std::uint32_t source_file = 0;
    std::uint32_t source_line = 0;
  };
  struct Symbol {
    std::uint32_t location = 0;
    std::vector<Function> functions;
  };
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t location = 0;
  };

  std::uint32_t first_location = 0;
  std::vector<Location> locations;
  std::vector<Symbol> symbols;
  std::uint32_t first_node = 0;
  std::vector<Node> nodes;

  // Returns false if the bytes are no such message. Appends to the existing rows, and skips fields that it does not know. O(bytes).
  [[nodiscard]] bool parse(std::string_view bytes);
};

}  // namespace lanescope
