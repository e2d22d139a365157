// Functions, inlined ones too, and source lines of code, from the debug information of one file (DWARF, by libdw).
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_name.h"

namespace lanescope::code_names {

// Reads the functions of a compilation unit once, when the first of its addresses is asked for.
class DebugInformation {
 public:
  // Innermost first; a function may lack its name, which is then in the symbol table. Empty where the file says nothing of the address.
  std::vector<CodeName> functions_at(Dwfl_Module* file, std::uint64_t address);

 private:
  struct CodeRange {
    Dwarf_Addr begin, end;
    Dwarf_Off function;
  };
  struct Unit {
    explicit Unit(Dwarf_Die& root);
    void add_functions_within(Dwarf_Die& scope, const std::string& prefix, int depth);
    std::vector<CodeRange> ranges;                        // by begin
    std::unordered_map<Dwarf_Off, std::string> prefixes;  // "a::B::", of functions in scopes that have no linkage name which says so
  };

  Unit& unit_of(Dwarf_Die& root);
  std::string name_of(Dwarf_Die& function);

  std::map<Dwarf_Off, Unit> units_;
};

// As a programmer wrote it; the name itself where it is not a mangled one.
[[nodiscard]] std::string demangled_name(const char* name);

}  // namespace lanescope::code_names
