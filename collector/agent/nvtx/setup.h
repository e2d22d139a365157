// The set-up of NVTX in a library that embeds it. The library's first NVTX call begins it by calling us; its other calls wait until it is done.
//
// A child that is forked in the meantime has no thread that would end the set-up, and would wait for ever. If the fork could not wait (attach/late_nvtx.h), the
// set-up begins anew in the child. A signal handler on the thread of the set-up would wait for itself, so signals are held.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/nvtx/injection.h"
#include "agent/process/held_signals.h"

namespace lanescope::agent::nvtx {

// This process's note of a set-up: written by the thread that sets NVTX up, read by the only thread of a child. If a child has an equal copy, it was forked
// during the set-up.
struct SetupNote {
  std::atomic<volatile std::uint32_t*> state;  // null: none
  std::atomic<pthread_t> thread;
  std::atomic<std::int32_t> process;   // the process that sets it up
  std::atomic<std::uint32_t> started;  // the value of the state during the set-up
  std::atomic<bool> is_taken;
};

// Lives as long as the library's call to us. Threads: any. Forks by _Fork() or by the system call alone are not noticed.
class [[nodiscard]] Setup {
 public:
  explicit Setup(NvtxGetExportTableFunc_t get_export_table) noexcept;
  explicit Setup(const nvtxExtModuleInfo_t* extension) noexcept;  // an extension has a state of its own
  ~Setup();
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  // Does not change during the life of *this. Null: no note was made.
  [[nodiscard]] const SetupNote* noted() const noexcept;

 private:
  void note(volatile std::uint32_t* state, std::uint32_t started) noexcept;

  HeldSignals held_;
  SetupNote* note_ = nullptr;  // null: a forked child would wait
};

}  // namespace lanescope::agent::nvtx
