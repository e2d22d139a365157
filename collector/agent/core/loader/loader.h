// Functions of the loader: the C library's, or those of another tool that stands before it, but never the agent's own of these names
// (osrt/kept_callers.h, core/loader/place_in_list.cpp).
//
// Not where a lock of the agent's is held: the loader has its own. Any thread.
#pragma once

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
// The same for a call of the program's, which may fork as it does without us.
int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept;

// On a thread of the agent's own, before its first visit and behind its last one. Up to eight at a time.
void add_own_thread() noexcept;
void remove_own_thread() noexcept;

// On the thread of this fork, which is waiting. It is forking when this returns, and others keep out of visit_loaded_files() until the fork is under way no
// more. One that is in the list is waited for two seconds, and then never again; one that is about to enter, 100 ms. Takes no memory.
void wait_for_visits_of_loaded_files(ForkUnderWay& fork) noexcept;
// In a forked child, before anything is visited there.
void forget_visits_of_loaded_files() noexcept;

}  // namespace lanescope::agent
