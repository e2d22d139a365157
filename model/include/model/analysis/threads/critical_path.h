// What a step took its time for: the way back from its last GPU work to its start, as stretches of time, each with what held the step up then.
//
// The way leads from a GPU operation to what it waited for (waits.h): the previous operation, one of another stream or rank, or the call that enqueued it. From
// a call it leads to what its thread did before; from a call that waited, to what it waited for: GPU work, a thread that held Python's lock, that wrote
// the data, that woke it, or that handed work over and then waited itself, as PyTorch's threads of a backward pass do. So the parts adjoin, cover the step
// exactly, and no part could have taken longer without the step taking longer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "model/analysis/idle/idle.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class PathKind : std::uint8_t {
  kGpuWork,   // an operation of a GPU ran
  kEnqueued,  // an operation was enqueued, and waited for something that was not recorded
  kOnTheWay,  // what the operation waited for had ended, and the operation had not started
  kThread,    // a thread did something: see cause
  kReturn,    // what a call waited for had ended, and the call had not returned
  kUnknown,   // what was waited for was not recorded
};

struct PathPart {
  TimeRange range;
  PathKind kind = PathKind::kUnknown;
  EventRef event;                         // the operation or call; for code, the innermost NVTX range; may be invalid
  IdleCause cause = IdleCause::kUnknown;  // for kThread: what the thread did; kUnknown if nothing was recorded that tells code from waits
  ThreadId thread = kNone;                // for kThread and kReturn: which thread, if known
};

struct CriticalPath {
  TimeRange range;              // the step
  std::vector<PathPart> parts;  // in order of time; they adjoin and cover the range exactly
};

// For a part of time: leads back from the operation that runs on a GPU at its end; if none does, from what the thread that enqueued the last operation before
// did then. If nothing was enqueued before, it is the thread that enqueues the next operation; if there is none either, the thread that NVTX ranges, or else
// other events, cover for longest. No parts if there is no such thread, or when asked to stop. O(parts · tracks · log n + events of the threads on the way);
// after 40 million looks at lanes, which only a hostile file needs, the rest of the way is PathKind::kUnknown.
[[nodiscard]] CriticalPath critical_path(const Trace& trace, TimeRange time, const std::stop_token& stop = {});

// For an NVTX range of a thread: the step ends with the range, or later with the last work that its process enqueued within the range.
[[nodiscard]] CriticalPath critical_path(const Trace& trace, EventRef nvtx_range, const std::stop_token& stop = {});
// When that step ends. O(calls within the range).
[[nodiscard]] Nanoseconds end_of_step(const Trace& trace, EventRef nvtx_range, const std::stop_token& stop = {});

// The same for many steps of a trace, which must outlive it: what all paths need, such as classes of names, is gathered once, and the 40 million looks are
// of all of them together. Construction is O(names + tracks + overheads).
//
// Threads: one at a time.
class CriticalPaths {
 public:
  explicit CriticalPaths(const Trace& trace);
  ~CriticalPaths();
  CriticalPaths(const CriticalPaths&) = delete;
  CriticalPaths& operator=(const CriticalPaths&) = delete;

  [[nodiscard]] CriticalPath of(TimeRange time, const std::stop_token& stop = {});
  [[nodiscard]] CriticalPath of(EventRef nvtx_range, const std::stop_token& stop = {});

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// The rank of the process that the part is of, if it is known.
[[nodiscard]] std::optional<std::uint32_t> rank_of(const Trace& trace, const PathPart& part);

// What the time of a part was spent with, without its event: "on its way to the GPU".
[[nodiscard]] Message path_words(const PathPart& part);

// All parts with the same kind, cause and name, of one process, thread or GPU.
struct PathSum {
  PathPart longest;  // the longest of these parts
  Nanoseconds time = 0;
  std::uint64_t parts = 0;
};
// The longest sum first; the sums add up to the step. O(parts · log parts).
[[nodiscard]] std::vector<PathSum> path_sums(const Trace& trace, const CriticalPath& path);

}  // namespace lanescope::analysis
