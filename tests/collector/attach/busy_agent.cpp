// Stands in for an agent whose entry does not return for a long time and enters the kernel all the while, like a wait for a spin lock.
#include <sched.h>

#include <cerrno>
#include <chrono>

extern "C" int lanescope_agent_attach(const char*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) sched_yield();
  return EIO;
}
