// Filters by which the kernel decides which system calls a process may make (seccomp(2)): classic BPF, run for each system call.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace lanescope::attach {

using FilterProgram = std::vector<sock_filter>;

enum class Verdict {
  kAllows,
  kDenies,  // the call fails, or waits for a supervisor
  kKills,   // the process ends, or gets a signal (SIGSYS) that ends it unless it is awaited
};

// Instructions that may still be followed, of all filters that a question is about: the program that is examined wrote them.
struct FilterWork {
  std::size_t left = 4'000'000;  // takes some seconds
};

// The worst that the filter may do with a call of this number on this machine, whatever the arguments are; kKills if that is not known, or takes more than the
// work that is left. O(length) for filters that occur in practice. Any thread.
Verdict worst_verdict(const FilterProgram& filter, long call, FilterWork& work);

}  // namespace lanescope::attach
