// Functions of the loader: the C library's, or those of another tool that stands before it, but never the agent's own of these names
// (osrt/kept_callers.h, core/loader/place_in_list.cpp).
//
// Not where a lock of the agent's is held: the loader has its own. Any thread.
#pragma once

#include <climits>
#include <cstddef>

#include <link.h>

#include "agent/core/forks_under_way.h"

namespace lanescope::agent {

// As dlopen().
void* load_file(const char* path, int mode) noexcept;

// Where the agent was loaded with the program, by another path than the one by which the libraries that take it as their tool look for it: from here on the
// loader knows it by that path, too, also where no file of that path is to be found any more (chroot). To be called while the agent is loaded.
void be_known_by_tools_path() noexcept;

// As dl_iterate_phdr(). Where forks are watched (process/forks.h), no other thread is to fork while this one is in the list: the C library does not free
// the lock of the list in a child, which could then load no file. A thread of the agent's own waits for those that fork, two seconds at most; one of
// the program's 100 ms (kForkPatience), since it may hold what they need to fork.
using VisitFile = int (*)(dl_phdr_info*, std::size_t, void*);
int visit_loaded_files(VisitFile visit, void* data) noexcept;
// The same within a call of the program's that alone would not wait for the list. Where another thread of the program stays in it for a millisecond, nothing
// is visited: that thread may wait for this call. Seen are those whose calls come to the agent (core/loader/place_in_list.cpp).
inline constexpr int kNotNow = INT_MIN;
int visit_loaded_files_now(VisitFile visit, void* data) noexcept;
// Whether no other thread of the program stays in the list for a millisecond.
bool is_list_free_of_program() noexcept;
// While one lives, it visits nothing: threads may be in the list by calls that did not come to the agent.
class UnseenVisits {
 public:
  UnseenVisits() noexcept;
  ~UnseenVisits();
  UnseenVisits(const UnseenVisits&) = delete;
  UnseenVisits& operator=(const UnseenVisits&) = delete;
};
// The same for a call of the program's, which may fork as it does without us.
int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept;

// What the program calls without us.
void* real_dl_iterate_phdr() noexcept;
// What it calls in its place, where the agent is loaded with the program or has redirected its calls; as visit_loaded_files_for_program().
extern "C" [[gnu::visibility("hidden")]] int lanescope_own_dl_iterate_phdr(VisitFile visit, void* data);

// On a thread of the agent's own, before its first visit and behind its last one. Up to eight at a time.
void add_own_thread() noexcept;
void remove_own_thread() noexcept;

// On the thread of this fork, which is waiting. It is forking when this returns, and others keep out of visit_loaded_files() until the fork is under way no
// more. One that is in the list is waited for two seconds, and then never again; one that is about to enter, 100 ms. Takes no memory.
void wait_for_visits_of_loaded_files(ForkUnderWay& fork) noexcept;
// In a forked child, before anything is visited there.
void forget_visits_of_loaded_files() noexcept;

}  // namespace lanescope::agent
