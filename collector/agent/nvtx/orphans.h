// Children that were forked while another thread's first NVTX call sets NVTX up, in a way that nobody notices: before the agent is there, or
// by _Fork() or the system call alone.
//
// There is nobody in them who would end what NVTX's state says is under way: their first NVTX call waits for ever. What the parent's agent
// can still do is to end it for them, without a tool: they make no ranges, and go on.
//
// A child that sets NVTX up itself at the same time has the same state, and must be left alone. A child's memory is a copy that was made when it was
// forked, so what this thread alone writes tells them apart: where it stood within the set-up, and where the child has no such thread,
// nobody in there has begun, and nobody will end it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/globals.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/setup.h"

namespace lanescope::agent::nvtx {

// When the agent came into the process: children of before have none. Once, while it is loaded.
void note_loading() noexcept;

// Of the agent by the library, on this thread: where the frame of the agent's function lies, above which those lie that wait for it, and to where it returns.
struct AgentCall {
  const void* frame;
  const void* returns_to;
};

class ChildMemory;

// Of one library, whose first NVTX call is within the agent. Each look takes some system calls for each thread and child. A child whose memory is
// not what was forked, or may not be written to, is left alone, and so is one that knows that it is a process of its own.
class Orphans {
 public:
  // To be called before the library's functions are put into its tables. `setup`: of this library, and outlives this.
  Orphans(NvtxGetExportTableFunc_t get_export_table, const Setup& setup, AgentCall call) noexcept;
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  // Those whose parent's agent was not there yet. Looks where it came just now, once a process. Returns how many were freed.
  std::size_t free_from_loading() noexcept;
  // Those since then. To be called at the end of the set-up; looks where that took its time, as it does where the recorder is waited for.
  std::size_t free_from_set_up() noexcept;

 private:
  struct Memory;

  std::size_t free_all() noexcept;
  bool free(long child) noexcept;
  bool has_state_of_before(const ChildMemory& child) const noexcept;
  bool was_forked_in_set_up(const ChildMemory& child, long process) noexcept;
  bool has_callers_frames(const ChildMemory& child) noexcept;

  Globals* globals_;  // null: not known
  const SetupNote* note_;
  const void* code_;  // of the library: a function of its
  AgentCall call_;
  std::int64_t begin_;
  Memory* memory_ = nullptr;  // pages of its own: the program's thread may have a small stack
};

}  // namespace lanescope::agent::nvtx
