#include "file_names.h"

#include <elfutils/libdwfl.h>
#include <unistd.h>

namespace lanescope::code_names {
namespace {

// Bytes from a place to the end of its section; 0 if the place is not in the section.
std::uint64_t size_to_section_end(Elf* elf, std::size_t section, std::uint64_t place) {
  GElf_Shdr header;
  if (gelf_getshdr(elf_getscn(elf, section), &header) == nullptr || place - header.sh_addr >= header.sh_size) return 0;
  return header.sh_addr + header.sh_size - place;
}

// libdw looks up an address by scanning all symbols, and large libraries have a million of them.
SymbolTable functions_of(Dwfl_Module* file) {
  std::vector<Symbol> symbols;
  const int count = dwfl_module_getsymtab(file);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    const char* name = dwfl_module_getsym_info(file, i, &symbol, &address, &section, &elf, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool may_be_code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (name == nullptr || *name == '\0' || !may_be_code || section == SHN_UNDEF || section == SHN_ABS) continue;
    // STB_LOCAL, STB_GLOBAL and STB_WEAK are 0, 1 and 2. If two names fit, the global one is preferred because programmers know it.
    const int binding = GELF_ST_BIND(symbol.st_info);
    const int rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
    if (symbol.st_size > 0)
      symbols.push_back({address, symbol.st_size, Symbol::Kind::kFunction, rank, name});
    else
      symbols.push_back({address, size_to_section_end(elf, section, symbol.st_value), Symbol::Kind::kLabel, rank, name});
  }
  return SymbolTable(std::move(symbols));
}

}  // namespace

FileNames::FileNames(const std::string& path, channel::FileDescriptor content, std::string& debug_folders)
    : debug_path_(debug_folders.data()),
      callbacks_{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address, &debug_path_},
      dwfl_(dwfl_begin(&callbacks_)) {
  if (dwfl_ == nullptr) return;
  // dwfl takes ownership of the descriptor that it gets.
  module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), dup(content.get()), 0, true);
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

FileNames::~FileNames() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

std::vector<CodeName> FileNames::find(std::uint64_t address) {
  if (module_ == nullptr) return {};
  std::vector<CodeName> functions = debug_information_.functions_at(module_, address);
  const bool complete = !functions.empty() && !functions.back().function.empty();
  if (!complete) {
    if (!functions_) functions_ = functions_of(module_);
    if (const Symbol* symbol = functions_->find(address)) {
      if (functions.empty()) functions.emplace_back();
      functions.back().function = demangled_name(symbol->name);
    }
  }
  std::erase_if(functions, [](const CodeName& function) { return function.function.empty(); });
  return functions;
}

}  // namespace lanescope::code_names
