// A socket or file of the agent's among the descriptors of the program. The program may close it and use its number for something else. The inode tells what
// the descriptor is now; a descriptor that is no longer ours is not touched.
//
// Threads: one at a time, except for number().
#pragma once

#include <sys/types.h>

namespace lanescope::agent {

class OwnDescriptor {
 public:
  constexpr OwnDescriptor() noexcept = default;

  // Takes the descriptor over, under a high number, because some programs count on low ones. Requires: a socket or a pipe, whose inode is its own, or a file
  // that the program does not open.
  static OwnDescriptor keep(int descriptor) noexcept;

  // -1 if there is none, or if the program has closed it. One system call.
  [[nodiscard]] int number() const noexcept;
  // True if there ever was a descriptor.
  [[nodiscard]] bool was_opened() const noexcept { return number_ >= 0; }

  // Closes it if it is still ours. Copies of its number must not be used afterwards.
  void close() noexcept;
  // From here on it belongs to the caller, who gets its number.
  int give_up() noexcept;

 private:
  int number_ = -1;
  ino_t inode_ = 0;
  dev_t device_ = 0;
};

}  // namespace lanescope::agent
