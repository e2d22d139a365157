// All events of a recording, and their buffers: one for each processor, or one for each thread if there would be too many events.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/cpu/access.h"
#include "model/file/result.h"
#include "perf_event.h"
#include "record_buffer.h"
#include "tracepoint.h"

namespace lanescope::cpu {

// A tracepoint that is recorded, as kSystemCallBegins, kSystemCallEnds or kTracepoints.
struct TracedPoint {
  EventKind kind;
  Tracepoint tracepoint;
};
using TracedPoints = std::vector<TracedPoint>;

// The source of a record.
struct EventSource {
  EventSource(EventKind of, std::size_t traced = 0) : kind(of), point(traced) {}  // implicit: most are not tracepoints
  EventKind kind;
  std::size_t point;  // position in EventSet::points()
};

class EventSet {
 public:
  // Follows a process that waits for exec, and everything that it starts.
  static Result<EventSet> of_waiting(pid_t process, const CpuSettings& settings, const Access& access, TracedPoints points, Begin begin);
  // Follows running threads, and everything that they start.
  static Result<EventSet> of_running(const std::vector<pid_t>& threads, const CpuSettings& settings, const Access& access, TracedPoints points);
  // Follows the whole machine.
  static Result<EventSet> of_machine(const CpuSettings& settings, const Access& access, TracedPoints points);

  // Reads a file that is laid out like the kernel's memory of records: a page with the start and end of the records, then `bytes` bytes. For tests,
  // which state the event of each id. Fails if the file can't be mapped.
  static Result<EventSet> of_file(int file, std::size_t bytes, const CpuSettings& settings, std::unordered_map<std::uint64_t, EventSource> sources,
                                  TracedPoints points = {});

  EventSet(EventSet&&) noexcept = default;

  // All events happen from now on, or none but tracking.
  void start();
  void stop();

  // True if new threads must be reported by calling follow(), because the kernel does not follow them itself.
  [[nodiscard]] bool must_be_told() const noexcept { return plan_.inheritance == Inheritance::kThreadAlone; }
  void follow(pid_t thread);

  [[nodiscard]] std::vector<RecordBuffer>& buffers() noexcept { return buffers_; }
  [[nodiscard]] const std::vector<int>& descriptors() const noexcept { return owners_; }  // to poll, one for each buffer
  // Records for which the buffers had no room, since the events were opened. 0 if the kernel does not count them (before Linux 6.0).
  [[nodiscard]] std::uint64_t lost_records() const noexcept;
  [[nodiscard]] EventSource source_of(std::uint64_t event) const;  // kTracking if the event is not known
  [[nodiscard]] bool has(EventKind kind) const noexcept;
  [[nodiscard]] const EventPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const WakeupTracepoint& wakeup() const noexcept { return wakeup_; }
  [[nodiscard]] const TracedPoints& points() const noexcept { return points_; }

 private:
  struct Event {
    FileDescriptor descriptor;
    EventKind kind;
  };

  EventSet(const CpuSettings& settings, const Access& access, TracedPoints points);
  // Opens all kinds of events for one thread (-1: any) on one processor (-1: any). They share the buffer of that processor, or of that thread.
  Result<void> open(pid_t thread, int processor);
  Result<void> open_everywhere(pid_t thread);
  void ask_all(unsigned long request);  // PERF_EVENT_IOC_..., of all events except tracking

  EventPlan plan_;
  WakeupTracepoint wakeup_;
  TracedPoints points_;
  std::vector<EventSource> sources_;
  std::vector<Event> events_;
  std::vector<RecordBuffer> buffers_;
  std::vector<int> owners_;                // the event through which each buffer was mapped
  std::map<int, int> owner_of_processor_;  // processor to descriptor
  std::unordered_map<std::uint64_t, EventSource> sources_by_id_;
  bool recording_ = false;
};

// Numbers of the processors that are online.
[[nodiscard]] std::vector<int> online_processors();

}  // namespace lanescope::cpu
