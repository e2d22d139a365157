// The name of a place in code.
#pragma once

#include <cstdint>
#include <string>

namespace lanescope::code_names {

struct CodeName {
  std::string function;     // demangled
  std::string source_file;  // empty if not known
  std::uint32_t source_line = 0;
};

}  // namespace lanescope::code_names
