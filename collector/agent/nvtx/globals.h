// How NVTX 3 keeps its state in each library that embeds it: nvtxGlobals_v3, whose name is not exported.
#pragma once

#include <cstdint>

#include "agent/nvtx/injection.h"

namespace lanescope::agent::nvtx {

enum SetupState : std::uint32_t { kFresh = 0, kStarted = 1, kComplete = 2 };  // NVTX_INIT_STATE_*

// The beginning of nvtxGlobals_t in nvtxDetail/nvtxImpl.h; the pointers to functions follow.
struct Globals {
  volatile std::uint32_t state;  // SetupState
  NvtxExportTableCallbacks callbacks;
  NvtxExportTableVersionInfo version;
  NvtxFunctionPointer first_function;
};

// The globals of the library that asks; null if its tables do not have the layout of NVTX 3.
Globals* globals_of(NvtxGetExportTableFunc_t get_export_table) noexcept;

}  // namespace lanescope::agent::nvtx
