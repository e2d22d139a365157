// The process in which an object was made.
//
// A forked child has a copy of each object, but none of the threads that serve it, and perhaps locks that nobody there will open. So the end of an object that
// has threads must neither wait for them nor take its locks there.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>

namespace lanescope {

class HomeProcess {
 public:
  // For what can't be ended in a forked child: it stays in the child's memory.
  template <typename Object>
  static void leave(std::unique_ptr<Object> object) noexcept {
    static_cast<void>(object.release());
  }

  [[nodiscard]] bool is_here() const noexcept { return getpid() == process_; }

 private:
  pid_t process_ = getpid();
};

}  // namespace lanescope
