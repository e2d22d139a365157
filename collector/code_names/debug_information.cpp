#include "debug_information.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace lanescope::code_names {
namespace {

// The first declaration of a function: inlined functions, and functions defined elsewhere, refer to it.
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

const char* linkage_name(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  for (const unsigned form : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (Dwarf_Attribute* found = dwarf_attr_integrate(&function, form, &attribute))
      if (const char* name = dwarf_formstring(found)) return name;
  return nullptr;
}

// The prefix of names declared in this scope, "a::B::", given the prefix of the scope's own name.
std::string prefix_within(Dwarf_Die& scope, const std::string& prefix) {
  const char* name = dwarf_diename(&scope);
  switch (dwarf_tag(&scope)) {
    case DW_TAG_namespace:
      return prefix + (name != nullptr ? name : "(anonymous namespace)") + "::";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      return prefix + (name != nullptr ? name : "{unnamed}") + "::";
    default:
      return prefix;
  }
}

// True if this scope can contain functions or inlined code.
bool may_hold_functions(Dwarf_Die& scope) {
  switch (dwarf_tag(&scope)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

// Finds the part of a scope that contains the address.
bool descend(Dwarf_Die& scope, Dwarf_Addr address, Dwarf_Die& part) {
  if (dwarf_child(&scope, &part) != 0) return false;
  do {
    if (may_hold_functions(part) && dwarf_haspc(&part, address) > 0) return true;
  } while (dwarf_siblingof(&part, &part) == 0);
  return false;
}

}  // namespace

std::string demangled_name(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;  // a function named "f" must not be read as the mangled type float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : name;
}

DebugInformation::Unit::Unit(Dwarf_Die& root) {
  add_functions_within(root, {}, 0);
  std::sort(ranges.begin(), ranges.end(), [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
}

void DebugInformation::Unit::add_functions_within(Dwarf_Die& scope, const std::string& prefix, int depth) {
  constexpr int kDeepest = 200;  // compilers do not nest deeper; a damaged file may
  Dwarf_Die part;
  if (depth > kDeepest || dwarf_child(&scope, &part) != 0) return;
  do {
    if (!may_hold_functions(part)) continue;
    if (dwarf_tag(&part) == DW_TAG_subprogram) {
      const Dwarf_Off function = dwarf_dieoffset(&part);
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&part, next, &base, &begin, &end)) > 0;) ranges.push_back({begin, end, function});
      if (!prefix.empty() && linkage_name(part) == nullptr) prefixes.emplace(function, prefix);
    }
    add_functions_within(part, prefix_within(part, prefix), depth + 1);
  } while (dwarf_siblingof(&part, &part) == 0);
}

DebugInformation::Unit& DebugInformation::unit_of(Dwarf_Die& root) { return units_.try_emplace(dwarf_dieoffset(&root), root).first->second; }

std::string DebugInformation::name_of(Dwarf_Die& function) {
  if (const char* name = linkage_name(function)) return demangled_name(name);
  const char* name = dwarf_diename(&function);
  if (name == nullptr) return {};
  Dwarf_Die declaration = declaration_of(function);
  Dwarf_Die root;
  if (dwarf_diecu(&declaration, &root, nullptr, nullptr) == nullptr) return name;
  const Unit& unit = unit_of(root);
  const auto prefix = unit.prefixes.find(dwarf_dieoffset(&declaration));
  return prefix == unit.prefixes.end() ? name : prefix->second + name;
}

// libdw's own search (dwarf_getscopes) scans a whole unit for each address.
std::vector<CodeName> DebugInformation::functions_at(Dwfl_Module* file, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* root = dwfl_module_addrdie(file, address, &bias);
  if (root == nullptr) return {};
  const Dwarf_Addr place_in_file = address - bias;
  const Unit& unit = unit_of(*root);
  const auto behind =
      std::upper_bound(unit.ranges.begin(), unit.ranges.end(), place_in_file, [](Dwarf_Addr at, const CodeRange& range) { return at < range.begin; });
  if (behind == unit.ranges.begin() || place_in_file >= std::prev(behind)->end) return {};
  Dwarf_Die function;
  if (dwarf_offdie(dwarf_cu_getdwarf(root->cu), std::prev(behind)->function, &function) == nullptr) return {};
  std::vector<Dwarf_Die> scopes{function};
  for (Dwarf_Die part; descend(scopes.back(), place_in_file, part);) scopes.push_back(part);

  CodeName place;  // the current place in the function being reported; set to the place of the call for the next function outwards
  if (Dwarf_Line* line = dwarf_getsrc_die(root, place_in_file)) {
    int number = 0;
    dwarf_lineno(line, &number);
    place.source_file = absolute(dwarf_linesrc(line, nullptr, nullptr), *root);
    place.source_line = static_cast<std::uint32_t>(number);
  }
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  dwarf_getsrcfiles(root, &files, &file_count);
  std::vector<CodeName> functions;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (!is_function(*scope)) continue;
    place.function = name_of(*scope);
    functions.push_back(place);
    if (dwarf_tag(&*scope) != DW_TAG_inlined_subroutine) break;
    const std::uint32_t number = number_of(*scope, DW_AT_call_file);
    place.source_file = files != nullptr && number < file_count ? absolute(dwarf_filesrc(files, number, nullptr, nullptr), *root) : "";
    place.source_line = number_of(*scope, DW_AT_call_line);
  }
  return functions;
}

}  // namespace lanescope::code_names
