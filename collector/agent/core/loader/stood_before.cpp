#include "agent/core/loader/stood_before.h"

#include <dlfcn.h>

#include "agent/core/loader/loaded_file.h"
#include "agent/core/loader/loader.h"

namespace lanescope::agent {

void* StoodBefore::function(const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
  void* library = hidden_.load(std::memory_order_relaxed);
  if (library == nullptr) {
    const LoadedFile file = find_loaded_file(is_library_);
    library = *file.path != '\0' ? load_file(file.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    hidden_.store(library, std::memory_order_relaxed);
  }
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace lanescope::agent
