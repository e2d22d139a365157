// The values of the columns of an events table for the events of one trace.
//
// Rows and gaps: "gap before" is the idle time directly before an event on its row, from the last instant at which anything on the row ran to the event's
// start; 0 if something was still running. Among events that start together the outer lane comes first. The row of GPU work is its stream if the whole trace is
// shown; if one row of the timeline is shown, it is that row, separately for each GPU. The row of other events is their track. The profiler's own activities
// have no gaps, because idle times between them mean nothing.
//
// Threads: immutable; any number of threads may read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/events/event_column.h"
#include "model/text/message.h"

namespace lanescope {

// The lanes whose events are shown.
class EventScope {
 public:
  EventScope() = default;  // no lanes
  static EventScope whole_trace(const Trace& trace);
  static EventScope lanes_of_trace(std::vector<LaneId> lanes);  // several rows
  static EventScope row(std::vector<LaneId> lanes);             // one row of the timeline

  [[nodiscard]] const std::vector<LaneId>& lanes() const noexcept { return lanes_; }  // ascending, each once
  [[nodiscard]] bool is_row() const noexcept { return is_row_; }

 private:
  std::vector<LaneId> lanes_;
  bool is_row_ = false;
};

// Events that are still open while a program is recorded, and the present time, up to which they have lasted.
struct OpenEvents {
  std::vector<EventRef> events;  // ascending
  Nanoseconds now = 0;
};

class EventValues {
 public:
  // Open events have lasted until now; the trace has what was known of them when they were seen last.
  EventValues(std::shared_ptr<const Trace> trace, EventScope scope, OpenEvents open = {});

  [[nodiscard]] const Trace& trace() const noexcept { return *trace_; }
  [[nodiscard]] const EventScope& scope() const noexcept { return scope_; }
  [[nodiscard]] bool has_open() const noexcept { return !open_.events.empty(); }
  [[nodiscard]] bool is_open(EventRef event) const noexcept;          // O(log open events)
  [[nodiscard]] Nanoseconds duration(EventRef event) const noexcept;  // until now if it is open

  // Requires, for each of these: the event lies in a lane of the scope.

  // The value as a number: ns, bytes, an id; for a grid or block its size. None for text, and if the event has no such value. O(lanes · log n) for gaps, queue
  // times and NVTX ranges, else O(1).
  [[nodiscard]] std::optional<std::int64_t> number(EventRef event, EventColumn column) const;

  // The value as text, numbers in their plain form; empty if the event has no such value. Costs as much as number().
  [[nodiscard]] std::string text(EventRef event, EventColumn column) const;

  // Lanes that share a row with this one, including itself; outer lanes first.
  [[nodiscard]] std::span<const LaneId> row_of(LaneId lane) const noexcept { return rows_[row_of_lane_[lane]]; }
  [[nodiscard]] const std::vector<std::vector<LaneId>>& rows() const noexcept { return rows_; }

  // The innermost NVTX range around an event, except itself; for GPU work, around the call that launched it.
  [[nodiscard]] std::optional<EventRef> enclosing_range(EventRef event) const;

 private:
  [[nodiscard]] std::optional<Nanoseconds> gap_before(EventRef event) const;
  [[nodiscard]] std::optional<Nanoseconds> queue_time(EventRef event) const;

  std::shared_ptr<const Trace> trace_;
  EventScope scope_;
  OpenEvents open_;
  std::vector<std::vector<LaneId>> rows_;
  std::vector<std::uint32_t> row_of_lane_;  // kNone for lanes outside the scope
};

// The kinds of memory of a copy or set: "Pageable → Device"; empty if they are unknown.
[[nodiscard]] std::string memory_text(const MemoryDetail& detail);

// The names of processes, threads, GPUs and streams in tables: "[4711] python", "GPU 0 NVIDIA H200", "Stream 7".
[[nodiscard]] std::string process_label(const Trace& trace, ProcessId process);
[[nodiscard]] std::string thread_label(const Trace& trace, ThreadId thread);
[[nodiscard]] std::string gpu_label(const Trace& trace, GpuId gpu);
[[nodiscard]] Message stream_label(const Trace& trace, ProcessId process, std::uint32_t context, std::uint32_t stream);

// True if events of the kind happen on a stream of a GPU, and so have a device, context and stream.
[[nodiscard]] bool is_on_stream(TrackKind kind) noexcept;
[[nodiscard]] bool has_gaps(TrackKind kind) noexcept;

}  // namespace lanescope
