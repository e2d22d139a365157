// A socket or file of the agent's among the descriptors of the program, which may close it, and give its number to something else: what it is now
// the kernel knows by its inode, and it is not touched where it is not ours any more.
//
// Threads: one at a time, but for number().
#pragma once

#include <sys/types.h>

namespace lanescope::agent {

class OwnDescriptor {
 public:
  constexpr OwnDescriptor() noexcept = default;

  // Takes it over, under a number out of the way of programs that count on low ones. Requires: a socket or a pipe, whose inode is its own, or a
  // file that the program does not open.
  static OwnDescriptor keep(int descriptor) noexcept;

  // -1 where there is none, or the program has closed it. One system call.
  [[nodiscard]] int number() const noexcept;
  // Whether it was there at all.
  [[nodiscard]] bool was_opened() const noexcept { return number_ >= 0; }

  // Closes it where it is ours still. What was copied from it is no longer to be used.
  void close() noexcept;
  // It belongs to another from here on, who is told its number.
  int give_up() noexcept;

 private:
  int number_ = -1;
  ino_t inode_ = 0;
  dev_t device_ = 0;
};

}  // namespace lanescope::agent
