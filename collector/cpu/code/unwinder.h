// Follows calls by unwind tables (.eh_frame, .debug_frame), from a copy of the innermost part of a stack.
//
// The rules of each instruction are looked up once and kept: following a known chain takes well under a microsecond for each call.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "modules.h"

namespace lanescope::cpu {

inline constexpr std::size_t kRegisterCount = 17;  // x86-64, as DWARF numbers them: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip
using UserRegisters = std::array<std::uint64_t, kRegisterCount>;
inline constexpr std::size_t kStackPointer = 7;
inline constexpr std::size_t kInstructionPointer = 16;

class Unwinder {
 public:
  Unwinder();
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Returns addresses of code, innermost first: the thread's place, then the calls that led there, each within its call instruction. `stack` begins
  // at the stack pointer. `is_trampoline` tells if an address of generated code belongs to one of CPython's trampolines, which have no tables.
  std::span<const std::uint64_t> unwind(const AddressSpace& space, const UserRegisters& registers, std::span<const std::byte> stack,
                                        const std::function<bool(std::uint64_t address)>& is_trampoline);

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
  std::vector<std::uint64_t> chain_;
};

}  // namespace lanescope::cpu
