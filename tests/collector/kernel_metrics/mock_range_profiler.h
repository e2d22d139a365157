// CUPTI's range profiler without a GPU: what it is asked for is counted, and it refuses what it is told to.
#pragma once

#include <cstdint>

struct MockRangeProfiler {
  // What may be set.
  const char* refused = "";  // name of a function
  int result = 0;            // with which it refuses
  bool leaves_passes = false;  // Stop says that not all passes were made
  // What can be seen.
  int enabled = 0;
  int starts = 0;
  int stops = 0;
  int mistakes = 0;       // calls that CUPTI would refuse in their place
  bool is_started = false;
  std::uint32_t kernels = 0;  // since Start
};

extern "C" MockRangeProfiler* mock_range_profiler();
