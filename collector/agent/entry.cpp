// The entry points of the agent. Each may be called in any order, on any thread, more than once.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "agent/attach/attachment.h"
#include "agent/attach/late_nvtx.h"
#include "agent/channel/capture.h"
#include "agent/channel/membership.h"
#include "agent/channel/thread_writer.h"
#include "agent/channel/unfinished.h"
#include "agent/core/loader/new_files.h"
#include "agent/nvtx/included_range.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/orphans.h"
#include "agent/nvtx/setup.h"
#include "agent/osrt/trace.h"
#include "agent/process/earlier_filters.h"

#if LANESCOPE_HAVE_CUPTI
#include "agent/cupti/library/injection.h"
#endif

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void record_cuda_late() {
#if LANESCOPE_HAVE_CUPTI
  lanescope::agent::cupti::inject(lanescope::agent::cupti::Arrival::kLate);
#endif
}

void tell_of_orphans(std::size_t count) {
  using namespace lanescope::agent;
  char text[200];
  const int length = std::snprintf(
      text, sizeof(text), "NVTX of %zu child processes is not recorded: they were forked while it was set up. Make an NVTX call before the first fork.", count);
  report(Component::kNvtx, ComponentState::kFailed, Severity::kWarning, {text, static_cast<std::size_t>(length)});
}

constinit std::atomic<bool> is_prepared{false};
constexpr void (*kFilledInByLoader)() = record_cuda_late;  // the loader makes its page read-only once everything is filled in

// False in a child that was forked while another thread's loader was working on the agent: there the agent counts as loaded, but stays unfinished. This check
// needs no address that the loader fills in.
bool is_filled_in() noexcept {
  if (is_prepared.load(std::memory_order_relaxed) || !lanescope::agent::is_writable(reinterpret_cast<std::uintptr_t>(&kFilledInByLoader))) return true;
  static constinit std::atomic<bool> is_told{false};
  if (!is_told.exchange(true, std::memory_order_relaxed)) lanescope::agent::leave_word_of_unfinished();
  return false;
}

}  // namespace

// Work that takes memory, or reads what the program may change, is done while the agent is loaded: later, the program may be inside its own allocator.
__attribute__((constructor)) static void prepare() {
  lanescope::agent::look_at_earlier_filters();
  lanescope::agent::nvtx::note_loading();
  lanescope::agent::read_environment();
  lanescope::agent::follow_membership();
  lanescope::agent::ThreadWriter::prepare();
  lanescope::agent::attach::set_nvtx_up_before_forks();
  lanescope::agent::nvtx::read_included_range();
  if (lanescope::agent::osrt::is_preloaded()) {
    lanescope::agent::attach::load_nvtx_entry();
    lanescope::agent::attach::set_fresh_nvtx_up();
    if (lanescope::agent::has_joined()) static_cast<void>(lanescope::agent::ThreadWriter());  // the program may forbid itself the memory later
    lanescope::agent::osrt::look_at_new_files.store(lanescope::agent::attach::set_fresh_nvtx_up, std::memory_order_release);
  }
  is_prepared.store(true, std::memory_order_relaxed);
}

// Called by libcuda within cuInit, because of CUDA_INJECTION64_PATH. An agent that can't record does not keep CUDA from working.
LANESCOPE_EXPORT int InitializeInjection() {
  if (!is_filled_in()) return 1;
  lanescope::agent::attach::wait_for_sessions(record_cuda_late);
#if LANESCOPE_HAVE_CUPTI
  lanescope::agent::cupti::inject(lanescope::agent::cupti::Arrival::kWithDriver);
#endif
  return 1;
}

static int inject_nvtx(NvtxGetExportTableFunc_t get_export_table, lanescope::agent::nvtx::AgentCall call) {
  using namespace lanescope::agent::nvtx;
  const Setup setup(get_export_table);
  Orphans orphans(get_export_table, setup, call);
  std::size_t freed = orphans.free_from_loading();
  lanescope::agent::attach::wait_for_sessions(record_cuda_late);
  const Injection injection = install(get_export_table);
  freed += orphans.free_from_set_up();
  if (freed != 0) tell_of_orphans(freed);
  lanescope::agent::attach::end_set_up(get_export_table);
  lanescope::agent::attach::set_fresh_nvtx_up();
  if (injection != Injection::kInstalled) return 0;
  lanescope::agent::osrt::watch_process_calls();
  return 1;
}

// Called by NVTX 3 within the first NVTX call of each library that embeds it, because of NVTX_INJECTION64_PATH.
LANESCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  if (!is_filled_in()) return 0;
  return inject_nvtx(get_export_table, {__builtin_frame_address(0), __builtin_return_address(0)});
}

// Called in its place by the library that NVTX loads first (nvtx_entry/library.cpp).
LANESCOPE_EXPORT int lanescope_agent_inject_nvtx(NvtxGetExportTableFunc_t get_export_table, const void* frame, const void* returns_to) {
  return is_filled_in() ? inject_nvtx(get_export_table, {frame, returns_to}) : 0;
}

// Called by NVTX 1 and 2 (libnvToolsExt.so.1), once per process.
LANESCOPE_EXPORT int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_export_table) { return InitializeInjectionNvtx2(get_export_table); }

// The same, within the first call of an extension of NVTX.
LANESCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (!is_filled_in()) return 0;
  using namespace lanescope::agent::nvtx;
  const Setup setup(module);
  lanescope::agent::attach::wait_for_sessions(record_cuda_late);
  return install_extension(module) == Injection::kInstalled ? 1 : 0;
}

// The library that stands before MPI's functions (mpi/range.cpp) has one sentence for the user.
LANESCOPE_EXPORT void lanescope_agent_tell(const char* sentence) {
  using namespace lanescope::agent;
  report(Component::kNvtx, ComponentState::kVersionMismatch, Severity::kWarning, sentence);
}

// Called by the injector, in a process that runs already, or by that process itself, which then waits until it is recorded.
LANESCOPE_EXPORT int lanescope_agent_attach(const char* address) { return lanescope::agent::attach::attach(address, record_cuda_late); }
LANESCOPE_EXPORT int lanescope_agent_await(int milliseconds) { return lanescope::agent::attach::await_attached(milliseconds); }

// Called by a program whose request for a capture its recorder has answered, before it goes on.
LANESCOPE_EXPORT void lanescope_agent_follow() { lanescope::agent::follow_capture(); }
