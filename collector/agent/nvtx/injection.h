// The agent as an NVTX tool: it takes over the NVTX calls of each library that embeds NVTX, and writes them as records.
#pragma once

#define NVTX_NO_IMPL  // types only; the agent makes no NVTX calls itself
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <string_view>

namespace lanescope::agent::nvtx {

enum class Injection { kInstalled, kDeclined };

// Puts our handlers into the function tables of the library that asks. Called once for each such library, on any thread. Declines, so that NVTX costs that
// library nothing, if there is no session and none is awaited, or if the tables are unknown to this agent.
Injection install(NvtxGetExportTableFunc_t get_export_table) noexcept;

// The same for an extension of NVTX: accepts payloads and declines all others.
Injection install_extension(nvtxExtModuleInfo_t* module) noexcept;

// `namer` is told the program's names of its contexts, streams and events (CUcontext, cudaStream_t or CUstream, cudaEvent_t or CUevent), on the thread that
// names them. One per process; none at first.
enum class CudaHandle { kContext, kStream, kEvent };
using HandleNamer = void (*)(CudaHandle kind, void* handle, std::string_view name);
void name_handles_with(HandleNamer namer) noexcept;

}  // namespace lanescope::agent::nvtx
