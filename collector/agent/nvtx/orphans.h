// Children that were forked while another thread's first NVTX call looked for the agent and loaded it.
//
// There is nobody in them who would end what NVTX's state says is under way, and no agent that could: their first NVTX call waits for
// ever. What the parent's agent can still do is to end it for them, without a tool: they make no ranges, and go on.
#pragma once

#include <cstddef>

#include "agent/nvtx/injection.h"

namespace lanescope::agent::nvtx {

// When the agent came into the process: children of before have none. Once, while it is loaded.
void note_loading() noexcept;

// To be called before the library's functions are put into its tables. Frees children whose NVTX of this library waits, where the agent came
// just now; returns how many. Takes some system calls for each thread and child, and that once. A child whose memory is not what
// was forked, or may not be written to, is left alone.
std::size_t free_orphans(NvtxGetExportTableFunc_t get_export_table) noexcept;

}  // namespace lanescope::agent::nvtx
