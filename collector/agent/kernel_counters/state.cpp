#include "agent/kernel_counters/state.h"

#include <new>

#include "agent/cupti/words.h"

namespace lanescope::agent::kernel_counters {
namespace {

using cupti::tell;

alignas(Collection) constinit unsigned char storage[sizeof(Collection)] = {};

}  // namespace

constinit Lock table_lock;
constinit std::atomic<State> state{State::kOff};
constinit std::atomic<int> captures{0};

Collection& all() noexcept { return *reinterpret_cast<Collection*>(storage); }

Collection& make(const Functions& functions) noexcept { return *::new (storage) Collection(functions); }

void give_up(const char* sentence) noexcept {
  if (state.exchange(State::kOver) == State::kOver) return;
  report(Component::kCupti, ComponentState::kRecording, Severity::kWarning, sentence, DiagnosticKind::kKernelCounters);
}

void give_up(const Refusal& refusal) noexcept {
  if (state.exchange(State::kOver) != State::kOver) tell_refusal(refusal, all().functions);
}

void give_up_after_fault() noexcept {
  give_up("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on.");
}

ContextCounters* counters_of(CUcontext context) noexcept {
  ContextCounters* free = nullptr;
  for (ContextCounters& each : all().contexts) {
    if (each.context() == context) return &each;
    if (free == nullptr && each.context() == nullptr) free = &each;
  }
  if (free == nullptr) return nullptr;
  if (const auto refusal = free->open(all().functions, all().plan, context, all().code)) {
    give_up(refusal);
    return nullptr;
  }
  if (free->sets().empty()) {
    if (!free->is_planned())
      tell(DiagnosticKind::kKernelCounters, ComponentState::kVersionMismatch, Severity::kWarning,
           "Counters of kernels are not read on a GPU of chip %s: it was not planned for.", free->chip());
    state.store(State::kOver);
    return nullptr;
  }
  return free;
}
}  // namespace lanescope::agent::kernel_counters
