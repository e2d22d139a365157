// Contexts about which a thread learnt something but could not wait for its turn: the next thread that has the turn handles them.
//
// Threads: any may put, one at a time takes; without locks.
#pragma once

#include <atomic>

#include <cuda.h>

namespace lanescope::agent::kernels {

class ContextNotes {
 public:
  // False if there is no room, because the last sixteen have not been taken.
  bool put(CUcontext context) noexcept {
    for (std::atomic<CUcontext>& note : notes_)
      if (CUcontext none = nullptr; note.compare_exchange_strong(none, context)) return true;
    return false;
  }
  // Null if there is none.
  CUcontext take() noexcept {
    for (std::atomic<CUcontext>& note : notes_)
      if (const CUcontext context = note.exchange(nullptr); context != nullptr) return context;
    return nullptr;
  }

 private:
  std::atomic<CUcontext> notes_[16] = {};
};

}  // namespace lanescope::agent::kernels
