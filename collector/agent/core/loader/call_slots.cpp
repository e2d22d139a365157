#include "agent/core/loader/call_slots.h"

#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/faults/fault_guard.h"
#include "agent/core/loader/dynamic_section.h"
#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

using Address = std::uintptr_t;

#if defined(__aarch64__)
constexpr unsigned long kFunctionSlots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr unsigned long kFunctionSlots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#endif

// What the loader knows of a file.
struct File {
  Address base = 0;
  Address end = 0;
  Address read_only = 0;  // what the loader has made so, whole pages: from here
  Address read_only_end = 0;
  bool is_closed = false;  // it is so by now, where there is any
  DynamicSection section;
};

bool is_ours(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  for (const char* own : {"liblanescope-", "ld-linux", "libcupti"})
    if (std::strncmp(name, own, std::strlen(own)) == 0) return true;
  return false;
}

File describe(const dl_phdr_info& information) noexcept {
  const auto page = static_cast<Address>(getpagesize());
  File file;
  file.base = information.dlpi_addr;
  for (int i = 0; i < information.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = information.dlpi_phdr[i];
    const Address begin = file.base + part.p_vaddr;
    if (part.p_type == PT_LOAD && begin + part.p_memsz > file.end) file.end = begin + part.p_memsz;
    if (part.p_type != PT_GNU_RELRO) continue;
    file.read_only = begin / page * page;
    file.read_only_end = (begin + part.p_memsz) / page * page;
  }
  file.section = dynamic_section_of(information);
  // Those of addresses within the file come first, and are most.
  LoaderTable<ElfW(Rela)>& others = file.section.others;
  if (others.entries != nullptr && file.section.relative <= others.count)
    others = {others.entries + file.section.relative, others.count - file.section.relative};
  return file;
}

// What calls through a slot that holds this are to go to; null for what is left alone.
void* replacement(std::span<const Redirection> redirections, const File& file, Address held, std::size_t symbol) noexcept {
  const bool is_resolved = held < file.base || held >= file.end;  // else the file's own code, which would look the function up
  const char* const name = is_resolved ? nullptr : file.section.names + file.section.symbols[symbol].st_name;
  for (const Redirection& each : redirections) {
    if (each.from == nullptr) continue;
    if (is_resolved ? held == reinterpret_cast<Address>(each.from) : std::strcmp(each.name, name) == 0) return each.to;
  }
  return nullptr;
}

std::size_t redirect(std::span<const Redirection> redirections, const File& file, const LoaderTable<ElfW(Rela)>& table) noexcept {
  std::size_t changed = 0;
  auto* const read_only = reinterpret_cast<void*>(file.read_only);
  const std::size_t length = file.read_only_end - file.read_only;
  bool is_open = false;
  for (std::size_t i = 0; table.entries != nullptr && i < table.count; ++i) {
    const ElfW(Rela)& entry = table.entries[i];
    const unsigned long type = ELF64_R_TYPE(entry.r_info);
    if (type != kFunctionSlots[0] && type != kFunctionSlots[1]) continue;
    const Address place = file.base + entry.r_offset;
    auto* const slot = reinterpret_cast<Address*>(place);
    void* to = replacement(redirections, file, __atomic_load_n(slot, __ATOMIC_RELAXED), ELF64_R_SYM(entry.r_info));
    if (to == nullptr) continue;
    const bool is_closed = file.is_closed && !is_open && place >= file.read_only && place < file.read_only_end;
    if (is_closed) is_open = mprotect(read_only, length, PROT_READ | PROT_WRITE) == 0;
    if (is_closed && !is_open) continue;
    __atomic_store_n(slot, reinterpret_cast<Address>(to), __ATOMIC_RELEASE);
    ++changed;
  }
  if (is_open) mprotect(read_only, length, PROT_READ);
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

// Nothing of a file that is left to the loader. The loader's lock is held here, and is let go behind a fault as well.
NewFiles::Seen redirect(std::span<const Redirection> redirections, const dl_phdr_info& information, bool waits_for_loader, Redirected& result) noexcept {
  auto seen = NewFiles::Seen::kWhole;
  const auto look = [&] {
    File file = describe(information);
    if (file.section.symbols == nullptr || file.section.names == nullptr) return;
    // What is to be read-only, and is not, belongs to the loader still: it writes there, and closes it when it is done.
    const bool is_open = may_be_unfinished(information);
    if (is_open) seen = NewFiles::Seen::kAgain;
    if (is_open && waits_for_loader) return;
    file.is_closed = !is_open;
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
