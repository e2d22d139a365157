// The agent's walk along the stack, compared with libgcc's where that one can go, and on stacks where it can't.
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "agent/core/call_chain.h"

namespace lanescope::agent {
namespace {

using Chain = std::vector<std::uint64_t>;

// From the caller of this function on.
[[gnu::noinline]] Chain own_chain() {
  const CallChain chain;
  Chain addresses(chain.text().size() / sizeof(std::uint64_t));
  std::memcpy(addresses.data(), chain.text().data(), chain.text().size());
  constexpr int kWalk = 2;  // the constructor, and this function
  addresses.erase(addresses.begin(), addresses.begin() + std::min<int>(kWalk, static_cast<int>(addresses.size())));
  return addresses;
}

[[gnu::noinline]] Chain chain_of_libgcc() {
  Chain addresses;
  const auto add = [](_Unwind_Context* context, void* chain) {
    if (const auto place = _Unwind_GetIP(context); place != 0) static_cast<Chain*>(chain)->push_back(place);
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &addresses);
  addresses.erase(addresses.begin());
  return addresses;
}

// Both called from one function: they differ only in the place of the call.
struct Chains {
  Chain own;
  Chain other;
};
Chains both;
[[gnu::noinline]] void take_both() {
  both.own = own_chain();
  both.other = chain_of_libgcc();
  both.own.erase(both.own.begin());
  both.other.erase(both.other.begin());
}

void check_equal() {
  CHECK(both.own.size() >= 3);
  CHECK(both.own == both.other);
}

int depth_of_array(volatile int* depth) {
  volatile char room[64];
  room[0] = 1;
  if (*depth == 0) {
    take_both();
    return room[0];
  }
  *depth = *depth - 1;
  auto* const more = static_cast<volatile char*>(alloca(static_cast<std::size_t>(*depth) + 1));  // its frame is found by the frame register
  more[0] = 1;
  return depth_of_array(depth) + more[0];
}

TEST_CASE("a chain is that of libgcc's walk") {
  REQUIRE(prepare_call_chains());
  SECTION("through nested functions with frames of changing size") {
    volatile int depth = 20;
    depth_of_array(&depth);
  }
  SECTION("through the C library, which keeps no frame pointers") {
    int numbers[] = {2, 1};
    std::qsort(numbers, 2, sizeof(int), [](const void*, const void*) {
      take_both();
      return 0;
    });
  }
  SECTION("of a thread, to its beginning") { std::thread(take_both).join(); }
  SECTION("through a signal handler, to what it interrupted") {
    std::signal(SIGUSR1, [](int) { take_both(); });
    std::raise(SIGUSR1);
    std::signal(SIGUSR1, SIG_DFL);
  }
  SECTION("deeper than a record holds") {
    volatile int depth = 3'000;
    depth_of_array(&depth);
    REQUIRE(both.own.size() > 50);
    both.other.resize(std::min(both.other.size(), both.own.size()));
  }
  check_equal();
}

// A stack as that of greenlet and of coroutines: nothing that calls stands at its end.
class StackWithoutCaller {
 public:
  // `frame`, `back`: what stands where the caller's frame and the place to return to would.
  StackWithoutCaller(std::uint64_t frame, std::uint64_t back) {
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = memory_;
    inside_.uc_stack.ss_size = sizeof(memory_);
    inside_.uc_link = nullptr;
    makecontext(&inside_, run, 0);
#if defined(__x86_64__)
    std::memcpy(reinterpret_cast<void*>(inside_.uc_mcontext.gregs[REG_RSP]), &back, sizeof(back));
    inside_.uc_mcontext.gregs[REG_RBP] = static_cast<greg_t>(frame);
#elif defined(__aarch64__)
    inside_.uc_mcontext.regs[29] = frame;
    inside_.uc_mcontext.regs[30] = back;
#endif
  }
  Chain chain() {
    current = this;
    swapcontext(&outside_, &inside_);
    return chain_;
  }

 private:
  static void run() {
    StackWithoutCaller& self = *current;
    self.chain_ = own_chain();
    setcontext(&self.outside_);
  }

  static inline StackWithoutCaller* current = nullptr;
  alignas(16) char memory_[1 << 16];
  ucontext_t inside_;
  ucontext_t outside_;
  Chain chain_;
};

std::uint64_t place_in_function_with_frame = 0;
[[gnu::noinline]] void note_caller() { place_in_function_with_frame = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)); }
[[gnu::noinline]] char function_with_frame(int size) {
  auto* const room = static_cast<volatile char*>(alloca(static_cast<std::size_t>(size)));
  room[0] = 1;
  note_caller();
  return room[0];
}

TEST_CASE("a chain ends where the stack has no caller") {
  REQUIRE(prepare_call_chains());
  constexpr std::uint64_t kNowhere = 1;
  constexpr std::uint64_t kOutsideOfAddresses = 0xdead'beef'dead'beef;
  for (const std::uint64_t place : {std::uint64_t{0}, kNowhere, kOutsideOfAddresses}) CHECK(StackWithoutCaller(kNowhere, place).chain().size() == 1);

  // It returns to code, but the frame of that code is at no place of the memory.
  function_with_frame(100);
  for (const std::uint64_t frame : {std::uint64_t{0}, std::uint64_t{16}, kOutsideOfAddresses})
    CHECK(StackWithoutCaller(frame, place_in_function_with_frame).chain().size() == 2);
}

}  // namespace
}  // namespace lanescope::agent
