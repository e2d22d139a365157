// Calls of a library that is loaded, and of one on which the loader still works.
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/loader/call_slots.h"
#include "support/catch.h"

using namespace lanescope::agent;

namespace {

constexpr pid_t kOwnAnswer = -4711;
pid_t own_parent() { return kOwnAnswer; }

// What of the library is read-only after loading, whole pages.
struct Region {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

Region region_of(const char* name) {
  struct Search {
    std::string name;
    Region found;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* data) {
        auto& looked_for = *static_cast<Search*>(data);
        if (std::string(file->dlpi_name).find(looked_for.name) == std::string::npos) return 0;
        const auto page = static_cast<std::uintptr_t>(getpagesize());
        for (int i = 0; i < file->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = file->dlpi_phdr[i];
          if (part.p_type != PT_GNU_RELRO) continue;
          const std::uintptr_t begin = file->dlpi_addr + part.p_vaddr;
          looked_for.found = {begin / page * page, (begin + part.p_memsz) / page * page};
        }
        return 1;
      },
      &search);
  return search.found;
}

bool is_writable(std::uintptr_t place) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string rights;
    fields >> std::hex >> begin >> dash >> end >> rights;
    if (place >= begin && place < end) return rights[1] == 'w';
  }
  return false;
}

}  // namespace

TEST_CASE("a file that the loader has not closed yet is left to it, and taken when it is closed") {
  void* library = dlopen(LANESCOPE_CLOSED_LIBRARY, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto ask = reinterpret_cast<pid_t (*)()>(dlsym(library, "ask_parent"));
  const Region region = region_of("closed_library");
  REQUIRE(region.end > region.begin);
  REQUIRE_FALSE(is_writable(region.begin));
  const Redirection redirection[] = {{"getppid", reinterpret_cast<void*>(&getppid), reinterpret_cast<void*>(&own_parent)}};
  auto* const place = reinterpret_cast<void*>(region.begin);

  // As while it is being relocated.
  REQUIRE(mprotect(place, region.end - region.begin, PROT_READ | PROT_WRITE) == 0);
  CallSlots slots;
  slots.redirect(redirection);
  CHECK(is_writable(region.begin));  // the loader writes there
  CHECK(ask() != kOwnAnswer);

  REQUIRE(mprotect(place, region.end - region.begin, PROT_READ) == 0);
  CHECK(slots.redirect(redirection).calls >= 1);  // although no file was loaded meanwhile
  CHECK_FALSE(is_writable(region.begin));
  CHECK(ask() == kOwnAnswer);
  dlclose(library);
}
