// Calls of a library that is loaded, of one that the loader still works on, and of one that the program writes to.
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

// Redirects calls of getppid(). Its address is looked up, because this program's own slot may have been changed by now.
Redirection to_own_parent() { return {"getppid", dlsym(RTLD_DEFAULT, "getppid"), reinterpret_cast<void*>(&own_parent), true}; }

// The whole pages of the library that are read-only after loading.
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

bool is_open_to_writes(std::uintptr_t place) {
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

TEST_CASE("functions of the C library are found there, and others are not") {
  CHECK(is_found_in_c_library("getppid", nullptr));
  CHECK(is_found_in_c_library("pthread_cond_wait", "GLIBC_2.3.2"));
  CHECK_FALSE(is_found_in_c_library("__cxa_throw", nullptr));
  CHECK_FALSE(is_found_in_c_library("no_such_function", nullptr));
}

TEST_CASE("what the program may write, and what not, is as before once calls of it go elsewhere") {
  void* library = dlopen(LANESCOPE_CLOSED_LIBRARY, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto ask = reinterpret_cast<pid_t (*)()>(dlsym(library, "ask_parent"));
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  const Region region = region_of("closed_library");
  REQUIRE(region.end - region.begin >= 3 * page);
  const std::uintptr_t last = region.end - page;  // where the table of functions lies
  const bool is_written_to = GENERATE(false, true);
  const int rights = is_written_to ? PROT_READ | PROT_WRITE : PROT_READ;  // for example, a program that exchanges its own slots
  REQUIRE(mprotect(reinterpret_cast<void*>(last), page, rights) == 0);

  const Redirection redirection[] = {to_own_parent()};
  CallSlots slots;
  CHECK(slots.redirect(redirection).calls >= 1);
  CHECK(ask() == kOwnAnswer);
  CHECK(is_open_to_writes(last) == is_written_to);
  for (std::uintptr_t place = region.begin; place < last; place += page) CHECK_FALSE(is_open_to_writes(place));
  dlclose(library);
}

TEST_CASE("a file that the loader has not closed yet is left to it, and taken when it is closed") {
  void* library = dlopen(LANESCOPE_CLOSED_LIBRARY, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto ask = reinterpret_cast<pid_t (*)()>(dlsym(library, "ask_parent"));
  const Region region = region_of("closed_library");
  REQUIRE(region.end > region.begin);
  REQUIRE_FALSE(is_open_to_writes(region.begin));
  const Redirection redirection[] = {to_own_parent()};
  auto* const place = reinterpret_cast<void*>(region.begin);

  // The state during relocation.
  REQUIRE(mprotect(place, region.end - region.begin, PROT_READ | PROT_WRITE) == 0);
  CallSlots slots;
  slots.redirect(redirection);
  CHECK(is_open_to_writes(region.begin));  // the loader writes there
  CHECK(ask() != kOwnAnswer);

  REQUIRE(mprotect(place, region.end - region.begin, PROT_READ) == 0);
  CHECK(slots.redirect(redirection).calls >= 1);  // although no file was loaded in between
  CHECK_FALSE(is_open_to_writes(region.begin));
  CHECK(ask() == kOwnAnswer);
  dlclose(library);
}
