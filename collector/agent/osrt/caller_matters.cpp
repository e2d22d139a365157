#include "agent/osrt/caller_matters.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>

#include "agent/core/loader/loader.h"

namespace lanescope::agent::osrt {
namespace {

std::size_t files_of_program = 0;  // the first so many that are loaded: none of them ever goes

struct Search {
  std::uintptr_t caller;
  std::size_t index = 0;
  bool is_found = false;
  bool is_of_program = false;
  bool has_run_path = false;      // the caller
  bool program_has_path = false;  // RPATH: a file of the program but the first, which the loader asks for everybody ...
  bool any_has_path = false;      // ... or any file but the first
};

struct Paths {
  bool rpath = false;
  bool run_path = false;
};

Paths paths_of(const dl_phdr_info& info) noexcept {
  Paths paths;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + part.p_vaddr); entry->d_tag != DT_NULL; ++entry) {
      paths.rpath = paths.rpath || entry->d_tag == DT_RPATH;
      paths.run_path = paths.run_path || entry->d_tag == DT_RUNPATH;
    }
  }
  if (paths.run_path) paths.rpath = false;  // the loader leaves it out then
  return paths;
}

bool holds(const dl_phdr_info& info, std::uintptr_t address) noexcept {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz) return true;
  }
  return false;
}

int look(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  const Paths paths = paths_of(*info);
  const bool is_of_program = search.index < files_of_program;
  if (!search.is_found && holds(*info, search.caller)) {
    search.is_found = true;
    search.is_of_program = is_of_program;
    search.has_run_path = paths.run_path;
  }
  if (paths.rpath && search.index > 0) {
    search.any_has_path = true;
    search.program_has_path = search.program_has_path || is_of_program;
  }
  ++search.index;
  return 0;
}

}  // namespace

void note_loaded_files() noexcept {
  std::size_t count = 0;
  visit_loaded_files(
      [](dl_phdr_info*, std::size_t, void* data) {
        ++*static_cast<std::size_t*>(data);
        return 0;
      },
      &count);
  files_of_program = count;
}

bool caller_matters(const char* file, const void* caller) noexcept {
  if (file == nullptr || std::strchr(file, '$') != nullptr) return true;
  Search search{reinterpret_cast<std::uintptr_t>(caller)};
  visit_loaded_files(look, &search);
  if (!search.is_found) return true;
  // Who loaded a file of the program is one of them, too.
  if (search.is_of_program ? search.program_has_path : search.any_has_path) return true;
  return std::strchr(file, '/') == nullptr && search.has_run_path;
}

}  // namespace lanescope::agent::osrt
