// Stands in for an agent that faults as soon as it is entered.
#include <cstdint>

extern "C" int lanescope_agent_attach(const char*) {
  volatile std::uintptr_t address = 16;
  return *reinterpret_cast<volatile int*>(address);
}
