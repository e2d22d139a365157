// Functions of the loader: the C library's, or those of another tool that stands before it, but never the agent's own of these names
// (osrt/kept_callers.h, core/place_in_list.cpp).
//
// Not where a lock of the agent's is held: the loader has its own. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace lanescope::agent {

// ns for which a thread waits for one that forks before it goes on all the same, since that one may wait for it: longer than nearly all forks take, of
// which those of programs that use CUDA take 10 to 40 ms.
inline constexpr std::int64_t kForkPatience = 100'000'000;

// As dlopen().
void* load_file(const char* path, int mode) noexcept;

// As dl_iterate_phdr(). Where forks are watched (process/forks.h), no other thread forks while this one is in the list: the C library does not free the
// lock of the list in a child, which could then load no file. A thread of the agent's own waits for one that forks, two seconds at most; one of the
// program's 100 ms, since it may hold what the other one needs to fork.
using VisitFile = int (*)(dl_phdr_info*, std::size_t, void*);
int visit_loaded_files(VisitFile visit, void* data) noexcept;
// The same for a call of the program's, which may fork as it does without us.
int visit_loaded_files_for_program(VisitFile visit, void* data) noexcept;

// On a thread of the agent's own, before its first visit and behind its last one. Up to eight at a time.
void add_own_thread() noexcept;
void remove_own_thread() noexcept;

// On a thread that is about to fork. Keeps others out of visit_loaded_files() as long as they wait, and returns when none is within: one that
// is in the list is waited for two seconds, and then never again; one that only waits to enter, 20 ms. Takes no memory.
void keep_out_of_loaded_files() noexcept;
// Behind that, on the same thread in the parent.
void admit_to_loaded_files() noexcept;
// In a forked child, before anything is visited there.
void forget_visits_of_loaded_files() noexcept;

}  // namespace lanescope::agent
