// Children that were forked while another thread's first NVTX call sets NVTX up, in a way that nobody notices: before the agent is there, or
// by _Fork() or the system call alone.
//
// There is nobody in them who would end what NVTX's state says is under way: their first NVTX call waits for ever. What the parent's agent
// can still do is to end it for them, without a tool: they make no ranges, and go on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/globals.h"
#include "agent/nvtx/injection.h"

namespace lanescope::agent::nvtx {

// When the agent came into the process: children of before have none. Once, while it is loaded.
void note_loading() noexcept;

// Of one library, whose first NVTX call is within the agent. Each look takes some system calls for each thread and child. A child whose memory is
// not what was forked, or may not be written to, is left alone, and so is one that knows that it is a process of its own.
class Orphans {
 public:
  // To be called before the library's functions are put into its tables.
  explicit Orphans(NvtxGetExportTableFunc_t get_export_table) noexcept;
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

  Globals* globals_;  // null: not known
  std::int64_t begin_;
  Memory* memory_ = nullptr;  // pages of its own: the program's thread may have a small stack
};

}  // namespace lanescope::agent::nvtx
