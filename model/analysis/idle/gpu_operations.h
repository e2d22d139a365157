// The work of one GPU, all processes and streams together, in order of start.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/analysis/idle/idle.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

struct GpuOperation {
  TimeRange range;
  EventRef event;
  // Of the event, read with its times: of very many lanes that take turns, each would else be looked up again by all who ask.
  NameId name = 0;
  std::uint32_t correlation = 0;
  DetailId detail = 0;
  TrackKind kind = TrackKind::kKernels;  // of its track, as the next
  ProcessId process = kNone;
  // As far as it lies in a time in which it begins: what is behind that is part of no share.
  [[nodiscard]] GpuOperation until(Nanoseconds end) const noexcept {
    GpuOperation cut = *this;
    cut.range.end = std::min(range.end, end);
    return cut;
  }
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
  // As many as there are, and there is room for. Returns how many: fewer than there is room for behind the last, and when asked to stop.
  std::size_t next(std::span<GpuOperation> into);

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
    LaneId id;
    TrackKind kind;
    ProcessId process;
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
  [[nodiscard]] GpuOperation operation(std::uint32_t source, EventIndex index);
  [[nodiscard]] const GpuOperation& read(Source& source, const LaneSegment& held, EventIndex index);
  [[nodiscard]] const GpuOperation* find(const Source& source, EventIndex index) const noexcept {
    return index - source.read_begin < source.read_count ? &read_[source.read + static_cast<std::size_t>(index - source.read_begin)] : nullptr;
  }
  [[nodiscard]] static GpuOperation operation_of(const Source& source, EventIndex index, const Event& event) noexcept {
    return {{event.start, event.end()}, {source.id, index}, event.name, event.correlation, event.detail, source.kind, source.process};
  }
  [[nodiscard]] const LaneSegment* segment(std::uint32_t source, EventIndex index);

  const Trace* trace_;
  std::stop_token stop_;
  std::vector<Source> sources_;
  std::vector<GpuOperation> read_;                 // of each source as many as it may read at once: of very many lanes, most have few events
  std::array<std::uint32_t, kHeldOfMany> held_{};  // sources, in turns
  std::size_t held_count_ = 0;                     // that were ever put there
  std::vector<Head> heads_;                        // a heap, the earliest on top
};

// Who looks at all operations of GPUs as they go by. For each GPU in turn: begin(), visit() for some that follow those before, in order of start, and end().
class OperationVisitor {
 public:
  OperationVisitor() = default;
  virtual ~OperationVisitor() = default;
  OperationVisitor(const OperationVisitor&) = delete;
  OperationVisitor& operator=(const OperationVisitor&) = delete;

  virtual void begin(GpuId gpu) = 0;
  virtual void visit(std::span<const GpuOperation> operations) = 0;
  virtual void end() = 0;
};

// Shows all visitors the operations of every GPU that start within the time, cut where it ends, GPU by GPU, so that lanes are merged and decoded once for all.
// Each is called by one thread at a time; several visitors at once, while operations that follow are merged, on all cores. When asked to stop, it ends early.
void visit_operations(const Trace& trace, TimeRange time, std::span<OperationVisitor* const> visitors, const std::stop_token& stop = {});

// visit_idle() of the whole trace (idle.h), which shows others the same operations. The visitor may be called by another thread.
std::vector<GpuIdle> visit_idle_beside(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, const IdleVisitor& visitor,
                                       std::span<OperationVisitor* const> others, const std::stop_token& stop = {});

// How long these tracks, of GPU work, were busy before each of the times, since the first of them. Requires: `times` ascend. O(n + operations
// between the first and the last).
[[nodiscard]] std::vector<Nanoseconds> busy_before(const Trace& trace, std::span<const TrackId> tracks, std::span<const Nanoseconds> times,
                                                   const std::stop_token& stop = {});

}  // namespace lanescope::analysis
