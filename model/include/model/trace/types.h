// The basic types of the model: times, ranges, ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lanescope {

using Nanoseconds = std::int64_t;  // a duration, or a time since the trace's epoch

// No recording lasts 73 years. Times that are nearer to the epoch than that can be subtracted from each other, and durations as long as that can be
// added to them.
[[nodiscard]] constexpr bool is_near(Nanoseconds time) noexcept {
  constexpr Nanoseconds kFarthest = Nanoseconds{1} << 61;
  return -kFarthest <= time && time <= kFarthest;
}

// [begin, end) in ns.
struct TimeRange {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  [[nodiscard]] Nanoseconds length() const noexcept { return end - begin; }
  [[nodiscard]] bool empty() const noexcept { return end <= begin; }
  [[nodiscard]] bool contains(Nanoseconds t) const noexcept { return begin <= t && t < end; }
  // True if an event of this time overlaps the window, or starts in it: these are the events of a window.
  [[nodiscard]] bool takes(TimeRange event) const noexcept { return event.begin < end && (event.begin >= begin || event.end > begin); }
  [[nodiscard]] TimeRange intersected(TimeRange other) const noexcept {
    return {std::max(begin, other.begin), std::max(std::max(begin, other.begin), std::min(end, other.end))};
  }
  bool operator==(const TimeRange&) const = default;
};

using EventIndex = std::uint32_t;      // position of an event in its lane
using NameId = std::uint32_t;          // a string of the trace; 0 is the empty string
using DetailId = std::uint32_t;        // row of the detail table of the event's kind; 0 is the default row: nothing known
using LaneId = std::uint32_t;          // position in Trace::lanes()
using TrackId = std::uint32_t;         // position in Trace::tracks()
using ProcessId = std::uint32_t;       // position in Trace::processes(); not the pid
using ThreadId = std::uint32_t;        // position in Trace::threads(); not the kernel's id
using GpuId = std::uint32_t;           // position in Trace::gpus()
using CallNodeId = std::uint32_t;      // position in CallStacks: one call of a call chain; 0 is the empty chain
using CodeLocationId = std::uint32_t;  // position in CallStacks: a place in code; 0 is nowhere
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// One thing that happened, as a value. What `detail` indexes depends on the kind of the track (see details.h).
struct Event {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  NameId name = 0;
  std::uint32_t correlation = 0;  // CUDA: CUPTI's correlation id within the process; NVTX: the range's id; 0: none
  DetailId detail = 0;
  [[nodiscard]] Nanoseconds end() const noexcept { return start + duration; }
  bool operator==(const Event&) const = default;
};

// How much of data that grows with the events stays in memory: all of it, or as much as the budget has room for, with the rest in a temporary file
// (scratch_memory.h).
enum class EventMemory : std::uint8_t { kAll, kBudget };

// Names an event of a trace. Stays valid in later snapshots of the same recording unless an event arrives late in front of it.
struct EventRef {
  LaneId lane = kNone;
  EventIndex index = 0;
  [[nodiscard]] bool valid() const noexcept { return lane != kNone; }
  bool operator==(const EventRef&) const = default;
  auto operator<=>(const EventRef&) const = default;
};

}  // namespace lanescope
