// Contexts of which something came to be known on a thread that could not wait for its turn: it is looked at by whoever has the turn next.
//
// Threads: any puts, one at a time takes; without locks.
#pragma once

#include <atomic>

#include <cuda.h>

namespace lanescope::agent::kernels {

class ContextNotes {
 public:
  // False where there is no room: nobody has taken the last sixteen.
  bool put(CUcontext context) noexcept {
    for (std::atomic<CUcontext>& note : notes_)
      if (CUcontext none = nullptr; note.compare_exchange_strong(none, context)) return true;
    return false;
  }
  // Null where there is none.
  CUcontext take() noexcept {
    for (std::atomic<CUcontext>& note : notes_)
      if (const CUcontext context = note.exchange(nullptr); context != nullptr) return context;
    return nullptr;
  }

 private:
  std::atomic<CUcontext> notes_[16] = {};
};

}  // namespace lanescope::agent::kernels
