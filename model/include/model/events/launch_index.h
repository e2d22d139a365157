// Finds launching calls of many GPU events: an index over the CUDA calls of the processes, by correlation id.
//
// Once processes have much, the calls of others are indexed in slices of ids, each when it is asked for, of the segments that can have
// calls of it. Who asks in the order of time asks for slices in order: memory does not grow with the trace. Where slices would go through
// the same segments again and again, because ids are in no order, the index is whole.
//
// Threads: any. Each keeps the slice that it used last, until it uses another or ends.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

// So many calls in front of a launch, on its lane, may have made its stream wait, and are looked at where the launch's work waited.
inline constexpr EventIndex kCallsBeforeLaunch = 8;

class LaunchIndex {
 public:
  struct Limits {
    std::uint64_t whole_bytes = std::uint64_t{64} << 20;   // what processes may take together before others' are made in slices
    std::uint32_t slice_ids = 1u << 18;                    // at first; more, where calls of many threads take turns. 8 bytes each
    std::uint64_t slice_bytes = std::uint64_t{128} << 20;  // that slices of all processes take together, but that the last stays
  };
  // O(CUDA calls of the processes whose index is whole).
  explicit LaunchIndex(const Trace& trace, std::stop_token stop = {}) : LaunchIndex(trace, Limits(), std::move(stop)) {}
  LaunchIndex(const Trace& trace, const Limits& limits, std::stop_token stop = {});
  ~LaunchIndex();
  LaunchIndex(LaunchIndex&&) noexcept;
  LaunchIndex& operator=(LaunchIndex&&) noexcept;

  // The outermost call of the process with this correlation id, where ids come round again the one that is nearest to work that starts then
  // (launch_distance); an invalid reference when there is none. O(1) where ids are dense, as they nearly always are, else O(log n); and
  // O(calls of a slice) where that is not there.
  [[nodiscard]] EventRef find(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const;

  // What it takes now, without what threads keep beyond that.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  struct OneOfSeveral {
    std::uint32_t correlation = 0;
    ThreadId thread = kNone;  // of the call
    Nanoseconds start = 0;
    EventRef call;
  };
  // With ids of a range, or all of them.
  struct Calls {
    std::uint32_t smallest = 1;
    std::vector<EventRef> dense;                             // by id - smallest; of ids that several calls have, no call
    std::vector<std::pair<std::uint32_t, EventRef>> sparse;  // sorted by id, where the dense form would be mostly empty
    std::vector<OneOfSeveral> repeated;                      // all calls of ids that several have; sorted by id and start
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

// The index of one trace, made when it is first asked for, and shared by what asks. Any thread.
class SharedLaunchIndex {
 public:
  SharedLaunchIndex();
  ~SharedLaunchIndex();
  SharedLaunchIndex(const SharedLaunchIndex&) = delete;
  SharedLaunchIndex& operator=(const SharedLaunchIndex&) = delete;
  // Requires: always the same trace. O(CUDA calls) the first time.
  [[nodiscard]] const LaunchIndex& of(const Trace& trace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
