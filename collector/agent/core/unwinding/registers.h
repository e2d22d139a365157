// The registers of a function as its caller sees them, by DWARF's numbers, in the processor's order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

struct Registers {
#if defined(__x86_64__)
  static constexpr std::size_t kCount = 17;
  static constexpr std::size_t kStackPointer = 7;
  static constexpr std::size_t kReturnAddress = 16;
#elif defined(__aarch64__)
  static constexpr std::size_t kCount = 32;
  static constexpr std::size_t kStackPointer = 31;
  static constexpr std::size_t kReturnAddress = 30;
#endif

  std::uint64_t values[kCount];
  std::uint64_t place;   // in the function's code
  bool is_exact = true;  // false: `place` is where a call returns to, so the call itself is in front of it
  std::uint64_t looked_up() const noexcept { return is_exact ? place : place - 1; }
};

// Those of the function that contains this line. What the function may have changed already, and callers do not expect back, has any value.
[[gnu::always_inline]] inline void take_registers(Registers& registers) noexcept {
#if defined(__x86_64__)
  std::uint64_t place;
  asm volatile(
      "leaq 0f(%%rip), %0\n"
      "0:\n"
      "movq %%rbx, 24(%1)\n"
      "movq %%rbp, 48(%1)\n"
      "movq %%rsp, 56(%1)\n"
      "movq %%r12, 96(%1)\n"
      "movq %%r13, 104(%1)\n"
      "movq %%r14, 112(%1)\n"
      "movq %%r15, 120(%1)\n"
      : "=&r"(place)
      : "r"(registers.values)
      : "memory");
  registers.place = place;
#elif defined(__aarch64__)
  std::uint64_t place;
  std::uint64_t stack;
  asm volatile(
      "adr %0, 0f\n"
      "0:\n"
      "mov %1, sp\n"
      "stp x19, x20, [%2, #152]\n"
      "stp x21, x22, [%2, #168]\n"
      "stp x23, x24, [%2, #184]\n"
      "stp x25, x26, [%2, #200]\n"
      "stp x27, x28, [%2, #216]\n"
      "stp x29, x30, [%2, #232]\n"
      "str %1, [%2, #248]\n"
      : "=&r"(place), "=&r"(stack)
      : "r"(registers.values)
      : "memory");
  registers.place = place;
#endif
}

}  // namespace lanescope::agent
