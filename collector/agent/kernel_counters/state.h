// State that the parts of a collection of counters share: what is counted now, and the progress of each part.
//
// Threads: members of Collection belong to the thread that has closed its gate, except atomics, the file, and launches, which table_lock guards.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/cupti/library/guarded_call.h"
#include "agent/kernel_counters/choice/launch_table.h"
#include "agent/kernel_counters/choice/set_choice.h"
#include "agent/kernel_counters/counting/context_counters.h"
#include "agent/kernel_counters/counting/functions.h"
#include "agent/kernel_counters/counting/gate.h"
#include "agent/kernel_counters/counting/refusal.h"
#include "agent/kernel_counters/plan.h"
#include "agent/kernel_counters/records/record_file.h"
#include "agent/process/lock.h"

namespace lanescope::agent::kernel_counters {

inline constexpr std::size_t kMostContexts = 16;
inline constexpr char kTooManyContexts[] = "The program has more CUDA contexts than counters are read in: 16, those that launched first.";

enum class State : int { kOff, kWaiting, kOn, kOver };

struct Measurement {
  ContextCounters* counters = nullptr;
  const Set* set = nullptr;
  std::uint32_t group = 0;
  std::int64_t begin = 0;    // ns of the monotonic clock, when the counting began
  std::int64_t started = 0;  // likewise; the kernel did not run before this time
};

// The NVTX range whose kernels are counted together.
struct CountedRange {
  ContextCounters* counters = nullptr;  // null: none is counted
  const Set* set = nullptr;
  std::uint32_t correlation = 0;         // correlation id of its first launch
  std::int64_t begin = 0;                // ns of the monotonic clock
  std::uint64_t spent = 0;               // ns
  bool has_told = false;                 // about one that was left out
  std::atomic<std::uint32_t> number{0};  // nvtx::times_included() of the last one that was examined
  std::atomic<std::uint64_t> launches{0};
  std::atomic<bool> is_open{false};  // it is being counted
  std::atomic<bool> is_lost{false};  // it can't be counted any more, and ends with a later launch
};

struct Collection {
  explicit Collection(const Functions& resolved) noexcept : functions(resolved), code(resolved.get_cubin_crc) {}

  const Functions functions;
  Plan plan;
  Gate gate;
  LaunchTable table;
  LaunchEntry further;  // stands for all launches for which the table has no room
  SetChoice sets;
  RecordFile file;
  kernels::CodeObjects code;  // for counts of instructions
  ContextCounters contexts[kMostContexts];
  Measurement now;
  CountedRange range;
  std::uint64_t fitting = 0;  // launches, or ranges, with a chosen name
  std::uint64_t spent = 0;    // ns
  char running[256] = {};     // the kernel that is being measured
};

// Requires: state is not kOff.
[[nodiscard]] Collection& all() noexcept;
// Creates it again. Requires: state is kOff.
Collection& make(const Functions& functions) noexcept;

extern constinit Lock table_lock;
extern constinit std::atomic<State> state;
extern constinit std::atomic<int> captures;  // graph captures in progress

// Ends the counting, once, and tells the user in one sentence.
void give_up(const char* sentence) noexcept;
void give_up(const Refusal& refusal) noexcept;

void give_up_after_fault() noexcept;  // a fault in CUPTI

// Calls CUPTI. If that faults, the counting ends; returns false then.
template <typename Work>
bool guarded(Work work) noexcept {
  if (cupti::call_cupti(work) != Guarded::kFaulted) return true;
  give_up_after_fault();
  return false;
}

// The counters of a context, opened if it is new. Null if they are not available, or if there are too many contexts; in the latter case the state remains kOn.
// Requires: the gate is closed.
[[nodiscard]] ContextCounters* counters_of(CUcontext context) noexcept;

}  // namespace lanescope::agent::kernel_counters
