// Which symbol contains an address.
#include "code_names/symbol_table.h"

#include <random>

#include "support/catch.h"

using namespace lanescope::code_names;

TEST_CASE("an address lies in the symbol that begins last of those that hold it, or behind a label") {
  using enum Symbol::Kind;
  const SymbolTable table({{100, 50, kFunction, 2, "outer"},
                           {110, 10, kFunction, 0, "inner"},
                           {110, 10, kFunction, 2, "inner's global name"},
                           {115, 285, kLabel, 0, "label inside"},
                           {160, 20, kLabel, 0, "assembly"},  // its section ends at 180
                           {200, 8, kFunction, 2, "last"}});
  const auto name_at = [&](std::uint64_t address) {
    const Symbol* symbol = table.find(address);
    return std::string(symbol == nullptr ? "" : symbol->name);
  };
  CHECK(name_at(99).empty());
  CHECK(name_at(100) == "outer");
  CHECK(name_at(110) == "inner's global name");
  CHECK(name_at(119) == "inner's global name");
  CHECK(name_at(120) == "outer");
  CHECK(name_at(150).empty());  // after the end of the function there is another, whose symbol was stripped
  CHECK(name_at(160) == "assembly");
  CHECK(name_at(179) == "assembly");
  CHECK(name_at(180).empty());
  CHECK(name_at(207) == "last");
  CHECK(name_at(208).empty());
  CHECK(SymbolTable().find(1) == nullptr);
}

TEST_CASE("symbols within symbols are found as by looking at all of them") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Symbol> symbols;
    for (int i = 0; i < 40; ++i) {
      const bool is_label = random() % 4 == 0;
      symbols.push_back({random() % 500, 1 + random() % 60, is_label ? Symbol::Kind::kLabel : Symbol::Kind::kFunction, 0, "x"});
    }
    const SymbolTable table(symbols);
    for (std::uint64_t address = 0; address < 600; ++address) {
      const Symbol* holder = nullptr;
      const Symbol* label = nullptr;
      std::uint64_t end = 0;  // the largest end of functions that start before the address
      for (const Symbol& symbol : symbols) {
        if (symbol.address > address) continue;
        const bool is_label = symbol.kind == Symbol::Kind::kLabel;
        const Symbol*& last = is_label ? label : holder;
        if ((is_label || address < symbol.address + symbol.size) && (last == nullptr || symbol.address >= last->address)) last = &symbol;
        if (!is_label) end = std::max(end, symbol.address + symbol.size);
      }
      const bool in_label = label != nullptr && label->address >= end && address < label->address + label->size;
      if (holder == nullptr && in_label) holder = label;
      const Symbol* found = table.find(address);
      REQUIRE((found != nullptr) == (holder != nullptr));
      if (found != nullptr) REQUIRE(found->address == holder->address);
    }
  }
}
