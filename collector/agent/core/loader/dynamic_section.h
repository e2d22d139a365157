// The dynamic section of a loaded file: its symbols, and which of its words the loader has filled in.
//
// The file may have been shortened since it was loaded. Reading then faults, which ends the program if it has its own handler of that signal or blocks it. So
// ask first (is_whole), and guard against what happens in between (fault_guard.h).
#pragma once

#include <cstddef>
#include <initializer_list>

#include <link.h>

namespace lanescope::agent {

template <typename Entry>
struct LoaderTable {
  const Entry* entries = nullptr;
  std::size_t count = 0;
};

struct DynamicSection {
  ElfW(Addr) base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  LoaderTable<ElfW(Rela)> calls;
  LoaderTable<ElfW(Rela)> others;
  std::size_t relative = 0;                 // the first of `others`, which are addresses within the file
  LoaderTable<ElfW(Addr)> relative_packed;  // as in DT_RELR
};

// True if the loaded file still exists to its end. A few system calls.
bool is_whole(const dl_phdr_info& file) noexcept;
// The same for its program headers only, which are usually in its first page.
bool has_headers(const dl_phdr_info& file) noexcept;

// All members are empty if the file has no dynamic section.
DynamicSection dynamic_section_of(const dl_phdr_info& file) noexcept;

// Calls visit(address) for each word that holds an address which the loader has put there, in any order, perhaps twice. O(words).
template <typename Visit>
void for_each_filled_word(const DynamicSection& section, Visit visit) noexcept {
  for (const LoaderTable<ElfW(Rela)>* table : {&section.others, &section.calls})
    for (std::size_t i = 0; table->entries != nullptr && i < table->count; ++i) visit(section.base + table->entries[i].r_offset);
  // An even entry is the place of a word; each bit of an odd entry, except the lowest, says if one of the next 63 words is another.
  constexpr std::size_t kWordsOfBits = sizeof(ElfW(Addr)) * 8 - 1;
  ElfW(Addr) place = 0;
  for (std::size_t i = 0; section.relative_packed.entries != nullptr && i < section.relative_packed.count; ++i) {
    ElfW(Addr) entry = section.relative_packed.entries[i];
    if ((entry & 1) == 0) {
      place = section.base + entry;
      visit(place);
      place += sizeof(ElfW(Addr));
      continue;
    }
    for (ElfW(Addr) word = place; (entry >>= 1) != 0; word += sizeof(ElfW(Addr)))
      if ((entry & 1) != 0) visit(word);
    place += kWordsOfBits * sizeof(ElfW(Addr));
  }
}

}  // namespace lanescope::agent
