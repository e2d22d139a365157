// The agent as an NVTX tool: it takes over the NVTX calls of each library that embeds NVTX, and writes them as records.
#pragma once

#define NVTX_NO_IMPL  // types alone; the agent makes no NVTX calls itself
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <string_view>

namespace lanescope::agent::nvtx {

enum class Injection { kInstalled, kDeclined };

// Puts our handlers into the function tables of the library that asks. Called once for each such library, on any thread. Declines, so that
// NVTX costs that library nothing, where there is no session and none is waited for, or the tables are not what this agent knows.
Injection install(NvtxGetExportTableFunc_t get_export_table) noexcept;

// The same for an extension of NVTX: payloads; others are declined.
Injection install_extension(nvtxExtModuleInfo_t* module) noexcept;

// Is told what the program calls its contexts, streams and events (CUcontext, cudaStream_t or CUstream, cudaEvent_t or CUevent), on the
// thread that says so. One for the process; none before.
enum class CudaHandle { kContext, kStream, kEvent };
using HandleNamer = void (*)(CudaHandle kind, void* handle, std::string_view name);
void name_handles_with(HandleNamer namer) noexcept;

}  // namespace lanescope::agent::nvtx
