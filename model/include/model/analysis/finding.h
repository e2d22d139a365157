// A finding: one answer of a rule, in words, with the place to look at and its cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/message.h"
#include "model/trace/types.h"

namespace lanescope::analysis {

// The best place to show a finding. Fields that do not apply are empty, invalid or kNone.
struct Place {
  TimeRange range;  // to zoom to
  EventRef event;   // to select
  GpuId gpu = kNone;
  ProcessId process = kNone;
  ThreadId thread = kNone;
  std::string line = {};  // source line of `event`, a kernel, with the lines into which it was inlined: "file.cu:12 < main.cu:40"
};

enum class Recurrence : std::uint8_t {
  kRecurring,  // continues as long as the program runs, or may
  kOnce,       // setup and warm-up: a longer run does not pay it again
};

struct Finding {
  std::string_view rule;  // name of the rule: "gpu_bubbles"
  std::string key;        // the kind of finding among those of the rule, for programs: "cpu_code"; may be empty
  Message title;          // one sentence: the answer
  Message seen;           // what was observed, with numbers
  Place place;
  Nanoseconds cost = 0;             // time that could be saved at most; 0 if unknown
  std::size_t cost_iterations = 0;  // how many iterations the cost is of, if the times in the sentences are of fewer; else 0
  Nanoseconds hidden = 0;           // of the cost: GPU time that the program does not wait for, as long as the CPU enqueues work too slowly
  Recurrence recurrence = Recurrence::kRecurring;
  Message advice;  // what to do
};

// The cost, as precise as the title states it: "up to 289 ms", "up to 4.16 s, once", "not known"; if it is partly hidden, "up to 1.10 ms; 12.2 ms where
// the CPU keeps up"; if the sentences are about fewer iterations, "up to 7.53 ms in all 11 iterations".
[[nodiscard]] Message cost_text(const Finding& finding);

// Orders findings by the cost for which the program waits, the highest first; findings that are paid once come last.
void rank(std::vector<Finding>& findings);

}  // namespace lanescope::analysis
