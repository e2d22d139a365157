// Programs by which the kernel decides what a process may ask of it (seccomp(2)): classic BPF, run for each system call.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <vector>

namespace lanescope::attach {

using FilterProgram = std::vector<sock_filter>;

enum class Verdict {
  kAllows,
  kDenies,  // the call fails, or waits for a supervisor
  kKills,   // the process ends, or gets a signal (SIGSYS) that ends it unless it is awaited
};

// The worst that the filter may do with a call of this number on this machine, whatever its arguments are. kKills where that can't be said.
// O(length) for filters as they are, bounded for others. Any thread.
Verdict worst_verdict(const FilterProgram& filter, long call);

}  // namespace lanescope::attach
