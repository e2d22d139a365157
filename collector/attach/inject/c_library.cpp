#include "inject/c_library.h"

#include <dlfcn.h>

namespace lanescope::attach {

std::optional<CLibraryFunctions> find_c_library(const RemoteMemory& memory, const std::vector<Mapping>& map) {
  const Mapping* c_library = find_file(map, is_glibc);
  if (c_library == nullptr) return std::nullopt;
  // Before glibc 2.34, loading and threads were in separate files, which not every program loads.
  const auto named = [&](std::string_view begin) { return find_file(map, [begin](std::string_view path) { return file_name(path).starts_with(begin); }); };
  const Mapping* const others[] = {named("libdl"), named("libpthread")};
  const auto find = [&](const char* name) -> std::uint64_t {
    if (const auto address = find_function(memory, c_library->begin, name)) return *address;
    for (const Mapping* other : others)
      if (other != nullptr)
        if (const auto address = find_function(memory, other->begin, name)) return *address;
    return 0;
  };
  CLibraryFunctions functions;
  functions.system_call = find("syscall");
  functions.error_number = find("__errno_location");
  functions.open = find("dlopen");
  functions.open_mode = RTLD_NOW;
  functions.open_error = find("dlerror");
  functions.find = find("dlsym");
  functions.map = find("mmap");
  functions.unmap = find("munmap");
  functions.create_thread = find("pthread_create");
  functions.detach_thread = find("pthread_detach");
  functions.this_thread = find("pthread_self");
  functions.refuse_load = find("_dl_signal_error");
  // If the C library does not have this function, the loader's is used.
  if (const Mapping* loader = find_file(map, is_loader); functions.refuse_load == 0 && loader != nullptr)
    functions.refuse_load = find_function(memory, loader->begin, "_dl_signal_error").value_or(0);
  if (functions.open == 0) {
    constexpr std::uint64_t kInternalOpenMode = 0x8000'0000;  // __RTLD_DLOPEN of glibc
    functions.open = find("__libc_dlopen_mode");
    functions.open_mode |= kInternalOpenMode;
    functions.open_error = functions.find = 0;
  }
  if (functions.system_call == 0 || functions.error_number == 0 || functions.open == 0) return std::nullopt;
  return functions;
}

}  // namespace lanescope::attach
