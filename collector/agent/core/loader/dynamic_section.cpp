#include "agent/core/loader/dynamic_section.h"

#include <cstdint>

#include <elf.h>

#include "agent/core/faults/readable.h"

namespace lanescope::agent {
namespace {

// DT_RELR and DT_RELRSZ are missing in the headers of older C libraries.
constexpr auto kPackedBytes = 35;
constexpr auto kPacked = 36;

}  // namespace

bool has_headers(const dl_phdr_info& file) noexcept {
  if (file.dlpi_phnum == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(file.dlpi_phdr);
  return is_readable(begin) && is_readable(reinterpret_cast<std::uintptr_t>(file.dlpi_phdr + file.dlpi_phnum) - 1);
}

// Memory beyond the place at which a file was cut can't be read, even if the program has written there. So it is enough to check the last page.
bool is_whole(const dl_phdr_info& file) noexcept {
  if (!has_headers(file)) return false;
  ElfW(Off) end = 0;
  std::uintptr_t last = 0;
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || part.p_filesz == 0 || part.p_offset + part.p_filesz <= end) continue;
    end = part.p_offset + part.p_filesz;
    last = file.dlpi_addr + part.p_vaddr + part.p_filesz - 1;
  }
  return end == 0 || is_readable(last);
}

DynamicSection dynamic_section_of(const dl_phdr_info& file) noexcept {
  DynamicSection section;
  section.base = file.dlpi_addr;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < file.dlpi_phnum; ++i)
    if (file.dlpi_phdr[i].p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(section.base + file.dlpi_phdr[i].p_vaddr);
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The loader has replaced offsets by addresses, except where it may not write.
    const ElfW(Addr) value = entry->d_un.d_val;
    const ElfW(Addr) address = value < section.base ? section.base + value : value;
    if (entry->d_tag == DT_SYMTAB) section.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) section.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_JMPREL) section.calls.entries = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) section.calls.count = value / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELA) section.others.entries = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELASZ) section.others.count = value / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELACOUNT) section.relative = value;
    if (entry->d_tag == kPacked) section.relative_packed.entries = reinterpret_cast<const ElfW(Addr)*>(address);
    if (entry->d_tag == kPackedBytes) section.relative_packed.count = value / sizeof(ElfW(Addr));
  }
  return section;
}

}  // namespace lanescope::agent
