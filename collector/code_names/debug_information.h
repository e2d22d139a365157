// Functions, including inlined ones, and source lines of code, from the debug information of one file (DWARF, by libdw).
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_name.h"

namespace lanescope::code_names {

// Reads the functions of a compilation unit once, when an address in it is first asked for.
class DebugInformation {
 public:
  // Innermost first. A function may have no name here; its name is then in the symbol table. Empty if the file has no information about the address.
  std::vector<CodeName> functions_at(Dwfl_Module* file, std::uint64_t address);

 private:
  struct CodeRange {
    Dwarf_Addr begin, end;
    Dwarf_Off function;
  };
  struct Unit {
    explicit Unit(Dwarf_Die& root);
    void add_functions_within(Dwarf_Die& scope, const std::string& prefix, int depth);
    std::vector<CodeRange> ranges;                        // sorted by begin
    std::unordered_map<Dwarf_Off, std::string> prefixes;  // "a::B::", for functions in scopes without a linkage name, which would include it
  };

  Unit& unit_of(Dwarf_Die& root);
  std::string name_of(Dwarf_Die& function);

  std::map<Dwarf_Off, Unit> units_;
};

// The name as a programmer wrote it; `name` itself if it is not mangled.
[[nodiscard]] std::string demangled_name(const char* name);

}  // namespace lanescope::code_names
