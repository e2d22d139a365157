// dl_iterate_phdr() of the agent. All callers except one see the same as without us.
//
// The runtime of AddressSanitizer, if it is a library, looks at the list of loaded files while it starts, and ends the program unless it comes first. If we are
// preloaded, we come before it, which does no harm, because we call the functions that it stands before. So our libraries are hidden from this runtime.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <link.h>

#include "agent/core/loader/loader.h"

namespace {

using lanescope::agent::visit_loaded_files_for_program;
using lanescope::agent::VisitFile;

constinit std::atomic<bool> is_program_starting{true};

std::string_view name_of(const dl_phdr_info& file) noexcept {
  const char* const slash = std::strrchr(file.dlpi_name, '/');
  return slash != nullptr ? slash + 1 : file.dlpi_name;
}

bool is_sanitizer(std::string_view name) noexcept { return name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan"); }

bool holds(const dl_phdr_info& file, std::uintptr_t address) noexcept {
  return std::any_of(file.dlpi_phdr, file.dlpi_phdr + file.dlpi_phnum, [&](const ElfW(Phdr) & part) {
    const std::uintptr_t begin = file.dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz;
  });
}

bool is_of_sanitizer(const void* code) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(code);
  const auto look = [](dl_phdr_info* file, std::size_t, void* data) {
    return is_sanitizer(name_of(*file)) && holds(*file, *static_cast<std::uintptr_t*>(data)) ? 1 : 0;
  };
  return visit_loaded_files_for_program(look, &address) != 0;  // the sanitizer stands before functions that the other visit needs, and has not started yet
}

struct Visit {
  VisitFile callers;
  void* data;
};

int visit_others(dl_phdr_info* file, std::size_t size, void* data) {
  const auto& visit = *static_cast<const Visit*>(data);
  return name_of(*file).starts_with("liblanescope-") ? 0 : visit.callers(file, size, visit.data);
}

}  // namespace

extern "C" int lanescope_own_dl_iterate_phdr(VisitFile visit, void* data) {
  if (!is_program_starting.load(std::memory_order_relaxed) || !is_of_sanitizer(__builtin_return_address(0))) return visit_loaded_files_for_program(visit, data);
  Visit of_others{visit, data};
  return visit_loaded_files_for_program(visit_others, &of_others);
}

extern "C" __attribute__((visibility("default"), alias("lanescope_own_dl_iterate_phdr"))) int lanescope_dl_iterate_phdr(VisitFile visit,
                                                                                                                        void* data) __asm__("dl_iterate_phdr");

// The runtime of the sanitizer, on which the program depends, has started by now.
__attribute__((constructor)) static void end_of_start() { is_program_starting.store(false, std::memory_order_relaxed); }
