#include "agent/core/call_chain.h"

#include <atomic>

#include <dlfcn.h>
#include <unwind.h>

#include "agent/core/loader/loader.h"

namespace lanescope::agent {
namespace {

// The unwinder of libgcc, which CUPTI and every C++ program bring along. One of the agent's own would need a newer C library than the agent promises to run
// with.
struct Unwinder {
  _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void*) = nullptr;
  _Unwind_Word (*address)(struct _Unwind_Context*) = nullptr;
};
constinit Unwinder unwinder;
constinit std::atomic<bool> can_unwind{false};

}  // namespace

struct CallChainWalk {
  static _Unwind_Reason_Code add_frame(struct _Unwind_Context* context, void* data) {
    auto& chain = *static_cast<CallChain*>(data);
    if (chain.depth_ == CallChain::kMaximumDepth) return _URC_END_OF_STACK;
    chain.addresses_[chain.depth_++] = unwinder.address(context);
    return _URC_NO_REASON;
  }
};

bool prepare_call_chains() noexcept {
  if (can_unwind.load(std::memory_order_acquire)) return true;
  void* library = load_file("libgcc_s.so.1", RTLD_LAZY);
  if (library == nullptr) return false;
  unwinder.walk = reinterpret_cast<decltype(unwinder.walk)>(dlsym(library, "_Unwind_Backtrace"));
  unwinder.address = reinterpret_cast<decltype(unwinder.address)>(dlsym(library, "_Unwind_GetIP"));
  const bool found = unwinder.walk != nullptr && unwinder.address != nullptr;
  // The first walk sets the unwinder up, which takes system calls: the program may have forbidden them by the time of its first long call.
  if (found) static_cast<void>(CallChain());
  can_unwind.store(found, std::memory_order_release);
  return found;
}

bool can_take_call_chains() noexcept { return can_unwind.load(std::memory_order_acquire); }

CallChain::CallChain() noexcept { unwinder.walk(CallChainWalk::add_frame, this); }

}  // namespace lanescope::agent
