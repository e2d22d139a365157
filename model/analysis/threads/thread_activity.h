// What one thread did at each moment, as far as its tracks show it.
//
// If several things are known of a moment, the first of the following counts: the profiler, a communication range, a CUDA call, compilation, a call
// into the C library, the scheduler if it held the thread back. If nothing is known, the thread ran code of its own.
#pragma once

#include <array>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "call_class.h"
#include "lane_cursor.h"
#include "model/analysis/idle/idle.h"
#include "model/trace/measured_calls.h"
#include "model/trace/trace.h"
#include "thread_tracks.h"

namespace lanescope::analysis {

struct Activity {
  TimeRange range;
  IdleCause cause = IdleCause::kCpuCode;
  NameId call = 0;
  EventRef nvtx;  // the innermost NVTX range, over all domains
};

// Data that all threads of a trace share: answers about names, and which launches were measured.
struct NameClasses {
  explicit NameClasses(const Trace& trace)
      : cuda_call(trace, classify_cuda_call),
        stream_wait(trace, makes_stream_wait),
        os_call(trace, classify_os_call),
        communication(trace, is_communication_name),
        measured(MeasuredCalls::known(trace)) {}
  NameMemo<CallClass> cuda_call;
  NameMemo<bool> stream_wait;
  NameMemo<IdleCause> os_call;
  NameMemo<bool> communication;
  MeasuredCalls measured;
};

class ThreadActivity {
 public:
  // Up to this many lanes of a thread are all looked at for each moment. With more lanes, only those are in which something starts or ends.
  static constexpr std::size_t kFewLanes = 64;
  // O(tracks). `few_lanes`: another limit for tests.
  ThreadActivity(const Trace& trace, const ThreadTracks& tracks, ThreadId thread, NameClasses& names, std::size_t few_lanes = kFewLanes);

  // Appends what the thread did in the window, in adjoining pieces that cover it. Windows must come in order of start, otherwise they cost O(log n) a
  // lane instead of O(1). O(lanes · events in the window). With many lanes, and windows in order: O(log n) for each event in the windows or between
  // them.
  void describe(TimeRange window, std::vector<Activity>& pieces);

  // The innermost NVTX range at t.
  [[nodiscard]] EventRef innermost_range(Nanoseconds t);

  // The closest call that makes a stream wait, among the few calls in front of this one; 0 if there is none.
  [[nodiscard]] NameId stream_wait_before(EventRef call) const;

 private:
  enum class Layer : std::uint8_t { kOverhead, kCommunication, kCudaCall, kCompilation, kOsCall, kHeldBack, kRange };
  struct Source {
    Layer layer;
    LaneId id;
    LaneCursor cursor;
  };
  struct Scan {  // a source within a window
    const Source* source;
    EventIndex at;
    TimeRange time;  // of the event at `at`
  };

  // The events that cover a moment, which moves forward. If an earlier moment is asked for, all lanes are looked at instead.
  struct Sweep {
    bool has_begun = false;
    Nanoseconds time = 0;
    std::vector<EventIndex> covering;  // by source; meaningless if the source is in none of the sets below
    std::priority_queue<std::pair<Nanoseconds, std::uint32_t>, std::vector<std::pair<Nanoseconds, std::uint32_t>>, std::greater<>>
        changes;                                                                            // time of the change, and its source
    std::vector<Nanoseconds> next;                                                          // by source: the time of the change that counts
    std::set<std::pair<Nanoseconds, std::uint32_t>> ranges;                                 // their starts, and their sources
    std::array<std::set<std::uint32_t>, static_cast<std::size_t>(Layer::kRange)> by_layer;  // sources
  };

  [[nodiscard]] bool has_many() const noexcept { return sources_.size() > few_lanes_; }
  [[nodiscard]] Activity at(Nanoseconds t, std::vector<Scan>& scans, Nanoseconds& until);
  [[nodiscard]] Activity at_in_many(Nanoseconds t, Nanoseconds& until);
  [[nodiscard]] bool move_to(Nanoseconds t);  // returns false if t lies before the current moment
  void advance(Nanoseconds t);
  void go_back();  // to the moment to which it was moved last
  void enter(std::uint32_t source, Nanoseconds t);
  void leave(std::uint32_t source);
  // What an event says about its thread; kRange if nothing.
  [[nodiscard]] Layer layer_of(const Source& source, EventIndex index);
  void take(const Source& source, EventIndex index, Layer layer, Activity& activity);
  [[nodiscard]] static bool is_range(const Source& source) noexcept { return source.layer == Layer::kRange || source.layer == Layer::kCommunication; }

  const Trace* trace_;
  NameClasses* names_;
  std::vector<Source> sources_;
  std::vector<Scan> scans_;  // scratch
  std::size_t few_lanes_;
  Sweep sweep_;                          // used for many lanes
  std::vector<std::uint32_t> advanced_;  // sources that changed since the last move
};

}  // namespace lanescope::analysis
