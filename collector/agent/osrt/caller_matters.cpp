#include "agent/osrt/caller_matters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>

#include "agent/core/faults/fault_guard.h"
#include "agent/core/loader/dynamic_section.h"
#include "agent/core/loader/loader.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent::osrt {
namespace {

std::size_t files_of_program = 0;  // the first files of the list, of which none is ever unloaded

// Where the loader looks for the files that a file loads.
struct Folders {
  bool rpath = false;  // also applies to files that are loaded by files that it loaded
  bool run_path = false;
  bool are_its_own_alone = false;  // without the system's folders (DF_1_NODEFLIB)
};

struct File {
  const ElfW(Phdr) * headers = nullptr;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  Folders folders;
  [[nodiscard]] bool holds(std::uintptr_t address) const noexcept { return address >= begin && address < end; }
};

Folders folders_of(const ElfW(Dyn) * entry) noexcept {
  Folders folders;
  for (; entry->d_tag != DT_NULL; ++entry) {
    folders.rpath = folders.rpath || entry->d_tag == DT_RPATH;
    folders.run_path = folders.run_path || entry->d_tag == DT_RUNPATH;
    folders.are_its_own_alone = folders.are_its_own_alone || (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODEFLIB) != 0);
  }
  if (folders.run_path) folders.rpath = false;  // the loader ignores it then
  return folders;
}

File describe(const dl_phdr_info& info) noexcept {
  File file;
  file.begin = UINTPTR_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      file.begin = std::min(file.begin, begin);
      file.end = std::max(file.end, begin + part.p_memsz);
    }
    if (part.p_type == PT_DYNAMIC) file.folders = folders_of(reinterpret_cast<const ElfW(Dyn)*>(begin));
  }
  return file;
}

// The data read of files, each read once: a loaded file may be cut short at any time. Guarded by the loader's lock.
class KnownFiles {
 public:
  // `index`: position in the loader's list; a file keeps its position as long as no file is unloaded.
  File at(std::size_t index, const dl_phdr_info& info) noexcept {
    if (const std::uint64_t gone = info.dlpi_subs; gone != gone_) {
      std::fill(std::begin(files_), std::end(files_), File{});
      gone_ = gone;
    }
    if (index >= kMost) return read(info);
    File& known = files_[index];
    if (known.headers != info.dlpi_phdr) known = read(info);
    return known;
  }

 private:
  static constexpr std::size_t kMost = 1'024;

  // A file that can't be read counts as holding no caller, and as having any folders.
  static File read(const dl_phdr_info& info) noexcept {
    File file;
    const auto look = [&] { file = describe(info); };
    if (!is_whole(info) || run_guarded(look) == Guarded::kFaulted) file = {.folders = {.rpath = true}};
    file.headers = info.dlpi_phdr;
    return file;
  }

  std::uint64_t gone_ = 0;
  File files_[kMost];
};
constinit KnownFiles known_files;

struct Search {
  std::uintptr_t caller;
  std::size_t index = 0;
  bool is_found = false;
  bool is_of_program = false;
  Folders of_caller;
  bool program_has_path = false;  // RPATH: a file of the program except the first, which the loader asks for everybody ...
  bool any_has_path = false;      // ... or any file except the first
};

int look(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  const File file = known_files.at(search.index, *info);
  const bool is_of_program = search.index < files_of_program;
  if (!search.is_found && file.holds(search.caller)) {
    search.is_found = true;
    search.is_of_program = is_of_program;
    search.of_caller = file.folders;
  }
  if (file.folders.rpath && search.index > 0) {
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
  if (file == nullptr || std::strchr(file, '$') != nullptr || !may_look_at_loaded_files()) return true;
  Search search{reinterpret_cast<std::uintptr_t>(caller)};
  if (visit_loaded_files_now(look, &search) == kNotNow || !search.is_found) return true;
  // The loader of a file of the program is one of the program's files, too.
  if (search.is_of_program ? search.program_has_path : search.any_has_path) return true;
  return std::strchr(file, '/') == nullptr && (search.of_caller.run_path || search.of_caller.are_its_own_alone);
}

}  // namespace lanescope::agent::osrt
