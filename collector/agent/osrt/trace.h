// The target's calls into the C library: how long they took, measured from outside.
//
// Works if the agent is preloaded (LD_PRELOAD), so that its functions stand before those of the C library (wrappers.cpp), and in a process that is attached to,
// whose calls are redirected to them (core/loader/call_slots.h). Calls shorter than the session's threshold are not recorded, and until a thread's first longer
// call nothing of the session is touched.
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
  const char* version;  // version of its symbol if there are several; else null
  std::atomic<void*> next{nullptr};
  const char* plain = nullptr;        // for a variant that compilers and headers substitute for a function: the function's name
  std::atomic<bool> is_found{false};  // by files that look the name up (core/loader/call_slots.h); known after find()
  [[nodiscard]] const char* shown() const noexcept { return plain != nullptr ? plain : name; }

  // The function that the target would call without us, or its substitute (later_functions.h). Any thread.
  void* address() noexcept {
    void* known = next.load(std::memory_order_acquire);
    return known != nullptr ? known : find();
  }
  void* find() noexcept;

  // Redirects calls of this function to `own`.
  template <typename Own>
  Redirection redirected_to(Own* own) noexcept {
    void* const from = address();
    return {name, from, reinterpret_cast<void*>(own), is_found.load(std::memory_order_relaxed)};
  }
};

// True if the agent was loaded with the program, so that its functions stand before those of the C library. Call it while the agent is loaded.
bool is_preloaded() noexcept;

// True if calls are recorded, as far as two loads can tell.
extern constinit std::atomic<bool> is_active;

enum class Recorded {
  kCalls,
  kPythonLock,  // nothing else
};
// Redirects the calls of a process that runs already. Null if there are no wrappers, as in tests, or if the agent stands before the functions. May be called
// again, for files that were loaded in the meantime.
extern constinit std::atomic<Redirected (*)(Recorded)> redirect;
// The same, only for the calls by which a process forbids itself system calls (filter_calls.h), or asks who handles a signal (process/handlers.h). Any thread.
extern constinit std::atomic<void (*)()> redirect_process;

// The same, only for dlopen() and dlsym(), so that loaded files are examined without delay (look_at_new_files). Any thread.
extern constinit std::atomic<void (*)()> redirect_loading;
// Examines files that the program has loaded: called on the program's thread before it can use them; null if nobody does. If the agent is preloaded, this sets
// NVTX up in them, also while no session follows. If dlopen() must find its caller on
// the stack (kept_callers.h), it is called before the next dlsym(), not after the call itself.
extern constinit std::atomic<void (*)()> look_at_new_files;
// The thread that has the turn to redirect.
extern constinit Turn::Holder redirecting;

// From here on, in a process that does not record its calls, such calls of files that are loaded now, or before a fork, come to the agent.
void watch_process_calls() noexcept;

// A call has returned. Returns the present time. Keeps errno.
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
