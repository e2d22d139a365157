// The functions of the target's C library that an injection needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/attach/memory_map.h"
#include "inject/remote_memory.h"

namespace lanescope::attach {

// Addresses of functions; 0 if the library does not have them.
struct CLibraryFunctions {
  std::uint64_t system_call = 0;   // long syscall(long number, ...)
  std::uint64_t error_number = 0;  // int* __errno_location()
  std::uint64_t open = 0;          // void* dlopen(const char*, int)
  std::uint64_t open_mode = 0;     // the mode for binding everything at once
  std::uint64_t open_error = 0;    // char* dlerror()
  std::uint64_t find = 0;          // void* dlsym(void*, const char*)
  std::uint64_t map = 0;           // mmap
  std::uint64_t unmap = 0;         // munmap
  std::uint64_t create_thread = 0;
  std::uint64_t detach_thread = 0;
  std::uint64_t this_thread = 0;  // pthread_self
  std::uint64_t refuse_load = 0;  // _dl_signal_error(int, const char* file, const char*, const char* text): ends a dlopen in progress
};

// Nothing if one of the first four is missing.
std::optional<CLibraryFunctions> find_c_library(const RemoteMemory& memory, const std::vector<Mapping>& map);

}  // namespace lanescope::attach
