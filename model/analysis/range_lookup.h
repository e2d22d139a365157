// NVTX ranges around moments of threads.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "lane_cursor.h"
#include "model/trace/trace.h"
#include "thread_tracks.h"

namespace lanescope::analysis {

class RangeLookup {
 public:
  explicit RangeLookup(const Trace& trace);

  // Calls visit(EventRef) for each push/pop range of the thread that covers t, all domains. O(lanes) where times ascend.
  template <typename Visit>
  void for_each(ThreadId thread, Nanoseconds t, Visit visit) {
    for (Source& source : sources_of(thread))
      if (const auto found = source.cursor.at(t)) visit(EventRef{source.lane, *found});
  }
  // The one that began last; invalid when there is none.
  [[nodiscard]] EventRef innermost(ThreadId thread, Nanoseconds t);

  // Whose ranges the work of a thread belongs to: its own, or, where it has none at that time (PyTorch's backward pass), those of the one
  // thread of its process that has. Where ranges are on very many threads of it, only its own count.
  [[nodiscard]] ThreadId owner(ThreadId thread, Nanoseconds t);

 private:
  struct Source {
    LaneId lane;
    LaneCursor cursor;
  };
  std::vector<Source>& sources_of(ThreadId thread);

  const Trace* trace_;
  ThreadTracks tracks_;
  std::vector<std::unique_ptr<std::vector<Source>>> threads_;
  std::map<ProcessId, std::set<ThreadId>> with_ranges_;
};

}  // namespace lanescope::analysis
