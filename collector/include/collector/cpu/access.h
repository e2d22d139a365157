// What the kernel lets this user record of threads and processors. The kernel is asked by trying.
//
// Threads: safe to call from any thread. Takes well under a millisecond.
#pragma once

#include <string>

namespace lanescope::cpu {

struct Access {
  bool own_processes = false;   // thread states and samples of processes of this user
  bool system_wide = false;     // of every process
  bool kernel_code = false;     // samples say what the kernel did on a thread's behalf
  bool cycles = false;          // samples are driven by the processor's cycle counter, else by the kernel's timer
  bool branch_records = false;  // the processor can record calls
  bool wakeups = false;         // waiting for a processor is distinguished from other waiting
  std::string reason;           // why own_processes is false, one clause: "kernel.perf_event_paranoid is 4"
  std::string remedy;           // the command that changes it; may be empty
};

[[nodiscard]] Access probe_access();

// The command that permits system-wide recording.
inline constexpr const char* kSystemWideRemedy = "sudo sysctl kernel.perf_event_paranoid=-1";

}  // namespace lanescope::cpu
