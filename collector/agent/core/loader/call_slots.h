// The places through which loaded files call functions of other files (their global offset tables).
#pragma once

#include <cstddef>
#include <span>

#include "agent/core/loader/new_files.h"

namespace lanescope::agent {

struct Redirection {
  constexpr Redirection() noexcept = default;  // of nothing
  constexpr Redirection(const char* function, void* today, void* then, bool is_what_is_found) noexcept
      : name(function), from(today), to(then), is_found(is_what_is_found) {}

  const char* name = nullptr;  // of the function
  void* from = nullptr;        // that is called today; null: there is none
  void* to = nullptr;          // that is called from now on
  bool is_found = false;       // by files that look the name up; else another function stands before it, the program's own for one, and slots that are not
                               // bound yet are left alone
};

// Whether files that look this name up find the C library's function. A look-up of the loader's: while the agent is loaded, since it may wait later for a
// thread that loads a library and waits for us.
bool is_found_in_c_library(const char* name, const char* version) noexcept;

struct Redirected {
  std::size_t calls = 0;             // places that were changed
  std::size_t unreadable_files = 0;  // whose calls go where they went: what lay behind their memory is not there any more, for one
};

// The same as CallSlots::redirect(), in the one file whose code holds this address.
Redirected redirect_calls_of(const void* code, std::span<const Redirection> redirections) noexcept;

// One thread at a time.
class CallSlots {
 public:
  // Lets calls to `from` go to `to`, in all files that are loaded now; calls that are under way end where they began. Slots that hold
  // something else, another tool's function for one, are left alone, and so are the program's rights to write where they lie. Asked again, those of files that
  // came meanwhile, with the same redirections. O(relocations of the files that are new), some milliseconds in a large program the first time. Files on which
  // the loader still works, on another thread, come with the next look, too.
  Redirected redirect(std::span<const Redirection> redirections) noexcept;

 private:
  NewFiles files_;
};

}  // namespace lanescope::agent
