// The places through which loaded files call functions of other files (their global offset tables).
#pragma once

#include <cstddef>
#include <span>

#include "agent/core/loader/new_files.h"

namespace lanescope::agent {

struct Redirection {
  constexpr Redirection() noexcept = default;  // redirects nothing
  constexpr Redirection(const char* function, void* today, void* then, bool is_what_is_found) noexcept
      : name(function), from(today), to(then), is_found(is_what_is_found) {}

  const char* name = nullptr;  // of the function
  void* from = nullptr;        // the function that is called today; null: there is none
  void* to = nullptr;          // the function that is called from now on
  bool is_found = false;       // true if files that look the name up find `from`; else another function stands before it, for example the program's own, and
                               // slots that are not bound yet are left alone
};

// True if files that look this name up find the C library's function. Asks the loader, so call it while the agent is loaded: later it may wait for a thread
// that loads a library and waits for us.
bool is_found_in_c_library(const char* name, const char* version) noexcept;

struct Redirected {
  std::size_t calls = 0;             // places that were changed
  std::size_t unreadable_files = 0;  // whose calls are left as they are, for example because the file behind their memory is gone
};

// The same as CallSlots::redirect(), but only in the file whose code holds this address.
Redirected redirect_calls_of(const void* code, std::span<const Redirection> redirections) noexcept;

// One thread at a time.
class CallSlots {
 public:
  // Redirects calls from `from` to `to` in all files that are loaded now; calls in progress end where they began. Slots that hold something else, for example
  // another tool's function, are left alone, and the access rights of their pages stay as they are. Later calls, with the same redirections, treat the files
  // that were loaded since. O(relocations of the new files): some milliseconds in a large program the first time. Files on which the loader still works, on
  // another thread, are visited again at the next look.
  Redirected redirect(std::span<const Redirection> redirections) noexcept;

 private:
  NewFiles files_;
};

}  // namespace lanescope::agent
