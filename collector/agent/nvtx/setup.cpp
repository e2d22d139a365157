#include "agent/nvtx/setup.h"

#include <cstddef>

#include "agent/nvtx/globals.h"
#include "agent/process/forks.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::size_t kMost = 16;
constexpr std::uint32_t kExtensionStarting = 2;  // NVTX_EXTENSION_STARTING; 0 is fresh there, too

constinit SetupNote under_way[kMost] = {};

// The thread that forked may be the one that sets NVTX up, in a signal handler: it goes on in the child.
void begin_anew_in_child() noexcept {
  for (SetupNote& setup : under_way) {
    volatile std::uint32_t* const state = setup.state.load(std::memory_order_relaxed);
    const bool goes_on = state != nullptr && setup.thread.load(std::memory_order_relaxed) == pthread_self();
    if (goes_on) continue;
    if (state != nullptr && *state == setup.started.load(std::memory_order_relaxed)) *state = kFresh;
    setup.state.store(nullptr, std::memory_order_relaxed);
    setup.is_taken.store(false, std::memory_order_relaxed);
  }
}

volatile std::uint32_t* state_of(NvtxGetExportTableFunc_t get_export_table) noexcept {
  Globals* const globals = globals_of(get_export_table);
  return globals != nullptr ? &globals->state : nullptr;
}

// The state lies before the functions of the first segment. Null if the value there is not the state of an extension that is being set up.
volatile std::uint32_t* state_of(const nvtxExtModuleInfo_t* extension) noexcept {
  if (extension == nullptr || extension->segmentsCount == 0 || extension->segments[0].functionSlots == nullptr) return nullptr;
  auto* const state = reinterpret_cast<volatile std::uint32_t*>(extension->segments[0].functionSlots - 1);
  return *state == kExtensionStarting ? state : nullptr;
}

}  // namespace

Globals* globals_of(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (get_export_table == nullptr) return nullptr;
  const auto* callbacks = static_cast<const std::byte*>(get_export_table(NVTX_ETID_CALLBACKS));
  const auto* version = static_cast<const std::byte*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (callbacks == nullptr || version != callbacks + (offsetof(Globals, version) - offsetof(Globals, callbacks))) return nullptr;
  const bool is_known = reinterpret_cast<const NvtxExportTableVersionInfo*>(version)->version == 3 &&
                        reinterpret_cast<const NvtxExportTableCallbacks*>(callbacks)->struct_size == sizeof(NvtxExportTableCallbacks);
  return is_known ? reinterpret_cast<Globals*>(const_cast<std::byte*>(callbacks) - offsetof(Globals, callbacks)) : nullptr;
}

Setup::Setup(NvtxGetExportTableFunc_t get_export_table) noexcept { note(state_of(get_export_table), kStarted); }

Setup::Setup(const nvtxExtModuleInfo_t* extension) noexcept { note(state_of(extension), kExtensionStarting); }

// A child that has not looked yet has its parent's notes until it looks.
void Setup::note(volatile std::uint32_t* state, std::uint32_t started) noexcept {
  if (state == nullptr) return;
  on_fork_child(begin_anew_in_child);
  process_generation();
  for (SetupNote& place : under_way) {
    if (place.is_taken.exchange(true, std::memory_order_acquire)) continue;
    note_ = &place;
    break;
  }
  if (note_ == nullptr) return;
  note_->started.store(started, std::memory_order_relaxed);
  note_->thread.store(pthread_self(), std::memory_order_relaxed);
  note_->process.store(process_page.process.load(std::memory_order_relaxed), std::memory_order_relaxed);
  note_->state.store(state, std::memory_order_release);
}

const SetupNote* Setup::noted() const noexcept { return note_; }

Setup::~Setup() {
  if (note_ == nullptr) return;
  note_->state.store(nullptr, std::memory_order_relaxed);
  note_->is_taken.store(false, std::memory_order_release);
}

}  // namespace lanescope::agent::nvtx
