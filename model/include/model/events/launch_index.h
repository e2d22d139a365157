// Finds launching calls of many GPU events: an index over the CUDA calls of the processes, by correlation id.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

class LaunchIndex {
 public:
  // O(CUDA calls of the trace).
  explicit LaunchIndex(const Trace& trace, std::stop_token stop = {});

  // The outermost call of the process with this correlation id, where ids come round again the one that is nearest to work that starts then
  // (launch_distance); an invalid reference when there is none. O(1) where ids are dense, as they nearly always are, else O(log n).
  [[nodiscard]] EventRef find(ProcessId process, std::uint32_t correlation, Nanoseconds work_start) const noexcept;

 private:
  struct OneOfSeveral {
    std::uint32_t correlation = 0;
    ThreadId thread = kNone;  // of the call
    Nanoseconds start = 0;
    EventRef call;
  };
  struct Calls {
    std::uint32_t smallest = 1;
    std::vector<EventRef> dense;                             // by id - smallest
    std::vector<std::pair<std::uint32_t, EventRef>> sparse;  // sorted by id, where the dense form would be mostly empty
    std::vector<OneOfSeveral> repeated;                      // all calls of ids that several have; sorted by id and start
  };
  static OneOfSeveral one_of_several(const Trace& trace, std::uint32_t correlation, EventRef call);
  static void keep_outermost(const Trace& trace, std::vector<OneOfSeveral>& calls);
  static Calls index_calls(const Trace& trace, ProcessId process, std::stop_token stop);
  std::vector<Calls> calls_;  // by process
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
