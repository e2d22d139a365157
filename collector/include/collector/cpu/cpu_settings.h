// What to record of the processors: which thread ran when and on which processor, and what code it ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::cpu {

enum class Scope {
  kNone,
  kProcessTree,  // the recorded programs and everything that they start
  kSystemWide,   // every process of the machine, if the system permits it
};

// How the calls that led to a sample are found.
enum class CallChains {
  kNone,           // the code that ran, without its callers
  kFramePointers,  // by frame pointers, which code compiled with -fno-omit-frame-pointer keeps: cheap, ends at code without them
  kDwarf,          // by unwind tables, from a copy of the stack: complete, costs more
  kBranchRecords,  // by the processor's own record of calls; few processors have it
};

inline constexpr std::uint32_t kMaximumFrequency = 10'000;

struct CpuSettings {
  Scope thread_states = Scope::kNone;
  Scope samples = Scope::kNone;  // if both are recorded and one is system-wide, the other is too
  CallChains call_chains = CallChains::kFramePointers;
  std::uint32_t frequency = 1000;  // samples for each second of processor time; at most kMaximumFrequency
  bool python_names = false;       // Python functions appear in call chains: they are read from the programs' memory (collector/python)
  std::string debug_folders;       // additional folders with debug files, separated by colons
  // For the programs, or for every process if states or samples are system-wide. Recorded as NVTX ranges and marks in domains of their own.
  bool system_calls = false;
  std::vector<std::string> tracepoints;     // "sched/sched_switch", as in tracefs
  std::vector<std::string> counted_events;  // names from counted_events.h; recorded as counts a second

  bool operator==(const CpuSettings&) const = default;
  [[nodiscard]] bool any() const noexcept {
    return thread_states != Scope::kNone || samples != Scope::kNone || system_calls || !tracepoints.empty() || !counted_events.empty();
  }
  [[nodiscard]] bool system_wide() const noexcept { return thread_states == Scope::kSystemWide || samples == Scope::kSystemWide; }
};

}  // namespace lanescope::cpu
