#include "agent/osrt/call_slots.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lanescope::agent::osrt {

#if defined(__x86_64__)

namespace {

struct Search {
  const Redirection* redirections;
  std::size_t count;
  unsigned long long loaded = 0;  // files ever loaded, as the loader counts
  std::size_t changed = 0;
};

struct File {
  std::uintptr_t base = 0;
  std::uintptr_t end = 0;
  std::uintptr_t read_only = 0;  // what the loader has made so, from here
  std::uintptr_t read_only_end = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {};
  std::size_t sizes[2] = {};  // entries
};

bool is_ours(const char* path) noexcept {
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  return strncmp(name, "liblanescope-", 13) == 0 || strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "libcupti", 8) == 0;
}

// False for what has no table of dynamic symbols.
bool read(const dl_phdr_info& info, File& file) noexcept {
  file.base = info.dlpi_addr;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = file.base + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (part.p_type == PT_LOAD && begin + part.p_memsz > file.end) file.end = begin + part.p_memsz;
    if (part.p_type == PT_GNU_RELRO) {
      file.read_only = begin;
      file.read_only_end = begin + part.p_memsz;
    }
  }
  // The loader has put addresses in place of offsets, but where it may not write.
  const auto address = [&](std::uintptr_t value) { return value < file.base ? file.base + value : value; };
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const std::uintptr_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) file.symbols = reinterpret_cast<const ElfW(Sym)*>(address(value));
    if (entry->d_tag == DT_STRTAB) file.names = reinterpret_cast<const char*>(address(value));
    if (entry->d_tag == DT_JMPREL) file.tables[0] = reinterpret_cast<const ElfW(Rela)*>(address(value));
    if (entry->d_tag == DT_PLTRELSZ) file.sizes[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELA) file.tables[1] = reinterpret_cast<const ElfW(Rela)*>(address(value));
    if (entry->d_tag == DT_RELASZ) file.sizes[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
  }
  return file.symbols != nullptr && file.names != nullptr;
}

// What calls through the slot are to go to; null for what is left alone.
void* replacement(const Search& search, const File& file, std::uintptr_t held, const char* name) noexcept {
  const bool is_resolved = held < file.base || held >= file.end;  // else the file's own code, which would look the function up
  for (std::size_t i = 0; i < search.count; ++i) {
    const Redirection& each = search.redirections[i];
    if (each.from == nullptr) continue;  // the C library has none
    if (is_resolved ? held == reinterpret_cast<std::uintptr_t>(each.from) : strcmp(each.name, name) == 0) return each.to;
  }
  return nullptr;
}

void redirect(Search& search, const File& file) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = file.read_only & ~(page - 1);
  const std::size_t length = (file.read_only_end & ~(page - 1)) - begin;
  bool is_open = false;
  for (int table = 0; table < 2; ++table) {
    for (std::size_t i = 0; file.tables[table] != nullptr && i < file.sizes[table]; ++i) {
      const ElfW(Rela)& entry = file.tables[table][i];
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      auto* slot = reinterpret_cast<std::uintptr_t*>(file.base + entry.r_offset);
      const char* name = file.names + file.symbols[ELF64_R_SYM(entry.r_info)].st_name;
      void* to = replacement(search, file, __atomic_load_n(slot, __ATOMIC_RELAXED), name);
      if (to == nullptr) continue;
      const auto place = reinterpret_cast<std::uintptr_t>(slot);
      if (!is_open && place >= begin && place < begin + length)
        is_open = mprotect(reinterpret_cast<void*>(begin), length, PROT_READ | PROT_WRITE) == 0;
      if (!is_open && place >= begin && place < begin + length) return;
      __atomic_store_n(slot, reinterpret_cast<std::uintptr_t>(to), __ATOMIC_RELEASE);
      ++search.changed;
    }
  }
  if (is_open) mprotect(reinterpret_cast<void*>(begin), length, PROT_READ);
}

}  // namespace

std::size_t redirect_calls(const Redirection* redirections, std::size_t count) noexcept {
  static unsigned long long seen = 0;
  Search search{redirections, count};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    static_cast<Search*>(data)->loaded = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(look, &search);
  if (search.loaded == seen) return 0;
  seen = search.loaded;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    File file;
    if (!is_ours(info->dlpi_name) && read(*info, file)) redirect(*static_cast<Search*>(data), file);
    return 0;
  };
  dl_iterate_phdr(visit, &search);
  return search.changed;
}

#else

std::size_t redirect_calls(const Redirection*, std::size_t) noexcept { return 0; }

#endif

}  // namespace lanescope::agent::osrt
