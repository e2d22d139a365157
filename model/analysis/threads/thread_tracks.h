// The tracks of each thread, for those who ask of one thread after the other: files may have very many.
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
  // The same of a process: what it does on no thread of its own. O(tracks of the process and kind).
  [[nodiscard]] std::vector<TrackId> of_no_thread(ProcessId process, TrackKind kind) const;

 private:
  const Trace* trace_;
  std::vector<TrackId> tracks_;      // by thread
  std::vector<std::size_t> begins_;  // of each thread in them; one more than there are threads
};

}  // namespace lanescope::analysis
