#include "inject/remote_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace lanescope::attach {
namespace {

constexpr std::size_t kLongestChain = 1u << 20;  // symbols that are examined before a table is taken to be damaged
constexpr unsigned kMaximumSegments = 128;
constexpr unsigned kMaximumDynamicEntries = 1024;

// Addresses of the tables for finding symbols.
struct SymbolTables {
  std::uint64_t bias = 0;  // added to addresses in the file
  std::uint64_t symbols = 0;
  std::uint64_t strings = 0;
  std::uint64_t hash = 0;  // GNU hash table
};

std::optional<SymbolTables> find_tables(const RemoteMemory& memory, std::uint64_t base) {
  const auto header = memory.read<Elf64_Ehdr>(base);
  if (!header || header->e_phnum > kMaximumSegments) return std::nullopt;
  std::uint64_t bias = base;
  std::uint64_t dynamic = 0;
  for (unsigned index = 0; index < header->e_phnum; ++index) {
    const auto segment = memory.read<Elf64_Phdr>(base + header->e_phoff + index * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == PT_LOAD && segment->p_offset == 0) bias = base - segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC) dynamic = segment->p_vaddr;
  }
  if (dynamic == 0) return std::nullopt;
  dynamic += bias;
  // glibc stores addresses here if the table is writable, and leaves offsets otherwise.
  const auto absolute = [&](std::uint64_t value) { return value < base ? value + bias : value; };
  SymbolTables tables{.bias = bias};
  for (unsigned index = 0; index < kMaximumDynamicEntries; ++index) {
    const auto entry = memory.read<Elf64_Dyn>(dynamic + index * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = absolute(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) tables.strings = absolute(entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) tables.hash = absolute(entry->d_un.d_ptr);
  }
  if (tables.symbols == 0 || tables.strings == 0 || tables.hash == 0) return std::nullopt;
  return tables;
}

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const unsigned char letter : name) hash = hash * 33 + letter;
  return hash;
}

bool is_named(const RemoteMemory& memory, std::uint64_t address, std::string_view name) {
  std::string text(name.size() + 1, '\1');
  return memory.read(address, std::as_writable_bytes(std::span(text))) && text.back() == '\0' && text.starts_with(name);
}

}  // namespace

RemoteMemory::RemoteMemory(pid_t pid) : descriptor_(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC)) {}

RemoteMemory::~RemoteMemory() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool RemoteMemory::read(std::uint64_t address, std::span<std::byte> into) const {
  return pread(descriptor_, into.data(), into.size(), static_cast<off_t>(address)) == static_cast<ssize_t>(into.size());
}

bool RemoteMemory::write(std::uint64_t address, std::span<const std::byte> bytes) const {
  return pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(address)) == static_cast<ssize_t>(bytes.size());
}

std::optional<std::uint64_t> find_function(const RemoteMemory& memory, std::uint64_t base, std::string_view symbol) {
  const auto tables = find_tables(memory, base);
  if (!tables) return std::nullopt;
  struct HashHeader {
    std::uint32_t buckets, first_symbol, filter_words, filter_shift;
  };
  const auto header = memory.read<HashHeader>(tables->hash);
  if (!header || header->buckets == 0) return std::nullopt;
  const std::uint64_t buckets = tables->hash + sizeof(HashHeader) + header->filter_words * sizeof(std::uint64_t);
  const std::uint64_t chains = buckets + header->buckets * sizeof(std::uint32_t);
  const std::uint32_t hash = gnu_hash(symbol);
  const auto first = memory.read<std::uint32_t>(buckets + (hash % header->buckets) * sizeof(std::uint32_t));
  if (!first || *first < header->first_symbol) return std::nullopt;
  for (std::uint64_t index = *first; index < *first + kLongestChain; ++index) {
    const auto chained = memory.read<std::uint32_t>(chains + (index - header->first_symbol) * sizeof(std::uint32_t));
    if (!chained) return std::nullopt;
    if ((*chained | 1) == (hash | 1)) {
      const auto entry = memory.read<Elf64_Sym>(tables->symbols + index * sizeof(Elf64_Sym));
      if (!entry) return std::nullopt;
      const bool is_function = ELF64_ST_TYPE(entry->st_info) == STT_FUNC && entry->st_shndx != SHN_UNDEF;
      if (is_function && is_named(memory, tables->strings + entry->st_name, symbol)) return tables->bias + entry->st_value;
    }
    if ((*chained & 1) != 0) return std::nullopt;  // end of the chain
  }
  return std::nullopt;
}

}  // namespace lanescope::attach
