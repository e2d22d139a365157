// Stands in for an agent whose entry does not return for long, and enters the kernel all the while, as who waits for a spin lock does.
#include <sched.h>

#include <cerrno>
#include <chrono>

extern "C" int lanescope_agent_attach(const char*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) sched_yield();
  return EIO;
}
