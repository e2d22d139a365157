// The work of one GPU, of all processes and streams together, by start.
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
  // Name and details of the event, read together with its times: with very many lanes in turn, every user of the operation would otherwise look it up
  // again.
  NameId name = 0;
  std::uint32_t correlation = 0;
  DetailId detail = 0;
  TrackKind kind = TrackKind::kKernels;  // kind of its track; the next is its process
  ProcessId process = kNone;
  // The operation cut at the end of the time in which it starts: what lies after it is part of no share.
  [[nodiscard]] GpuOperation until(Nanoseconds end) const noexcept {
    GpuOperation cut = *this;
    cut.range.end = std::min(range.end, end);
    return cut;
  }
};

// The tracks of GPU work by their GPU, for callers that look at each GPU in turn: files may have very many GPUs.
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
  std::vector<Owner> owners_;  // in ascending order
  std::vector<TrackId> tracks_;
};

// Merges lanes, each of which is in order. O(log lanes) an operation, O(1) while one lane runs ahead.
class GpuOperations {
 public:
  GpuOperations(const Trace& trace, GpuId gpu, std::stop_token stop = {});
  // Only tracks of GPU work that `wanted` accepts.
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, std::stop_token stop = {});
  GpuOperations(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted, TimeRange time, std::stop_token stop);
  // Only these tracks, which must be of GPU work.
  GpuOperations(const Trace& trace, std::span<const TrackId> tracks, TimeRange time, std::stop_token stop);
  // Only operations of the GPU that start within the time.
  GpuOperations(const Trace& trace, GpuId gpu, TimeRange time, std::stop_token stop);

  // The latest end of the operations of these tracks that start before t; nothing if there are none. O(lanes · log n).
  [[nodiscard]] static std::optional<Nanoseconds> busy_until(const Trace& trace, std::span<const TrackId> tracks, Nanoseconds t);

  static constexpr TimeRange kEver{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};

  std::optional<GpuOperation> next();  // nothing after the last, and when asked to stop
  // As many as there are, and as fit. Returns their number: fewer than fit after the last, and when asked to stop.
  std::size_t next(std::span<GpuOperation> into);

 private:
  struct Head {
    Nanoseconds start;
    EventRef event;
    std::uint32_t source;
    bool operator>(const Head& other) const noexcept { return start != other.start ? start > other.start : event > other.event; }
  };
  // A lane, and its segment that is being read. The segment is found once for consecutive events, and a few events are read at once: with very many
  // lanes in turn, they would otherwise be fetched from memory again for each event.
  static constexpr std::uint32_t kReadAtOnce = 16;
  struct Source {
    const Lane* lane;
    LaneId id;
    TrackKind kind;
    ProcessId process;
    EventIndex end;  // end of the lane's events that count
    EventIndex segment_begin = 0;
    std::shared_ptr<const LaneSegment> segment;  // null if segments are decoded on demand, and segments of other lanes are held
    std::uint32_t asked = 0;                     // how often the segment was asked for without being held
    bool is_held = false;                        // is in held_
    EventIndex read_begin = 0;                   // first event that was read
    std::uint32_t read_count = 0;
    std::size_t read = 0;  // position of the first of them in read_
  };
  static constexpr std::size_t kMostHeld = 32;   // number of lanes whose segment is held that would otherwise be given up
  static constexpr std::size_t kHeldOfMany = 8;  // if there are more lanes: those from which events come
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
  std::vector<GpuOperation> read_;                 // for each source as many as it may read at once: of very many lanes, most have few events
  std::array<std::uint32_t, kHeldOfMany> held_{};  // sources, replaced in turns
  std::size_t held_count_ = 0;                     // number of sources that were ever put there
  std::vector<Head> heads_;                        // a heap with the earliest on top
};

// Looks at all operations of GPUs in order. For each GPU in turn, begin() is called, then visit() for consecutive batches in order of start, then
// end().
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

// Shows all visitors the operations of every GPU that start within the time, cut at its end, GPU by GPU, so that lanes are merged and decoded once for
// all visitors. Each visitor is called by one thread at a time. Several visitors run at the same time, while the next operations are merged, on all
// cores. When asked to stop, it ends early.
void visit_operations(const Trace& trace, TimeRange time, std::span<OperationVisitor* const> visitors, const std::stop_token& stop = {});

// visit_idle() of the whole trace (idle.h) for several visitors, which shows others the same operations. Each is called by one thread at a time, several at
// once, while gaps that follow are found, on all cores.
std::vector<GpuIdle> visit_idle_beside(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, std::span<const IdleVisitor> visitors,
                                       std::span<OperationVisitor* const> others, const std::stop_token& stop = {});

// Visits only the gaps, of any length, that overlap or touch one of the times, as visit_idle() does. The trace and the index must outlive the result.
[[nodiscard]] std::unique_ptr<OperationVisitor> gaps_that_touch(const Trace& trace, const LaunchIndex& launches, std::vector<TimeRange> times,
                                                                IdleVisitor visitor, const std::stop_token& stop = {});

}  // namespace lanescope::analysis
