// Calls of the target into the C library: how long they took, from outside.
//
// Works where the agent is preloaded (LD_PRELOAD), so that its functions stand before those of the C library (wrappers.cpp), and in a
// process that is attached to, whose calls are redirected to them (core/loader/call_slots.h). What is shorter than the session's threshold is not
// recorded, and until a thread's first longer call nothing of the session is touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/core/clock.h"
#include "agent/core/loader/call_slots.h"
#include "agent/core/loader/turn.h"
#include "agent/core/quiet.h"

namespace lanescope::agent::osrt {

// A function of the C library, by the name under which the target calls it.
struct Function {
  const char* name;
  const char* version;  // of its symbol, where it has several; else null
  std::atomic<void*> next{nullptr};
  const char* plain = nullptr;        // where it is a form of a function that compilers and headers put in its place: that one's name
  std::atomic<bool> is_found{false};  // by files that look the name up (core/loader/call_slots.h); known from find() on
  [[nodiscard]] const char* shown() const noexcept { return plain != nullptr ? plain : name; }

  // The one that the target would call without us, or what stands in for it (later_functions.h). Any thread.
  void* address() noexcept {
    void* known = next.load(std::memory_order_acquire);
    return known != nullptr ? known : find();
  }
  void* find() noexcept;

  // Leads to `own` what calls it.
  template <typename Own>
  Redirection redirected_to(Own* own) noexcept {
    void* const from = address();
    return {name, from, reinterpret_cast<void*>(own), is_found.load(std::memory_order_relaxed)};
  }
};

// Whether calls are recorded, as far as can be said in two loads.
extern constinit std::atomic<bool> is_active;

enum class Recorded {
  kCalls,
  kPythonLock,  // alone
};
// What redirects the calls of a process that runs already; null where there are no wrappers, as in tests, and where the agent stands before
// them. Safe to be called again, for files that were loaded meanwhile.
extern constinit std::atomic<Redirected (*)(Recorded)> redirect;
// The same of those calls alone by which a process forbids itself system calls (filter_calls.h), or asks who awaits a signal (process/handlers.h). Any
// thread.
extern constinit std::atomic<void (*)()> redirect_process;

// The same of dlopen() and dlsym() alone, so that what is loaded is looked at without delay (look_at_new_files). Any thread.
extern constinit std::atomic<void (*)()> redirect_loading;
// Who looks at files that the program has loaded: called on its thread before it gets at them; null where nobody does. Where dlopen() has to find its caller
// on the stack (kept_callers.h), that is before the next dlsym(), and not behind the call itself.
extern constinit std::atomic<void (*)()> look_at_new_files;
// Whose turn it is to redirect.
extern constinit Turn::Holder redirecting;

// From here on such calls of the files that are loaded now, or before a fork, come to the agent in a process that does not record its calls.
void watch_process_calls() noexcept;

// A call has returned: just now, which is the result. Keeps errno.
std::int64_t note(const char* name, std::int64_t start) noexcept;

template <typename Result, typename... Parameters>
Result call(Function& function, Parameters... parameters) noexcept(false) {
  const auto next = reinterpret_cast<Result (*)(Parameters...)>(function.address());
  if (!is_active.load(std::memory_order_relaxed) || Quiet::is_on()) return next(parameters...);
  const std::int64_t start = monotonic_now();
  const Result result = next(parameters...);
  note(function.shown(), start);
  return result;
}

}  // namespace lanescope::agent::osrt
