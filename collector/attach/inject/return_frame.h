// How a thread that was made to call a function gets back to where it was, whether its tracer lives or not.
//
// The call returns into code of the C library: into _mcount, which leaves the result on the stack, and from there into the instructions by
// which signal handlers return. These have the kernel make the thread what a frame on its stack says: registers, vector registers and
// signal mask. A tracer that lives sees the system call begin and keeps the kernel from it; it knows more of the thread than fits a frame.
#pragma once

#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/attach/memory_map.h"
#include "inject/remote_memory.h"

namespace lanescope::attach {

// Addresses of instructions in the target.
struct ReturnPath {
  std::uint64_t step = 0;     // ret
  std::uint64_t keep = 0;     // _mcount
  std::uint64_t restore = 0;  // mov $15, %rax; syscall
};

// None where the C library does not have them. Reads its code, which takes about a millisecond.
std::optional<ReturnPath> find_return_path(const RemoteMemory& memory, const std::vector<Mapping>& map);

// What a frame makes of a thread. No alternate signal stack: it stays as it is.
struct ThreadState {
  user_regs_struct registers{};
  std::vector<std::byte> extended;  // as of PTRACE_GETREGSET with NT_X86_XSTATE
  std::uint64_t signal_mask = 0;
};

// The registers from which a thread goes on without the kernel's help, where they are those of a system call that was interrupted: it is
// begun anew. One with a time limit may wait for longer by what it had waited, and ends with EINTR where it can't be told which call it is.
user_regs_struct begun_anew(const user_regs_struct& interrupted, const RemoteMemory& memory);

class ReturnFrame {
 public:
  // For the stack below an address. Requires: the vector state is one of this machine.
  ReturnFrame(const ReturnPath& path, const ThreadState& state, std::uint64_t below);

  // Of the frame's first byte, which is where the function that is called finds its return address, aligned as it expects it.
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // What the frame pointer should be when the function is called: here the chain of frames ends.
  [[nodiscard]] std::uint64_t frame_pointer() const noexcept;
  // Where the function's result is once has_returned().
  [[nodiscard]] std::uint64_t result() const noexcept;

  // Whether a thread with these registers is about to be put back by the kernel.
  [[nodiscard]] bool has_returned(const user_regs_struct& registers) const noexcept;
  // Makes of these registers those of a thread that is about to do so, and makes another system call before, which changes nothing.
  [[nodiscard]] user_regs_struct one_step_back(user_regs_struct registers) const noexcept;

 private:
  std::uint64_t restore_;
  std::uint64_t address_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace lanescope::attach
