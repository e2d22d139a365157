// Finds the launching calls of many GPU events: an index of the CUDA calls of processes, by correlation id.
//
// When the indices of processes have become large, calls of further processes are indexed in slices of ids. A slice is made when it is needed, from the
// segments that may have calls with its ids. A caller that asks in the order of time needs the slices in order, so memory does not grow with the trace. If
// slices would have to read the same segments again and again, because ids are in no order, the index is made whole.
//
// Threads: any. Each keeps the slice that it used last, until it uses another or ends.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

// This many calls before a launch, on its lane, may have made its stream wait; they are examined if the launch's work waited.
inline constexpr EventIndex kCallsBeforeLaunch = 8;

class LaunchIndex {
 public:
  struct Limits {
    std::uint64_t whole_bytes = std::uint64_t{64} << 20;   // what the indices of processes may take together before further ones are made in slices
    std::uint32_t slice_ids = 1u << 18;                    // at first; more if calls of many threads take turns. 8 bytes each
    std::uint64_t slice_bytes = std::uint64_t{128} << 20;  // of slices of all processes together; the last one is kept in any case
  };
  // O(CUDA calls of the processes whose index is whole).
  explicit LaunchIndex(const Trace& trace, std::stop_token stop = {}) : LaunchIndex(trace, Limits(), std::move(stop)) {}
  LaunchIndex(const Trace& trace, const Limits& limits, std::stop_token stop = {});
  ~LaunchIndex();
  LaunchIndex(LaunchIndex&&) noexcept;
  LaunchIndex& operator=(LaunchIndex&&) noexcept;

  // The outermost call of the process with this correlation id. If ids are reused, the one nearest to work that starts at this time (launch_distance). Returns
  // an invalid reference if there is none. O(1) if ids are dense, as they nearly always are, else O(log n); O(calls of a slice) if the slice has to be made.
  [[nodiscard]] EventRef find(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const;

  // Memory in use now, without the slices that only threads keep.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  struct OneOfSeveral {
    std::uint32_t correlation = 0;
    ThreadId thread = kNone;  // of the call
    Nanoseconds start = 0;
    EventRef call;
  };
  // Calls with ids of a range, or all calls.
  struct Calls {
    std::uint32_t smallest = 1;
    std::vector<EventRef> dense;                             // by id - smallest; kSeveral for ids of several calls
    std::vector<std::pair<std::uint32_t, EventRef>> sparse;  // sorted by id; used if the dense form would be mostly empty
    std::vector<OneOfSeveral> repeated;                      // all calls whose ids several calls have; sorted by id and start
    [[nodiscard]] EventRef find(std::uint32_t correlation, Nanoseconds work_start) const noexcept;
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  };
  struct Ids {
    std::uint32_t first, last;
    [[nodiscard]] std::uint64_t size() const noexcept { return std::uint64_t{last} - first + 1; }
  };
  enum class Form : std::uint8_t { kDense, kSparse };
  class KeptSlices;
  class Slices;
  struct Process;

  static OneOfSeveral one_of_several(const Trace& trace, std::uint32_t correlation, EventRef call);
  static void keep_outermost(const Trace& trace, std::vector<OneOfSeveral>& calls);
  static Calls index_calls(const Trace& trace, const std::vector<LaneId>& lanes, Ids ids, Form form, const std::stop_token& stop);
  static Process index_process(const Trace& trace, ProcessId process, const Limits& limits, const std::shared_ptr<KeptSlices>& kept_slices,
                               const std::stop_token& stop);
  std::shared_ptr<KeptSlices> kept_slices_;
  std::vector<Process> processes_;
};

// The index of one trace, made when it is first needed, and shared by all users. Any thread.
class SharedLaunchIndex {
 public:
  SharedLaunchIndex();
  ~SharedLaunchIndex();
  SharedLaunchIndex(const SharedLaunchIndex&) = delete;
  SharedLaunchIndex& operator=(const SharedLaunchIndex&) = delete;
  // Requires: always called with the same trace. O(CUDA calls) the first time.
  [[nodiscard]] const LaunchIndex& of(const Trace& trace);
  // The call that enqueued this work of a GPU; invalid if there is none. The first kFewQuestions are answered without the index, if nobody made it yet:
  // those who ask about the edges of a loop, as for each snapshot of a recording, need not read all calls. O(segments of the process's calls) then.
  static constexpr std::uint32_t kFewQuestions = 1'000;
  [[nodiscard]] EventRef find(const Trace& trace, EventRef work);
  [[nodiscard]] bool is_made() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
