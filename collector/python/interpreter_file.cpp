#include "interpreter_file.h"

#include <algorithm>
#include <istream>
#include <optional>
#include <string_view>

#include "collector/attach/elf_headers.h"
#include "descriptor_buffer.h"
#include "split_function.h"

namespace lanescope::python {
namespace {

constexpr std::uint64_t kMaximumTable = 128u << 20;  // most bytes of symbols, or of their names
constexpr int kMaximumTables = 4;                    // most tables of symbols: files have at most two
constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

template <typename Entry>
std::vector<Entry> read_entries(std::istream& file, std::uint64_t offset, std::uint64_t size) {
  if (size > kMaximumTable) return {};
  std::vector<Entry> entries(size / sizeof(Entry));
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(entries.size() * sizeof(Entry)))) entries.clear();
  return entries;
}

std::string_view text_at(const std::vector<char>& texts, std::uint64_t offset) {
  if (offset >= texts.size()) return {};
  constexpr std::size_t kLongest = 256;  // the names that are looked for are shorter
  const std::string_view rest(texts.data() + offset, std::min(texts.size() - offset, kLongest));
  return rest.substr(0, rest.find('\0'));
}

void add_loop(InterpreterFile& found, const AddressRange& range) {
  if (found.loop.size() >= kMostLoopParts) return;
  for (const AddressRange& known : found.loop)
    if (known.begin == range.begin) return;
  found.loop.push_back(range);
}

// The loop itself, or the parts that the compiler split off: "….cold", "….cold.12".
bool is_of_loop(std::string_view name) { return name.starts_with(kLoop) && (name.size() == kLoop.size() || name.substr(kLoop.size()).starts_with(".cold")); }

void read_symbols(std::istream& file, const Elf64_Shdr& table, const Elf64_Shdr& names, InterpreterFile& found) {
  const std::vector<char> texts = read_entries<char>(file, names.sh_offset, names.sh_size);
  for (const Elf64_Sym& symbol : read_entries<Elf64_Sym>(file, table.sh_offset, table.sh_size)) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const std::string_view name = text_at(texts, symbol.st_name);
    if (name == "_PyRuntime") found.runtime = symbol.st_value;
    if (name == "Py_Version") found.version = symbol.st_value;
    if (is_of_loop(name)) add_loop(found, {symbol.st_value, symbol.st_value + symbol.st_size});
  }
}

}  // namespace

InterpreterFile read_interpreter_file(int descriptor) {
  InterpreterFile found;
  DescriptorBuffer buffer(descriptor);
  std::istream file(&buffer);
  const std::optional<attach::ElfHeaders> headers = attach::read_elf_headers(file);
  if (!headers) return found;
  const Elf64_Ehdr& header = headers->file;
  if (!headers->is_of_64_bits() || header.e_phentsize != sizeof(Elf64_Phdr) || (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr))) return found;
  found.is_readable = true;
  const std::vector<Elf64_Phdr>& parts = headers->segments;
  for (const Elf64_Phdr& part : parts)
    if (part.p_type == PT_LOAD && part.p_offset == 0) found.start = part.p_vaddr;
  const std::vector<Elf64_Shdr> sections = read_entries<Elf64_Shdr>(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (header.e_shstrndx >= sections.size()) return found;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  const std::vector<char> texts = read_entries<char>(file, names.sh_offset, names.sh_size);
  int tables = 0;
  for (const Elf64_Shdr& section : sections) {
    if (text_at(texts, section.sh_name) == ".PyRuntime") found.runtime = section.sh_addr;
    const bool has_symbols = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB;
    if (has_symbols && section.sh_link < sections.size() && ++tables <= kMaximumTables) read_symbols(file, section, sections[section.sh_link], found);
  }
  const std::vector<AddressRange> named = found.loop;
  for (const AddressRange& range : named)
    if (header.e_machine == EM_X86_64)
      for (const AddressRange& part : find_parts_elsewhere(file, parts, range)) add_loop(found, part);
  return found;
}

}  // namespace lanescope::python
