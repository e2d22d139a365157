// Functions of the loader: the C library's, or those of another tool that stands before it, but never the agent's own of these names (osrt/kept_callers.h,
// core/loader/place_in_list.cpp).
//
// Do not call them while a lock of the agent's is held, because the loader has its own. Any thread.
#pragma once

#include <climits>
#include <cstddef>

#include <link.h>

#include "agent/core/forks_under_way.h"

namespace lanescope::agent {

// Same as dlopen().
void* load_file(const char* path, int mode) noexcept;

// The agent may have been loaded with the program by another path than the one by which the libraries that use it as their tool look for it. From here on the
// loader also knows it by that path, even if the path no longer leads to a file (chroot). Call it while the agent is loaded.
void be_known_by_tools_path() noexcept;

// Same as dl_iterate_phdr(). If forks are watched (process/forks.h), no other thread should fork while this one is in the list: the C library does not free the
// lock of the list in a child, which could then load no file. A thread of the agent's own waits for threads that fork, at most two seconds; a thread of the
// program waits 100 ms (kForkPatience), because it may hold what they need to fork.
using VisitFile = int (*)(dl_phdr_info*, std::size_t, void*);
int visit_loaded_files(VisitFile visit, void* data) noexcept;
// The same during a call of the program's that would not wait for the list without us. If another thread of the program stays in the list for a millisecond,
// nothing is visited, because that thread may wait for this call. Only threads whose calls come to the agent are noticed (core/loader/place_in_list.cpp).
// A thread of the agent's own visits nothing if a thread of the program stays for 100 ms and no other one leaves, as one that has left by a jump (longjmp)
// stays for ever. Nothing is visited in a child that was forked while a thread was in the list, and in its children (has_lost_list()).
inline constexpr int kNotNow = INT_MIN;
int visit_loaded_files_now(VisitFile visit, void* data) noexcept;
// True if visit_loaded_files_now() would visit something now.
bool is_list_free_of_program() noexcept;
// True if the lock of the list belongs for ever to a thread that this process does not have, as far as is known.
bool has_lost_list() noexcept;
// While such an object lives, visit_loaded_files_now() visits nothing: threads may be in the list by calls that did not come to the agent.
class UnseenVisits {
 public:
  UnseenVisits() noexcept;
  ~UnseenVisits();
  UnseenVisits(const UnseenVisits&) = delete;
  UnseenVisits& operator=(const UnseenVisits&) = delete;
};
// The same for a call of the program's, which may fork as it does without us.
int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept;

// The function that the program calls without us.
void* real_dl_iterate_phdr() noexcept;
// The function that it calls instead, if the agent is loaded with the program or has redirected its calls. Same as visit_loaded_files_for_program().
extern "C" [[gnu::visibility("hidden")]] int lanescope_own_dl_iterate_phdr(VisitFile visit, void* data);

// Call on a thread of the agent's own, before its first visit and after its last. At most eight such threads at a time.
void add_own_thread() noexcept;
void remove_own_thread() noexcept;

// Call on the thread of this fork, whose stage is kWaiting. When this returns, the stage is kForking, and others stay out of visit_loaded_files() until the
// fork has ended. A thread that is in the list is waited for two seconds, and then never again; one that is about to enter, 100 ms,
// or half a second if it is ours. Takes no memory.
void wait_for_visits_of_loaded_files(ForkUnderWay& fork) noexcept;
// Call in a forked child, before any visit there.
void forget_visits_of_loaded_files() noexcept;

}  // namespace lanescope::agent
