// Returns a thread that was made to call a function to where it was, whether its tracer lives or not.
//
// The call returns into code of the C library: first into _mcount, which leaves the result on the stack, and from there into the instructions by
// which signal handlers return. These make the kernel restore the state in a frame on the thread's stack: registers, vector registers and signal
// mask. A living tracer sees this system call begin and prevents it, because the tracer knows more of the thread's state than a frame can hold.
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

// Nothing if the C library does not have these instructions. Reads its code, which takes about a millisecond.
std::optional<ReturnPath> find_return_path(const RemoteMemory& memory, const std::vector<Mapping>& map);

// The state that a frame gives a thread. It has no alternate signal stack, which stays as it is.
struct ThreadState {
  user_regs_struct registers{};
  std::vector<std::byte> extended;  // as returned by PTRACE_GETREGSET with NT_X86_XSTATE
  std::uint64_t signal_mask = 0;
};

// The registers with which a thread continues without the kernel's help. If they are those of an interrupted system call, the call is made again. A
// call with a time limit may then wait longer by the time that it had already waited. It ends with EINTR if it is not known which call it is.
user_regs_struct begun_anew(const user_regs_struct& interrupted, const RemoteMemory& memory);

class ReturnFrame {
 public:
  // Builds the frame for the stack below the address `below`. Requires: the vector state is from this machine.
  ReturnFrame(const ReturnPath& path, const ThreadState& state, std::uint64_t below);

  // Address of the frame's first byte. There the called function finds its return address, with the alignment that it expects.
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // The frame pointer for the call: the chain of frames ends here.
  [[nodiscard]] std::uint64_t frame_pointer() const noexcept;
  // Address of the function's result, once has_returned().
  [[nodiscard]] std::uint64_t result() const noexcept;

  // True if a thread with these registers is about to be restored by the kernel.
  [[nodiscard]] bool has_returned(const user_regs_struct& registers) const noexcept;
  // Changes the registers to those of a thread that first makes another system call, which changes nothing, and is then about to be restored.
  [[nodiscard]] user_regs_struct one_step_back(user_regs_struct registers) const noexcept;

 private:
  std::uint64_t restore_;
  std::uint64_t address_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace lanescope::attach
