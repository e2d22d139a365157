// Names of code by libdw (elfutils).
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "code_names.h"
#include "debug_information.h"
#include "own_vdso.h"
#include "symbol_table.h"

namespace lanescope::cpu {
namespace {

// From a place in a section, in bytes; 0 where there is no such section.
std::uint64_t size_to_section_end(Elf* elf, std::size_t section, std::uint64_t place) {
  GElf_Shdr header;
  if (gelf_getshdr(elf_getscn(elf, section), &header) == nullptr || place - header.sh_addr >= header.sh_size) return 0;
  return header.sh_addr + header.sh_size - place;
}

// libdw itself looks an address up by going through all symbols, of which large libraries have a million.
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
    // STB_LOCAL, STB_GLOBAL, STB_WEAK are 0, 1, 2: of two names the global one is what programmers know.
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

struct CodeNames::Files {
  struct File {
    Dwfl* dwfl = nullptr;
    Dwfl_Module* module = nullptr;
    DebugInformation debug_information;
    std::optional<SymbolTable> functions;                  // as soon as debug information does not name one
    std::map<std::uint64_t, std::vector<CodeName>> known;  // by address
  };
  std::map<const Module*, File> files;
  std::string debug_folders;
  char* debug_path = nullptr;
  Dwfl_Callbacks callbacks{};

  File& open(const Module& module) {
    const auto [found, inserted] = files.try_emplace(&module);
    File& file = found->second;
    if (!inserted) return file;
    const FileDescriptor vdso = module.path == "[vdso]" ? own_vdso() : FileDescriptor();
    if (module.readable.empty() && !vdso.valid()) return file;
    file.dwfl = dwfl_begin(&callbacks);
    if (file.dwfl == nullptr) return file;
    // dwfl takes a descriptor of its own over.
    file.module = dwfl_report_elf(file.dwfl, module.path.c_str(), vdso.valid() ? "" : module.readable.c_str(),
                                  vdso.valid() ? dup(vdso.get()) : -1, 0, true);
    dwfl_report_end(file.dwfl, nullptr, nullptr);
    return file;
  }
};

CodeNames::CodeNames(const std::string& debug_folders) : files_(std::make_unique<Files>()) {
  files_->debug_folders = ":.debug:/usr/lib/debug" + (debug_folders.empty() ? "" : ":" + debug_folders);
  files_->debug_path = files_->debug_folders.data();
  files_->callbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address, &files_->debug_path};
}

CodeNames::~CodeNames() {
  for (auto& [module, file] : files_->files)
    if (file.dwfl != nullptr) dwfl_end(file.dwfl);
}

std::vector<CodeName> CodeNames::find(const Module& module, std::uint64_t address) {
  Files::File& file = files_->open(module);
  if (file.module == nullptr) return {};
  const auto [known, inserted] = file.known.try_emplace(address);
  if (!inserted) return known->second;
  std::vector<CodeName> functions = file.debug_information.functions_at(file.module, address);
  const bool complete = !functions.empty() && !functions.back().function.empty();
  if (!complete) {
    if (!file.functions) file.functions = functions_of(file.module);
    if (const Symbol* symbol = file.functions->find(address)) {
      if (functions.empty()) functions.emplace_back();
      functions.back().function = demangled_name(symbol->name);
    }
  }
  std::erase_if(functions, [](const CodeName& function) { return function.function.empty(); });
  known->second = functions;
  return functions;
}

bool have_code_names() noexcept { return true; }

}  // namespace lanescope::cpu
