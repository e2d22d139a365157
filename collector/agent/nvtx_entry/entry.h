// How the library that NVTX loads (library.cpp) passes on to the agent what NVTX asks of it.
#pragma once

#include <string_view>

#include "agent/nvtx/injection.h"

namespace lanescope::agent {

inline constexpr std::string_view kNvtxEntryFile = "liblanescope-nvtx.so";
inline constexpr char kAgentFile[] = "liblanescope-agent.so";  // beside it

// The agent's function of this name does what InitializeInjectionNvtx2() does. `frame` and `returns_to` describe the library's call, as in nvtx/orphans.h.
using InjectNvtx = int (*)(NvtxGetExportTableFunc_t get_export_table, const void* frame, const void* returns_to);
inline constexpr char kInjectNvtx[] = "lanescope_agent_inject_nvtx";

}  // namespace lanescope::agent
