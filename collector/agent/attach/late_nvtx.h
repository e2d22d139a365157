// NVTX in libraries that embed it and were initialised without us, or not yet.
//
// Each such library keeps its function table in a structure of its own, nvtxGlobals_v3, whose name is not exported. It is found by its
// shape: a state, two export tables with known sizes and version whose functions lie in the same library, then the table, and pointers to
// it. The loader has filled in these addresses, and is asked where it did so: what else a library's data holds is not looked at.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lanescope::agent::attach {

struct LateNvtx {
  std::size_t taken_over = 0;      // libraries whose calls are recorded from now on
  std::size_t used_before = 0;     // those of them that have called NVTX already, without a tool
  std::size_t owned_by_other = 0;  // libraries whose calls go to another tool, which keeps them
  std::size_t unreadable = 0;      // libraries whose headers are not there any more

  [[nodiscard]] bool is_nothing() const noexcept { return taken_over + used_before + owned_by_other + unreadable == 0; }
  // What a later look has found; those that stay as they are it finds again where a library was unloaded meanwhile.
  void add(const LateNvtx& later) noexcept {
    taken_over += later.taken_over;
    used_before += later.used_before;
    owned_by_other = std::max(owned_by_other, later.owned_by_other);
    unreadable = std::max(unreadable, later.unreadable);
  }
};

enum class Search { kAll, kNew };  // kNew: what was loaded since the last call

// Takes over libraries; of all, those that are ours already are counted as such. O(addresses that the loader has filled in): 1 ms for a program of
// ordinary size. Any thread: one at a time looks, and another that would finds nothing new after it.
LateNvtx take_over_nvtx(Search search) noexcept;

// In a forked child: whoever looked in the parent does not exist there.
void forget_search() noexcept;

// From here on a process that forks sets NVTX up before it does, in all libraries that were loaded since it last forked, and waits, half a
// second at most, for threads that are at it: so no child finds NVTX being set up by a thread that it does not have, and waits for it
// for ever. A process of one thread does nothing. Where NVTX_INJECTION64_PATH names another tool than this agent, neither does any. To be
// called while the agent is loaded.
void set_nvtx_up_before_forks() noexcept;

// The same at once, also for one thread: before a process forbids itself the system calls by which NVTX finds us at its first call. Does nothing
// where NVTX is not to find us, and in a process whose forks are not looked at.
void set_nvtx_up() noexcept;

}  // namespace lanescope::agent::attach
