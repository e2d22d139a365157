// Symbols of one file by address: which function an address lies in.
#pragma once

#include <cstdint>
#include <vector>

namespace lanescope::code_names {

struct Symbol {
  std::uint64_t address;
  std::uint64_t size;  // of a label (of assembly code, say), whose size is not known: to the end of its section
  enum class Kind : std::uint8_t { kFunction, kLabel } kind;
  int binding;       // of two at one address, that with the greater one is named
  const char* name;  // of the file's string table
};

class SymbolTable {
 public:
  SymbolTable() = default;
  explicit SymbolTable(std::vector<Symbol> symbols);

  // Of the symbols with a size that hold the address, that which begins last. Where there is none: the last label before the address,
  // unless a symbol with a size ends between them. Null where nothing is known. O(log n) and the symbols that lie within each other there.
  [[nodiscard]] const Symbol* find(std::uint64_t address) const noexcept;

 private:
  std::vector<Symbol> functions_;    // by address, then binding
  std::vector<std::uint64_t> ends_;  // the greatest end of the functions up to each
  std::vector<Symbol> labels_;       // likewise
};

}  // namespace lanescope::code_names
