#include "agent/core/loader/call_slots.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/faults/fault_guard.h"
#include "agent/core/loader/dynamic_section.h"
#include "agent/core/loader/loader.h"

namespace lanescope::agent {
namespace {

using Address = std::uintptr_t;

#if defined(__aarch64__)
constexpr unsigned long kFunctionSlots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr unsigned long kFunctionSlots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#endif

// The loader's information about a file.
struct File {
  Address base = 0;
  Address end = 0;
  DynamicSection section;
};

std::string_view name_in(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool is_ours(const char* path) noexcept {
  const std::string_view name = name_in(path);
  return name.starts_with("liblanescope-") || name.starts_with("ld-linux") || name.starts_with("libcupti");
}

File describe(const dl_phdr_info& information) noexcept {
  File file;
  file.base = information.dlpi_addr;
  for (int i = 0; i < information.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = information.dlpi_phdr[i];
    const Address end = file.base + part.p_vaddr + part.p_memsz;
    if (part.p_type == PT_LOAD && end > file.end) file.end = end;
  }
  file.section = dynamic_section_of(information);
  // Relocations of addresses within the file come first; they are the majority.
  LoaderTable<ElfW(Rela)>& others = file.section.others;
  if (others.entries != nullptr && file.section.relative <= others.count)
    others = {others.entries + file.section.relative, others.count - file.section.relative};
  return file;
}

// The function to which calls through a slot with this value are redirected; null if the slot is left alone.
void* replacement(std::span<const Redirection> redirections, const File& file, Address held, std::size_t index) noexcept {
  const bool is_resolved = held < file.base || held >= file.end;  // else the slot leads to the file's own code, which would look the function up
  const ElfW(Sym)& symbol = file.section.symbols[index];
  if (!is_resolved && symbol.st_shndx != SHN_UNDEF) return nullptr;  // it may find the file's own function
  for (const Redirection& each : redirections) {
    if (each.from == nullptr) continue;
    if (is_resolved ? held == reinterpret_cast<Address>(each.from) : each.is_found && std::strcmp(each.name, file.section.names + symbol.st_name) == 0)
      return each.to;
  }
  return nullptr;
}

// If the page is not writable, makes it writable for this moment, but only this page; a writable page is left as it is. False if that is not possible. Another
// thread may change these rights, too, so the moment is as short as possible.
bool write_slot(Address place, void* to) noexcept {
  const auto page = static_cast<Address>(getpagesize());
  auto* const around = reinterpret_cast<void*>(place / page * page);
  const bool is_closed = !is_writable(place);
  if (is_closed && mprotect(around, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(reinterpret_cast<Address*>(place), reinterpret_cast<Address>(to), __ATOMIC_RELEASE);
  if (is_closed) mprotect(around, page, PROT_READ);
  return true;
}

std::size_t redirect(std::span<const Redirection> redirections, const File& file, const LoaderTable<ElfW(Rela)>& table) noexcept {
  std::size_t changed = 0;
  for (std::size_t i = 0; table.entries != nullptr && i < table.count; ++i) {
    const ElfW(Rela)& entry = table.entries[i];
    const unsigned long type = ELF64_R_TYPE(entry.r_info);
    if (type != kFunctionSlots[0] && type != kFunctionSlots[1]) continue;
    const Address place = file.base + entry.r_offset;
    const Address held = __atomic_load_n(reinterpret_cast<const Address*>(place), __ATOMIC_RELAXED);
    void* const to = replacement(redirections, file, held, ELF64_R_SYM(entry.r_info));
    if (to != nullptr && write_slot(place, to)) ++changed;
  }
  return changed;
}

bool holds(const dl_phdr_info& information, Address place) noexcept {
  for (int i = 0; i < information.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = information.dlpi_phdr[i];
    const Address begin = information.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && place >= begin && place - begin < part.p_memsz) return true;
  }
  return false;
}

// Skips a file that is left to the loader. The loader's lock is held here; it is released after a fault as well.
NewFiles::Seen redirect(std::span<const Redirection> redirections, const dl_phdr_info& information, bool waits_for_loader, Redirected& result) noexcept {
  auto seen = NewFiles::Seen::kWhole;
  const auto look = [&] {
    const File file = describe(information);
    if (file.section.symbols == nullptr || file.section.names == nullptr) return;
    // Memory that will be read-only, but is not yet, still belongs to the loader, which writes there and makes it read-only when it is done.
    const bool is_open = may_be_unfinished(information);
    if (is_open) seen = NewFiles::Seen::kAgain;
    if (is_open && waits_for_loader) return;
    result.calls += redirect(redirections, file, file.section.calls);
    result.calls += redirect(redirections, file, file.section.others);
  };
  const Guarded done = is_whole(information) ? run_guarded(look) : Guarded::kFaulted;
  if (done == Guarded::kDone) return seen;
  ++result.unreadable_files;
  return NewFiles::Seen::kWhole;
}

struct CallsOfOneFile {
  std::span<const Redirection> redirections;
  Address code;
  Redirected result;
};

}  // namespace

// It does not matter in which of its files: older C libraries have some functions twice.
bool is_found_in_c_library(const char* name, const char* version) noexcept {
  void* found = version != nullptr ? dlvsym(RTLD_DEFAULT, name, version) : nullptr;
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, name);
  Dl_info file{};
  if (found == nullptr || dladdr(found, &file) == 0) return false;
  const std::string_view its_name = name_in(file.dli_fname);
  return its_name == "libc.so.6" || its_name == "libpthread.so.0" || its_name == "libdl.so.2" || its_name == "librt.so.1";
}

Redirected redirect_calls_of(const void* code, std::span<const Redirection> redirections) noexcept {
  CallsOfOneFile one{redirections, reinterpret_cast<Address>(code), {}};
  visit_loaded_files(
      [](dl_phdr_info* information, std::size_t, void* data) {
        auto& own = *static_cast<CallsOfOneFile*>(data);
        if (has_headers(*information) && holds(*information, own.code)) redirect(own.redirections, *information, false, own.result);
        return 0;
      },
      &one);
  return one.result;
}

Redirected CallSlots::redirect(std::span<const Redirection> redirections) noexcept {
  Redirected result;
  files_.visit([&](const dl_phdr_info& information) {
    if (is_ours(information.dlpi_name)) return NewFiles::Seen::kWhole;
    return agent::redirect(redirections, information, files_.waits_for_loader(), result);
  });
  return result;
}

}  // namespace lanescope::agent
