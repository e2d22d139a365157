// A system call without the C library.
//
// The C library's functions may be the agent's own in a target (osrt/wrappers.cpp). They are also points at which a thread can be cancelled.
#pragma once

namespace lanescope::channel {

// Returns the kernel's answer: -errno if the call fails. errno itself is not changed. Any thread; safe in a signal handler.
[[gnu::always_inline]] inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
#if defined(__x86_64__)
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth) : "memory");
  return first;
#else
#error "System calls are made for x86-64 and AArch64."
#endif
}

template <typename T>
[[gnu::always_inline]] inline long word(T* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

}  // namespace lanescope::channel
