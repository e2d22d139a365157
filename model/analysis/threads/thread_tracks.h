// The tracks of each thread, for callers that look up one thread after another: files may have very many.
#pragma once

#include <span>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

class ThreadTracks {
 public:
  explicit ThreadTracks(const Trace& trace);  // O(tracks + threads)
  // In the order of the trace. O(1).
  [[nodiscard]] std::span<const TrackId> of(ThreadId thread) const noexcept {
    return std::span(tracks_).subspan(begins_[thread], begins_[thread + 1] - begins_[thread]);
  }
  // The same for a process: tracks that belong to no thread. O(tracks of the process and kind).
  [[nodiscard]] std::vector<TrackId> of_no_thread(ProcessId process, TrackKind kind) const;

 private:
  const Trace* trace_;
  std::vector<TrackId> tracks_;      // by thread
  std::vector<std::size_t> begins_;  // start of each thread's tracks in tracks_; one more than there are threads
};

// True if the recording of the process could show where its threads waited outside of CUDA calls: it has states of threads, calls into the C library, or
// samples of what ran. Otherwise, time between recorded calls may have been either. O(tracks of the process).
[[nodiscard]] bool shows_waits(const Trace& trace, ProcessId process);

}  // namespace lanescope::analysis
