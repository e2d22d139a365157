// The setup of NVTX in a library that embeds it. The library's first NVTX call begins it by calling us, and its other calls wait until that
// one is through.
//
// A child that is forked meanwhile has no thread that would end it, and would wait for ever: there it begins anew, where the fork could not
// wait (attach/late_nvtx.h). A signal handler on the thread that does it would wait for itself: signals are held.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/nvtx/injection.h"
#include "agent/process/held_signals.h"

namespace lanescope::agent::nvtx {

// What this process remembers of it: written by the thread that sets NVTX up, read by the only thread of a child. A child's copy that is equal says that
// the child was forked in the midst of it.
struct SetupNote {
  std::atomic<volatile std::uint32_t*> state;  // null: none
  std::atomic<pthread_t> thread;
  std::atomic<std::int32_t> process;   // that sets it up
  std::atomic<std::uint32_t> started;  // its state meanwhile
  std::atomic<bool> is_taken;
};

// Lives as long as the library's call to us lasts. Threads: any; forks by _Fork() and by the system call alone are not noticed.
class [[nodiscard]] Setup {
 public:
  explicit Setup(NvtxGetExportTableFunc_t get_export_table) noexcept;
  explicit Setup(const nvtxExtModuleInfo_t* extension) noexcept;  // which has a state of its own
  ~Setup();
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  // Does not change while this lives. Null: none is remembered.
  [[nodiscard]] const SetupNote* noted() const noexcept;

 private:
  void note(volatile std::uint32_t* state, std::uint32_t started) noexcept;

  HeldSignals held_;
  SetupNote* note_ = nullptr;  // null: a child would wait
};

}  // namespace lanescope::agent::nvtx
