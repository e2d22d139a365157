// Names of code by libdw (elfutils).
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "code_names.h"
#include "own_vdso.h"
#include "symbol_table.h"

namespace lanescope::cpu {
namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : name;
}

// "a::B::" for what is declared in these scopes.
std::string scope_of(Dwarf_Die& declaration) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &scopes);
  std::string prefix;
  for (int i = 1; i < count; ++i) {
    const char* name = dwarf_diename(&scopes[i]);
    switch (dwarf_tag(&scopes[i])) {
      case DW_TAG_namespace:
        prefix = std::string(name != nullptr ? name : "(anonymous namespace)") + "::" + prefix;
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
        prefix = std::string(name != nullptr ? name : "{unnamed}") + "::" + prefix;
        break;
      default:
        break;
    }
  }
  std::free(scopes);
  return prefix;
}

// Where a function is first declared: what was inlined or defined elsewhere refers to it.
Dwarf_Die declaration_of(Dwarf_Die function) {
  constexpr int kMaximumSteps = 8;
  for (int step = 0; step < kMaximumSteps; ++step) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    Dwarf_Attribute* reference = dwarf_attr(&function, DW_AT_abstract_origin, &attribute);
    if (reference == nullptr) reference = dwarf_attr(&function, DW_AT_specification, &attribute);
    if (reference == nullptr || dwarf_formref_die(reference, &next) == nullptr) break;
    function = next;
  }
  return function;
}

std::string name_of(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  for (const unsigned form : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (Dwarf_Attribute* found = dwarf_attr_integrate(&function, form, &attribute))
      if (const char* name = dwarf_formstring(found)) return demangled(name);
  const char* name = dwarf_diename(&function);
  if (name == nullptr) return {};
  Dwarf_Die declaration = declaration_of(function);
  return scope_of(declaration) + name;
}

bool is_function(Dwarf_Die& scope) {
  const int tag = dwarf_tag(&scope);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

std::string absolute(const char* path, Dwarf_Die& unit) {
  if (path == nullptr) return {};
  Dwarf_Attribute attribute;
  const char* folder = path[0] == '/' ? nullptr : dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder == nullptr ? path : std::string(folder) + "/" + path;
}

std::uint32_t number_of(Dwarf_Die& scope, unsigned form) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  return dwarf_formudata(dwarf_attr(&scope, form, &attribute), &number) == 0 ? static_cast<std::uint32_t>(number) : 0;
}

// The functions around an address, as debug information has them.
std::vector<CodeName> functions_at(Dwfl_Module* file, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(file, address, &bias);
  if (unit == nullptr) return {};
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getscopes(unit, address - bias, &innermost) <= 0) return {};
  Dwarf_Die scope = innermost[0];
  std::free(innermost);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&scope, &scopes);
  if (count <= 0) return {};

  CodeName place;  // in the next function outwards
  if (Dwarf_Line* line = dwarf_getsrc_die(unit, address - bias)) {
    int number = 0;
    dwarf_lineno(line, &number);
    place.source_file = absolute(dwarf_linesrc(line, nullptr, nullptr), *unit);
    place.source_line = static_cast<std::uint32_t>(number);
  }
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  dwarf_getsrcfiles(unit, &files, &file_count);
  std::vector<CodeName> functions;
  for (int i = 0; i < count; ++i) {
    if (!is_function(scopes[i])) continue;
    place.function = name_of(scopes[i]);
    functions.push_back(place);
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) break;
    const std::uint32_t number = number_of(scopes[i], DW_AT_call_file);
    place.source_file = files != nullptr && number < file_count ? absolute(dwarf_filesrc(files, number, nullptr, nullptr), *unit) : "";
    place.source_line = number_of(scopes[i], DW_AT_call_line);
  }
  std::free(scopes);
  return functions;
}

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
  std::vector<CodeName> functions = functions_at(file.module, address);
  const bool complete = !functions.empty() && !functions.back().function.empty();
  if (!complete) {
    if (!file.functions) file.functions = functions_of(file.module);
    if (const Symbol* symbol = file.functions->find(address)) {
      if (functions.empty()) functions.emplace_back();
      functions.back().function = demangled(symbol->name);
    }
  }
  std::erase_if(functions, [](const CodeName& function) { return function.function.empty(); });
  known->second = functions;
  return functions;
}

bool have_code_names() noexcept { return true; }

}  // namespace lanescope::cpu
