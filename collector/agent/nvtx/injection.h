// The agent as an NVTX tool: it takes over the NVTX calls of each library that embeds NVTX, and writes them as records.
#pragma once

#define NVTX_NO_IMPL  // types alone; the agent makes no NVTX calls itself
#include <nvtx3/nvToolsExt.h>

namespace lanescope::agent::nvtx {

enum class Injection { kInstalled, kDeclined };

// Puts our handlers into the function tables of the library that asks. Called once for each such library, on any thread. Declines, so that
// NVTX costs that library nothing, where there is no session and none is waited for, or the tables are not what this agent knows.
Injection install(NvtxGetExportTableFunc_t get_export_table) noexcept;

}  // namespace lanescope::agent::nvtx
