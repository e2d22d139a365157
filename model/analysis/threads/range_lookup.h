// The NVTX ranges around moments of threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "lane_cursor.h"
#include "model/trace/trace.h"
#include "thread_tracks.h"

namespace lanescope::analysis {

// Ranges that nest very deep are only looked at to a limited depth: for each thread the outermost ranges of all domains, on 64 lanes at least, and on
// more if the trace has few events for which they may be asked. Programs nest some tens deep.
class RangeLookup {
 public:
  static constexpr std::uint64_t kLeastLanes = 64;
  static constexpr std::uint64_t kLooks = 400'000'000;  // looks at lanes, if each event of the trace is asked for once: a second or two

  explicit RangeLookup(const Trace& trace, std::uint64_t looks = kLooks);

  // Calls visit(EventRef) for each push/pop range of the thread that covers t, of all domains. O(lanes that are looked at) if times ascend.
  template <typename Visit>
  void for_each(ThreadId thread, Nanoseconds t, Visit visit) {
    for (Source& source : sources_of(thread))
      if (const auto found = source.cursor.at(t)) visit(EventRef{source.lane, *found});
  }
  // The range that started last; invalid if there is none.
  [[nodiscard]] EventRef innermost(ThreadId thread, Nanoseconds t);

  // The thread whose ranges the work of a thread belongs to: the thread itself, or, if it has none at that time (PyTorch's backward pass), the only
  // thread of its process that has. If very many threads of the process have ranges, only its own count.
  [[nodiscard]] ThreadId owner(ThreadId thread, Nanoseconds t);

 private:
  struct Source {
    LaneId lane;
    LaneCursor cursor;
  };
  std::vector<Source>& sources_of(ThreadId thread);
  // The number of lanes of each domain that are looked at, from the outermost on.
  [[nodiscard]] std::vector<std::size_t> depths_looked_at(std::span<const std::span<const LaneId>> domains) const;

  const Trace* trace_;
  std::uint64_t looks_;
  ThreadTracks tracks_;
  std::vector<std::unique_ptr<std::vector<Source>>> threads_;
  std::map<ProcessId, std::set<ThreadId>> with_ranges_;
};

}  // namespace lanescope::analysis
