// CUPTI's range profiler and its counts of instructions without a GPU: it counts requests, and refuses what a test tells it to refuse.
#pragma once

#include <cstddef>
#include <cstdint>

inline constexpr std::uint64_t kMockCrc = 0x0123'4567'89ab'cdef;  // of empty code; of other code, this plus the number of its bytes
inline constexpr std::size_t kMockCodeBytes = 100;                // of the code in which instructions are counted

struct MockRangeProfiler {
  // What tests may set.
  const char* refused = "";    // name of the function that is refused
  int result = 0;              // with which it is refused
  bool leaves_passes = false;  // Stop reports that not all passes were made
  // What tests can read.
  int enabled = 0;
  int starts = 0;
  int stops = 0;
  int mistakes = 0;  // calls that CUPTI would refuse at that point
  bool is_started = false;
  std::uint32_t kernels = 0;   // since Start
  bool counts_ranges = false;  // instead of launches
  bool is_in_range = false;
  std::uint32_t ranges = 0;          // since Start
  const void* stream = nullptr;      // the stream whose number was asked for last
  bool is_stream_of_thread = false;  // the stream is the thread's default one
  std::uint32_t sass_metrics = 0;    // metrics for which instructions are counted, a bit each
};

extern "C" {
MockRangeProfiler* mock_range_profiler();
// For counts of instructions: runs a kernel; resets everything as in a new process.
void mock_sass_launch(const char* kernel);
void mock_sass_begin_process();
}
