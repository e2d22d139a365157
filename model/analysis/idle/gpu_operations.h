// The work of one GPU, all processes and streams together, in order of start.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

struct GpuOperation {
  TimeRange range;
  EventRef event;
};

// The tracks of GPU work, by what they are of: for those who ask of each GPU in turn, of which files may have very many.
class GpuTracks {
 public:
  explicit GpuTracks(const Trace& trace);  // O(tracks · log tracks)
  // O(log tracks).
  [[nodiscard]] std::span<const TrackId> of(GpuId gpu) const noexcept;
  [[nodiscard]] std::span<const TrackId> of(GpuId gpu, ProcessId process) const noexcept;

 private:
  struct Owner {
    GpuId gpu = kNone;
    ProcessId process = kNone;
    auto operator<=>(const Owner&) const = default;
  };
  std::vector<Owner> owners_;  // ascending
  std::vector<TrackId> tracks_;
};

// Merges lanes, which are in order each. O(log lanes) an operation, O(1) where one lane runs ahead.
class GpuOperations {
 public:
  GpuOperations(const Trace& trace, GpuId gpu, std::stop_token stop = {});
  // Only tracks that `wanted` accepts, of GPU work.
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, std::stop_token stop = {});
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, TimeRange time, std::stop_token stop);
  // Only these tracks, of GPU work.
  GpuOperations(const Trace& trace, std::span<const TrackId> tracks, TimeRange time, std::stop_token stop);
  // Only those of the GPU that start within the time.
  GpuOperations(const Trace& trace, GpuId gpu, TimeRange time, std::stop_token stop);

  // The latest end of the operations of these tracks that start before t; none where there are none. O(lanes · log n).
  [[nodiscard]] static std::optional<Nanoseconds> busy_until(const Trace& trace, std::span<const TrackId> tracks, Nanoseconds t);

  static constexpr TimeRange kEver{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};

  std::optional<GpuOperation> next();  // none behind the last, and when asked to stop

 private:
  struct Head {
    Nanoseconds start;
    EventRef event;
    std::uint32_t source;
    bool operator>(const Head& other) const noexcept { return start != other.start ? start > other.start : event > other.event; }
  };
  // A lane, and the segment of it that is read: found once for the events of it that follow each other, of which a few are read at once: of very many
  // lanes that take turns, each would else be fetched from memory for each.
  static constexpr std::uint32_t kReadAtOnce = 16;
  struct Source {
    const Lane* lane;
    EventIndex end;  // of the lane's events that count
    EventIndex segment_begin = 0;
    std::shared_ptr<const LaneSegment> segment;  // null where segments are decoded on demand, and those of other lanes are held
    std::uint32_t asked = 0;                     // how often without holding it
    bool is_held = false;                        // among held_
    EventIndex read_begin = 0;                   // those that were read
    std::uint32_t read_count = 0;
    std::size_t read = 0;  // place of the first of them
  };
  static constexpr std::size_t kMostHeld = 32;   // lanes of which a segment is held that would else be given up
  static constexpr std::size_t kHeldOfMany = 8;  // where there are more lanes: those that events come of
  static constexpr std::uint32_t kAskedBeforeHeld = 256;
  void add_lane(LaneId id, TimeRange time);
  void begin();
  void replace_first(const Head& head);
  [[nodiscard]] Nanoseconds start(std::uint32_t source, EventIndex index);
  [[nodiscard]] Nanoseconds duration(std::uint32_t source, EventIndex index);
  [[nodiscard]] const TimeRange& read(Source& source, const LaneSegment& held, EventIndex index);
  [[nodiscard]] const TimeRange* find(const Source& source, EventIndex index) const noexcept {
    return index - source.read_begin < source.read_count ? &read_[source.read + static_cast<std::size_t>(index - source.read_begin)] : nullptr;
  }
  [[nodiscard]] const LaneSegment* segment(std::uint32_t source, EventIndex index);

  const Trace* trace_;
  std::stop_token stop_;
  std::vector<Source> sources_;
  std::vector<TimeRange> read_;                    // of each source as many as it may read at once: of very many lanes, most have few events
  std::array<std::uint32_t, kHeldOfMany> held_{};  // sources, in turns
  std::size_t held_count_ = 0;                     // that were ever put there
  std::vector<Head> heads_;                        // a heap, the earliest on top
};

// How long these tracks, of GPU work, were busy before each of the times, since the first of them. Requires: `times` ascend. O(n + operations
// between the first and the last).
[[nodiscard]] std::vector<Nanoseconds> busy_before(const Trace& trace, std::span<const TrackId> tracks, std::span<const Nanoseconds> times,
                                                   const std::stop_token& stop = {});

}  // namespace lanescope::analysis
