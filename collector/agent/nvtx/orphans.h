// Children that were forked while another thread's first NVTX call set NVTX up, unnoticed: before the agent was there, or by _Fork() or the system call alone.
//
// Such a child has no thread that would end the set-up that NVTX's state says is in progress, so its first NVTX call waits for ever. The parent's agent can
// still end the set-up for it, without a tool: the child makes no ranges, and goes on.
//
// A child that sets NVTX up itself at the same time has the same state, and must be left alone. A child's memory is a copy made at the fork, so data that only
// this thread writes tells the two apart: if the copy shows this thread within the set-up, and the child has no such thread, nobody in the child has begun the
// set-up, and nobody will end it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/globals.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/setup.h"

namespace lanescope::agent::nvtx {

// Notes when the agent came into the process: children forked earlier have no agent, or another one. Call once, while it is loaded, before anything else.
void note_loading() noexcept;

// The library's call of the agent on this thread: the address of the frame of the agent's function, above which lie the frames that wait for it, and the return
// address.
struct AgentCall {
  const void* frame;
  const void* returns_to;
};

class ChildMemory;

// For one library, whose first NVTX call is within the agent. Each look takes some system calls for each thread and child. A child is left alone if its memory
// is not the forked one or can't be written to, or if it knows that it is a process of its own.
class Orphans {
 public:
  // Call before the library's functions are put into its tables. `setup` belongs to this library and outlives *this.
  Orphans(NvtxGetExportTableFunc_t get_export_table, const Setup& setup, AgentCall call) noexcept;
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  // Frees children whose parent had no agent yet. Looks only if the agent was loaded just now, once per process. Returns how many were freed.
  std::size_t free_from_loading() noexcept;
  // Frees children forked since then. Call at the end of the set-up; looks only if the set-up took long, as it does when it waits for the recorder.
  std::size_t free_from_set_up() noexcept;

 private:
  struct Memory;
  struct Child {
    long process;
    long parent;  // number of a thread of ours
  };

  std::size_t free_all() noexcept;
  bool free(Child numbers) noexcept;
  bool has_state_of_before(const ChildMemory& child) const noexcept;
  bool was_forked_in_set_up(const ChildMemory& child, Child numbers) noexcept;
  bool has_callers_frames(const ChildMemory& child) noexcept;

  Globals* globals_;  // null: not known
  const SetupNote* note_;
  const void* code_;  // a function of the library
  AgentCall call_;
  std::int64_t begin_;
  Memory* memory_ = nullptr;  // in pages of its own, because the program's thread may have a small stack
};

}  // namespace lanescope::agent::nvtx
