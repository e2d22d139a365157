// What a recording lacks, in numbers, as its frames report it.
#pragma once

#include <cstdint>

#include "model/file/diagnostic_kind.h"

namespace lanescope {

struct Missing {
  std::uint64_t dropped = 0;             // records
  std::uint64_t invalid = 0;             // records
  std::uint64_t unreturned_buffers = 0;  // buffers of CUPTI
  std::uint64_t unwritten_events = 0;    // events that had no room in the file
  std::uint64_t python_stacks = 0;       // stacks that changed while they were read
  std::uint64_t pc_samples = 0;          // samples that found no room
  std::uint64_t full_pc_windows = 0;     // windows in which these could not be counted
  std::uint64_t unwhole_recordings = 0;  // incomplete recordings, among several that are shown as one
  std::uint64_t warnings = 0;            // warnings that report other missing data
  bool unfollowed = false;               // processes could not be followed
  bool file_was_full = false;            // the recording ended for this reason

  // Notes a proto::Diagnostic by its severity, component, state and content, if it is a failure, or a warning that some of the recorded data is missing. What
  // could not be recorded at all, because a permission or a library was lacking, does not count as missing. Ranges of NVTX that went to another tool do, for
  // those of other libraries are there.
  void note(int severity, int component, int state, DiagnosticContent content);
  Missing& operator+=(const Missing& other);
};

class TraceFileReader;
// What the frames of a finished file report, found by its index; empty if there is no valid index. O(frames).
[[nodiscard]] Missing missing_in(const TraceFileReader& file);

}  // namespace lanescope
