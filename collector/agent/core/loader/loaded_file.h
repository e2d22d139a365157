// Loaded files, by their names.
#pragma once

#include <cstddef>
#include <cstring>

#include <link.h>

#include "agent/core/loader/loader.h"

namespace lanescope::agent {

struct LoadedFile {
  char path[1024] = {};  // empty: there is none
};

// The first loaded file for which fits(name) is true; `name` is the last part of its path. Do any work with the file after this call, because during it the
// loader's lock is held, which a thread that loads a file takes after another lock. `visit_files`: visit_loaded_files() or visit_loaded_files_now().
template <typename Fits>
LoadedFile find_loaded_file(Fits fits, decltype(visit_loaded_files)& visit_files = visit_loaded_files) noexcept {
  struct Search {
    Fits& fits;
    LoadedFile found;
  } search{fits, {}};
  visit_files(
      [](dl_phdr_info* information, std::size_t, void* data) {
        auto& [suits, found] = *static_cast<Search*>(data);
        const char* const slash = std::strrchr(information->dlpi_name, '/');
        const std::size_t length = std::strlen(information->dlpi_name);
        if (slash == nullptr || length >= sizeof(found.path) || !suits(slash + 1)) return 0;
        std::memcpy(found.path, information->dlpi_name, length + 1);
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace lanescope::agent
