// CUPTI's range profiler and its counts of instructions without a GPU: what it is asked for is counted, and it refuses what it is told to.
#pragma once

#include <cstddef>
#include <cstdint>

inline constexpr std::uint64_t kMockCrc = 0x0123'4567'89ab'cdef;  // of code of no bytes; of others, that and their number
inline constexpr std::size_t kMockCodeBytes = 100;                // of the code in which instructions are counted

struct MockRangeProfiler {
  // What may be set.
  const char* refused = "";    // name of a function
  int result = 0;              // with which it refuses
  bool leaves_passes = false;  // Stop says that not all passes were made
  // What can be seen.
  int enabled = 0;
  int starts = 0;
  int stops = 0;
  int mistakes = 0;  // calls that CUPTI would refuse in their place
  bool is_started = false;
  std::uint32_t kernels = 0;   // since Start
  bool counts_ranges = false;  // not launches
  bool is_in_range = false;
  std::uint32_t ranges = 0;          // since Start
  const void* stream = nullptr;      // whose number was asked for last
  bool is_stream_of_thread = false;  // it is the thread's default one
  std::uint32_t sass_metrics = 0;    // that instructions are counted for, a bit each
};

extern "C" {
MockRangeProfiler* mock_range_profiler();
// Of counts of instructions: a kernel runs; and all is as in a new process.
void mock_sass_launch(const char* kernel);
void mock_sass_begin_process();
}
