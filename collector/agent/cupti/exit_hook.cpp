#include "agent/cupti/exit_hook.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/cupti/injection.h"

namespace lanescope::agent::cupti {

constinit std::span<const Replacement> exec_replacements;

namespace {

using Address = std::uintptr_t;

#if defined(__aarch64__)
constexpr unsigned long kFunctionSlots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr unsigned long kFunctionSlots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#endif
constexpr std::size_t kMostRelocations = 16'384;  // a library with more is a large one that ends no programs; reading it takes long

constinit std::atomic<bool> is_done{false};
constinit std::atomic<void (*)(int)> real_exit{nullptr};

[[noreturn]] void exit_after_finish(int code) {
  finish();
  real_exit.load(std::memory_order_relaxed)(code);
  __builtin_unreachable();
}

struct Table {
  const ElfW(Rela) * entries = nullptr;
  std::size_t count = 0;
};

// What the loader knows of a file.
struct LoadedFile {
  Address base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  Table calls;
  Table others;
  Address read_only_begin = 0;  // after loading
  Address read_only_end = 0;
};

LoadedFile describe(const dl_phdr_info& information) noexcept {
  LoadedFile file;
  file.base = information.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int index = 0; index < information.dlpi_phnum; ++index) {
    const ElfW(Phdr)& segment = information.dlpi_phdr[index];
    const Address begin = file.base + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (segment.p_type != PT_GNU_RELRO) continue;
    const Address page = static_cast<Address>(getpagesize());
    file.read_only_begin = begin / page * page;
    file.read_only_end = (begin + segment.p_memsz) / page * page;
  }
  std::size_t relative = 0;
  // The loader has made addresses of these offsets, except in files that may not be written to.
  const auto address = [&](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr < file.base ? file.base + entry.d_un.d_ptr : entry.d_un.d_ptr;
  };
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        file.symbols = reinterpret_cast<const ElfW(Sym)*>(address(*dynamic));
        break;
      case DT_STRTAB:
        file.names = reinterpret_cast<const char*>(address(*dynamic));
        break;
      case DT_JMPREL:
        file.calls.entries = reinterpret_cast<const ElfW(Rela)*>(address(*dynamic));
        break;
      case DT_PLTRELSZ:
        file.calls.count = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        file.others.entries = reinterpret_cast<const ElfW(Rela)*>(address(*dynamic));
        break;
      case DT_RELASZ:
        file.others.count = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELACOUNT:
        relative = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (file.others.entries != nullptr && relative <= file.others.count)
    file.others = {file.others.entries + relative, file.others.count - relative};
  return file;
}

// What calls of the function of that name are to go to; null for those that are left alone.
void* replacement(const char* name) noexcept {
  if (std::strcmp(name, "_exit") == 0 || std::strcmp(name, "_Exit") == 0) return reinterpret_cast<void*>(&exit_after_finish);
  for (const Replacement& each : exec_replacements)
    if (std::strcmp(name, each.name) == 0) return each.function;
  return nullptr;
}

void redirect(const LoadedFile& file, Address slot, void* function) noexcept {
  auto* const word = reinterpret_cast<void**>(slot);
  const Address page = static_cast<Address>(getpagesize());
  auto* const begin = reinterpret_cast<void*>(slot / page * page);
  const bool is_read_only = slot >= file.read_only_begin && slot < file.read_only_end;
  if (is_read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(word, function, __ATOMIC_RELAXED);
  if (is_read_only) mprotect(begin, page, PROT_READ);
}

void redirect(const LoadedFile& file, const Table& table) noexcept {
  if (table.entries == nullptr || table.count > kMostRelocations) return;
  for (std::size_t index = 0; index < table.count; ++index) {
    const ElfW(Rela)& entry = table.entries[index];
    const unsigned long type = ELF64_R_TYPE(entry.r_info);
    const bool is_function_slot = type == kFunctionSlots[0] || type == kFunctionSlots[1];
    if (!is_function_slot) continue;
    if (void* function = replacement(file.names + file.symbols[ELF64_R_SYM(entry.r_info)].st_name))
      redirect(file, file.base + entry.r_offset, function);
  }
}

bool is_ours(const dl_phdr_info& information) noexcept {
  const auto own = reinterpret_cast<Address>(&finish_before_exits);
  for (int index = 0; index < information.dlpi_phnum; ++index) {
    const ElfW(Phdr)& segment = information.dlpi_phdr[index];
    const Address begin = information.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && own >= begin && own < begin + segment.p_memsz) return true;
  }
  return false;
}

}  // namespace

void finish_before_exits() noexcept {
  if (is_done.exchange(true)) return;
  at_quick_exit([] { finish(); });
  real_exit.store(&_exit, std::memory_order_relaxed);
  dl_iterate_phdr(
      [](dl_phdr_info* information, std::size_t, void*) {
        if (is_ours(*information)) return 0;
        const LoadedFile file = describe(*information);
        if (file.symbols == nullptr || file.names == nullptr) return 0;
        redirect(file, file.calls);
        redirect(file, file.others);
        return 0;
      },
      nullptr);
}

}  // namespace lanescope::agent::cupti
