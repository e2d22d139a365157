// A program that lies to its attacher: its C library answers system calls with descriptors of its own choice.
//
// hostile_target memory FILE: if a file in memory is requested, it returns FILE, which it may only read.
// hostile_target socket FILE: if a pair of sockets is requested, it returns FILE as the second socket.
// Prints "ready" and waits.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

long lied_about = 0;
int answer = -1;

long real_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Replaces syscall().
long lying_call(long number, long a, long b, long c, long d, long e, long f) {
  if (number == lied_about && number == SYS_memfd_create) return answer;
  const long result = real_call(number, a, b, c, d, e, f);
  if (number == lied_about && number == SYS_socketpair) reinterpret_cast<int*>(d)[1] = answer;
  return result;
}

// Makes a function of the C library jump to another.
bool replace(void* function, void* by) {
  unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, by; jmp rax
  std::memcpy(jump + 2, &by, sizeof(by));
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(function) & ~(page - 1);
  if (mprotect(reinterpret_cast<void*>(begin), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(function, jump, sizeof(jump));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  lied_about = std::string_view(argv[1]) == "memory" ? SYS_memfd_create : SYS_socketpair;
  answer = open(argv[2], O_RDONLY);
  if (answer < 0 || !replace(dlsym(RTLD_DEFAULT, "syscall"), reinterpret_cast<void*>(lying_call))) return 1;
  std::puts("ready");
  std::fflush(stdout);
  for (;;) pause();
}
