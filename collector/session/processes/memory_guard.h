// What is to become of the programs' memory of us where we are killed: a process beside us that sees our end, has the programs' agents record nothing
// more, and gives the memory back to the system.
//
// Agents can't see to it: where a program's thread writes an event, it makes no system call (docs/security.md). The guard holds a descriptor of each
// memory for as long as we have it, and is told of both over a socket, in order; what it reads last is that socket's end. It belongs to a session of
// its own, so that what ends our group or terminal leaves it to its work, and ends once that is done: at once where we had no memory left.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "file_descriptor.h"

namespace lanescope::session {

class MemoryGuard {
 public:
  // Null where the system has no process or descriptor left: recording goes on without.
  static std::unique_ptr<MemoryGuard> start();

  ~MemoryGuard();  // waits a second at most until the guard has heard what was forgotten
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  // While it lives, the guard has this memory.
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
    MemoryGuard* guard_;  // null: it could not be told
    std::size_t place_;
  };
  // Hands the guard a descriptor of a memory file. Does not block: where the guard does not listen, the memory is not guarded. Requires: *this outlives the
  // result. One thread at a time, the end of what is returned included.
  [[nodiscard]] Watch watch(int memory_file);

 private:
  explicit MemoryGuard(FileDescriptor link) : link_(std::move(link)) {}
  void forget(std::size_t place);
  void tell_forgotten();

  FileDescriptor link_;
  std::size_t places_ = 0;              // used so far
  std::vector<std::size_t> free_;       // among them
  std::vector<std::size_t> forgotten_;  // of which the guard could not be told yet
};

}  // namespace lanescope::session
