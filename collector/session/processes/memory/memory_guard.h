// Cleans up the memory that we share with programs if we are killed. A process beside us notices our end, makes the programs' agents stop recording, and
// gives the memory back to the system.
//
// Agents can't do it: a program's thread that writes an event makes no system call (docs/security.md). The guard holds a descriptor of each memory for as
// long as we have it. It is told about each memory and its end over a socket, in order; the last thing that it reads is the end of that socket. It is in a
// session of its own, so that a signal to our group or terminal does not end it, and it ends once its work is done: at once if we had no memory left.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "file_descriptor.h"

namespace lanescope::session {

class MemoryGuard {
 public:
  // Null if the system has no process or descriptor left; the recording continues without a guard.
  static std::unique_ptr<MemoryGuard> start();

  ~MemoryGuard();  // waits at most a second until the guard has heard about all forgotten memory
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  // During its lifetime, the guard holds this memory.
  class Watch {
   public:
    Watch(Watch&& other) noexcept : guard_(other.guard_), place_(other.place_) { other.guard_ = nullptr; }
    Watch& operator=(Watch&&) = delete;
    ~Watch() {
      if (guard_ != nullptr) guard_->forget(place_);
    }

   private:
    friend class MemoryGuard;
    Watch(MemoryGuard* guard, std::size_t place) : guard_(guard), place_(place) {}
    MemoryGuard* guard_;  // null: the guard could not be told
    std::size_t place_;
  };
  // Passes a descriptor of a memory file to the guard. Does not block: if the guard does not listen, the memory is not guarded. Requires: *this outlives the
  // result. One thread at a time, also for the destructor of the result.
  [[nodiscard]] Watch watch(int memory_file);

 private:
  explicit MemoryGuard(FileDescriptor link) : link_(std::move(link)) {}
  void forget(std::size_t place);
  void tell_forgotten();

  FileDescriptor link_;
  std::size_t places_ = 0;              // number used so far
  std::vector<std::size_t> free_;       // free places among them
  std::vector<std::size_t> forgotten_;  // places about which the guard could not be told yet
};

}  // namespace lanescope::session
