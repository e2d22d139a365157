#include "agent/core/call_chain.h"

#include <atomic>

#include <dlfcn.h>

#include "agent/core/loader/loader.h"
#include "agent/core/unwinding/checked_memory.h"
#include "agent/core/unwinding/frame_rules.h"
#include "agent/core/unwinding/registers.h"

namespace lanescope::agent {
namespace {

// What libgcc, which CUPTI and every C++ program bring along, tells with a table's entry.
struct Bases {
  void* text;
  void* data;
  void* function;
};

// Finds the entry of the unwind tables for a place in the code, also of code that the program made. To look for them here would need a newer C library than the
// agent promises to run with. libgcc's own walk is not used: it reads whatever the stack names, and ends the program on a stack without an end.
using FindEntry = const void* (*)(void* place, Bases* bases);
constinit FindEntry find_entry = nullptr;
constinit std::atomic<bool> can_unwind{false};

}  // namespace

bool prepare_call_chains() noexcept {
  if (can_unwind.load(std::memory_order_acquire)) return true;
  void* library = load_file("libgcc_s.so.1", RTLD_LAZY);
  if (library == nullptr) return false;
  find_entry = reinterpret_cast<FindEntry>(dlsym(library, "_Unwind_Find_FDE"));
  const bool found = find_entry != nullptr;
  // The first walk sets libgcc up, which takes system calls: the program may have forbidden them by the time of its first long call.
  if (found) static_cast<void>(CallChain());
  can_unwind.store(found, std::memory_order_release);
  return found;
}

bool can_take_call_chains() noexcept { return can_unwind.load(std::memory_order_acquire); }

[[gnu::noinline]] CallChain::CallChain() noexcept {
  Registers registers{};
  take_registers(registers);
  CheckedMemory memory;
  while (depth_ < kMaximumDepth) {
    Bases bases{};
    const void* const entry = find_entry(reinterpret_cast<void*>(registers.looked_up()), &bases);
    if (entry == nullptr && !memory.can_read(registers.place)) return;  // it is no code
    addresses_[depth_++] = registers.place;
    if (entry == nullptr) return;
    if (step_to_caller(registers, entry, reinterpret_cast<std::uint64_t>(bases.function), memory) == Step::kAtEnd) return;
  }
}

}  // namespace lanescope::agent
