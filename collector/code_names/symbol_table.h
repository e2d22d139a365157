// Symbols of one file, sorted by address, to find the function of an address.
#pragma once

#include <cstdint>
#include <vector>

namespace lanescope::code_names {

struct Symbol {
  std::uint64_t address;
  std::uint64_t size;  // for a label (in assembly code, for example), which has no size: up to the end of its section
  enum class Kind : std::uint8_t { kFunction, kLabel } kind;
  int binding;       // of two symbols at one address, the one with the greater value is used
  const char* name;  // in the file's string table
};

class SymbolTable {
 public:
  SymbolTable() = default;
  explicit SymbolTable(std::vector<Symbol> symbols);

  // Of the symbols with a size that contain the address, the one that begins last. If there is none: the last label before the address, unless a
  // symbol with a size ends between them. Null if nothing is known. O(log n + number of symbols nested there).
  [[nodiscard]] const Symbol* find(std::uint64_t address) const noexcept;

 private:
  std::vector<Symbol> functions_;    // by address, then binding
  std::vector<std::uint64_t> ends_;  // the greatest end of the functions up to each one
  std::vector<Symbol> labels_;       // sorted likewise
};

}  // namespace lanescope::code_names
