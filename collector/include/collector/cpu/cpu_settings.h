// What to record of the processors: which thread ran when and where, and what code it ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::cpu {

enum class Scope {
  kNone,
  kProcessTree,  // the recorded programs and all that they start
  kSystemWide,   // every process of the machine, where the system permits it
};

// How the calls that led to a sample are found.
enum class CallChains {
  kNone,           // the code that ran, without its callers
  kFramePointers,  // by the frame pointers that code compiled with -fno-omit-frame-pointer keeps: cheap, ends at code without them
  kDwarf,          // by unwind tables, from a copy of the stack: complete, costs more
  kBranchRecords,  // by the processor's own record of calls; few processors have it
};

inline constexpr std::uint32_t kMaximumFrequency = 10'000;

struct CpuSettings {
  Scope thread_states = Scope::kNone;
  Scope samples = Scope::kNone;  // where both are recorded and one is system-wide, both are
  CallChains call_chains = CallChains::kFramePointers;
  std::uint32_t frequency = 1000;  // samples for each second of processor time; at most kMaximumFrequency
  bool python_names = false;       // Python functions stand in call chains: read from the programs' memory (collector/python)
  std::string debug_folders;       // to look for debug files in, besides the usual ones; separated by colons
  // Of the programs, or of every process where states or samples are of all. They are recorded as NVTX ranges and marks of domains of their own.
  bool system_calls = false;
  std::vector<std::string> tracepoints;     // "sched/sched_switch", as tracefs has them
  std::vector<std::string> counted_events;  // names of counted_events.h: how often they happen in a second

  bool operator==(const CpuSettings&) const = default;
  [[nodiscard]] bool any() const noexcept {
    return thread_states != Scope::kNone || samples != Scope::kNone || system_calls || !tracepoints.empty() || !counted_events.empty();
  }
  [[nodiscard]] bool system_wide() const noexcept { return thread_states == Scope::kSystemWide || samples == Scope::kSystemWide; }
};

}  // namespace lanescope::cpu
