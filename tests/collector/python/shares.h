// Samples of Python programs whose functions take known shares of the processor time: 60 % in sixty(), 40 % in forty().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../attach/running_target.h"
#include "recorded.h"
#include "support/catch.h"

namespace lanescope::test {

#define SKIP_WHERE_FORBIDDEN()                        \
  if (const auto reason = cannot_observe(); reason) { \
    WARN(*reason);                                    \
    return;                                           \
  }

cpu::CpuSettings python_sampling(cpu::CallChains chains);

// Records a program while it works for the time that it is told; it prints "done" afterwards.
std::shared_ptr<const Trace> record_attached(const RunningTarget& target, const std::string& seconds, cpu::CallChains chains);

// Samples of the process that worked; the other processes started it.
std::vector<Chain> samples_of_worker(const Trace& trace);

// Checks the two functions' shares, within four standard deviations, in samples that are in the order of time.
void check_share(const std::vector<Chain>& chains);

// True if the chain has these functions in this order, innermost first, possibly with others between them.
bool has_in_order(const Chain& chain, const std::vector<std::string>& functions);

}  // namespace lanescope::test
