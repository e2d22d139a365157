// NVTX in libraries that embed it and were initialised without us, or are not initialised yet.
//
// Each such library keeps its function table in a structure of its own, nvtxGlobals_v3, whose name is not exported. The agent finds it by its shape: a state,
// two export tables with known sizes and version whose functions lie in the same library, then the table and pointers to it. The loader has filled in these
// addresses, so only places that the loader has filled in are examined; the other data of a library is not.
#pragma once

#include <algorithm>
#include <cstddef>

#include "agent/nvtx/injection.h"

namespace lanescope::agent::attach {

struct LateNvtx {
  std::size_t taken_over = 0;      // libraries whose calls are recorded from now on
  std::size_t used_before = 0;     // those of them that called NVTX before, without a tool
  std::size_t owned_by_other = 0;  // libraries whose calls go to another tool, which keeps them
  std::size_t unreadable = 0;      // libraries whose headers can't be read any more

  [[nodiscard]] bool is_nothing() const noexcept { return taken_over + used_before + owned_by_other + unreadable == 0; }
  // Adds the result of a later look. If a library was unloaded in the meantime, a look finds again the libraries that stay as they are.
  void add(const LateNvtx& later) noexcept {
    taken_over += later.taken_over;
    used_before += later.used_before;
    owned_by_other = std::max(owned_by_other, later.owned_by_other);
    unreadable = std::max(unreadable, later.unreadable);
  }
};

enum class Search { kAll, kNew };  // kNew: only files loaded since the last call

// Takes over libraries. With kAll, libraries that are ours already count as taken over. O(addresses that the loader has filled in): 1 ms for a program of
// ordinary size. Any thread: one looks at a time, and a thread that waited for it finds nothing new.
LateNvtx take_over_nvtx(Search search) noexcept;

// For a forked child: a thread that was looking in the parent does not exist there.
void forget_search() noexcept;

// From here on a process that forks first sets NVTX up in all libraries that were loaded since its last fork, and waits, at most half a second, for threads
// that are doing so. So no child finds NVTX being set up by a thread that it does not have, for which it would wait for ever. A process with one thread does
// nothing, nor does one whose NVTX_INJECTION64_PATH names another tool than this agent. Call it while the agent is loaded.
void set_nvtx_up_before_forks() noexcept;

// The same at once, even with one thread, before a process forbids itself the system calls by which NVTX finds us at its first call. Does nothing if NVTX
// should not find us, or if the forks of the process are not watched.
void set_nvtx_up() noexcept;

// The same for the libraries whose NVTX nobody is setting up: waits for no other thread, so it may be called within a first NVTX call. Afterwards the first
// NVTX call of a loaded library needs no loader, whose lock may belong for ever to another thread in a child that was forked unannounced (_Fork, the system
// call). Any thread; takes no memory of the program's.
void set_fresh_nvtx_up() noexcept;

// Loads what NVTX's variable names, if it is the library that passes on to this agent (nvtx_entry/library.cpp), and makes the agent known by the path at which
// that library looks for it. Then a first NVTX call opens no file, and holds no signal handler back from the loader. Call it while the agent is loaded with the
// program.
void load_nvtx_entry() noexcept;

// Ends the set-up that a library's first NVTX call has begun, on the thread of that call, once the agent has put in its functions: NVTX would do so when the
// call returns to it. A signal handler that was held until then may make NVTX calls before that, and would wait for itself.
void end_set_up(NvtxGetExportTableFunc_t get_export_table) noexcept;

}  // namespace lanescope::agent::attach
