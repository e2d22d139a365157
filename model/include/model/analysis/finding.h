// A finding: one answer of a rule, in words, with the place to look at and what it costs.
#pragma once

#include <string>
#include <string_view>

#include "model/trace/types.h"

namespace lanescope::analysis {

// Where a finding shows best. Fields that do not apply are empty, invalid or kNone.
struct Place {
  TimeRange range;  // to zoom to
  EventRef event;   // to select
  GpuId gpu = kNone;
  ProcessId process = kNone;
  ThreadId thread = kNone;
};

struct Finding {
  std::string_view rule;  // name of the rule: "gpu_bubbles"
  std::string key;        // what kind of finding among those of the rule, for programs: "cpu_code"; may be empty
  std::string title;      // one sentence: the answer
  std::string seen;       // what was observed, with numbers
  Place place;
  Nanoseconds cost = 0;  // time that could be won at most; 0 when it can't be told
  std::string advice;    // what to do
};

}  // namespace lanescope::analysis
