// A library of the process before whose functions a library of ours stands (LD_PRELOAD); finds its own functions.
//
// Threads: any. Do not call it while a lock of the agent's is held.
#pragma once

#include <atomic>

namespace lanescope::agent {

class StoodBefore {
 public:
  // Returns true if a file of this name, the last part of its path, is the library.
  using IsLibrary = bool (*)(const char* file_name);
  explicit constexpr StoodBefore(IsLibrary is_library) noexcept : is_library_(is_library) {}

  // The address of the library's function; null if it has none of that name. Also finds a library that the program, as Python does, opened by itself and hides
  // from others.
  [[nodiscard]] void* function(const char* name) noexcept;

 private:
  IsLibrary is_library_;
  std::atomic<void*> hidden_{nullptr};
};

}  // namespace lanescope::agent
