// What NVTX loads in the program's first NVTX call (NVTX_INJECTION64_PATH). It loads the agent. If the agent was loaded with the program, both are there
// already.
//
// NVTX calls of a signal handler wait until the first one has returned. If the handler interrupted that very call, it waits for itself for ever. Loading the
// agent takes about a millisecond, in which nothing of the agent runs yet. This library is loaded in less than a tenth of that, and holds signals until the
// agent has taken NVTX over.
#include <cstddef>
#include <cstring>

#include <alloca.h>
#include <dlfcn.h>

#include "agent/nvtx_entry/entry.h"
#include "agent/process/call_filters.h"
#include "agent/process/earlier_filters.h"
#include "agent/process/held_signals.h"

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace lanescope::agent {
namespace {

constexpr std::size_t kMostPath = 4'096;

// The loader fills these in. In a child that was forked while another thread's loader was at work on this file, the file counts as loaded, but stays
// unfinished.
void* (*volatile const load)(const char*, int) = dlopen;
void* (*volatile const look_up)(void*, const char*) = dlsym;
int (*volatile const ask_for_file)(const void*, Dl_info*) = dladdr;
bool is_filled_in() noexcept { return load != nullptr && look_up != nullptr && ask_for_file != nullptr; }

// Calls inject(the agent's function of this name), and returns its answer; 0, for NVTX to go on without a tool, if there is no agent. Once the agent is there,
// it holds signals itself. A process that the agent would leave alone does not load it.
template <typename Function, typename Inject>
int pass_on(const char* name, Inject inject) noexcept {
  if (!is_filled_in()) return 0;
  Dl_info self{};
  if (ask_for_file(reinterpret_cast<const void*>(&is_filled_in), &self) == 0 || self.dli_fname == nullptr) return 0;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const std::size_t folder = slash != nullptr ? static_cast<std::size_t>(slash - self.dli_fname) + 1 : 0;
  if (folder > kMostPath) return 0;
  char* const path = static_cast<char*>(alloca(folder + sizeof(kAgentFile)));  // no more than it takes: the thread may have a small stack
  std::memcpy(path, self.dli_fname, folder);
  std::memcpy(path + folder, kAgentFile, sizeof(kAgentFile));
  const auto inject_with = [&](void* agent) {
    const auto function = agent != nullptr ? reinterpret_cast<Function>(look_up(agent, name)) : nullptr;
    return function != nullptr ? inject(function) : 0;
  };
  if (void* const agent = load(path, RTLD_LAZY | RTLD_NOLOAD); agent != nullptr) return inject_with(agent);
  look_at_earlier_filters();
  if (!may_hold_signals()) return 0;
  const HeldSignals held;
  return inject_with(load(path, RTLD_LAZY));
}

}  // namespace
}  // namespace lanescope::agent

LANESCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  using namespace lanescope::agent;
  const void* const frame = __builtin_frame_address(0);
  const void* const returns_to = __builtin_return_address(0);
  return pass_on<InjectNvtx>(kInjectNvtx, [&](InjectNvtx inject) { return inject(get_export_table, frame, returns_to); });
}

LANESCOPE_EXPORT int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_export_table) { return InitializeInjectionNvtx2(get_export_table); }

LANESCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using Inject = int (*)(nvtxExtModuleInfo_t*);
  return lanescope::agent::pass_on<Inject>("InitializeInjectionNvtxExtension", [&](Inject inject) { return inject(module); });
}
