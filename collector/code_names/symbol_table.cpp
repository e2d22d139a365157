#include "symbol_table.h"

#include <algorithm>
#include <tuple>

namespace lanescope::code_names {
namespace {

void sort(std::vector<Symbol>& symbols) {
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const Symbol& a, const Symbol& b) { return std::tie(a.address, a.binding) < std::tie(b.address, b.binding); });
}

// Number of symbols that begin at or before the address.
std::size_t count_until(const std::vector<Symbol>& symbols, std::uint64_t address) noexcept {
  const auto behind = std::upper_bound(symbols.begin(), symbols.end(), address, [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  return static_cast<std::size_t>(behind - symbols.begin());
}

}  // namespace

SymbolTable::SymbolTable(std::vector<Symbol> symbols) : functions_(std::move(symbols)) {
  const auto first_label =
      std::stable_partition(functions_.begin(), functions_.end(), [](const Symbol& symbol) { return symbol.kind == Symbol::Kind::kFunction; });
  labels_.assign(first_label, functions_.end());
  functions_.erase(first_label, functions_.end());
  sort(functions_);
  sort(labels_);
  ends_.reserve(functions_.size());
  std::uint64_t end = 0;
  for (const Symbol& symbol : functions_) ends_.push_back(end = std::max(end, symbol.address + symbol.size));
}

const Symbol* SymbolTable::find(std::uint64_t address) const noexcept {
  const std::size_t begun = count_until(functions_, address);
  for (std::size_t i = begun; i > 0 && ends_[i - 1] > address; --i)
    if (address - functions_[i - 1].address < functions_[i - 1].size) return &functions_[i - 1];
  const std::size_t labels = count_until(labels_, address);
  if (labels == 0) return nullptr;
  const Symbol& label = labels_[labels - 1];
  const bool nothing_between = begun == 0 || label.address >= ends_[begun - 1];
  return nothing_between && address - label.address < label.size ? &label : nullptr;
}

}  // namespace lanescope::code_names
