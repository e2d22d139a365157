// All events of a recording, and their buffers: one for each processor, or one for each thread where there would be too many.
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

// What wrote a record.
struct EventSource {
  EventSource(EventKind of, std::size_t traced = 0) : kind(of), point(traced) {}  // implicit: most are no tracepoints
  EventKind kind;
  std::size_t point;  // position in EventSet::points()
};

class EventSet {
 public:
  // Follows a process that waits for exec, and all that it starts.
  static Result<EventSet> of_waiting(pid_t process, const CpuSettings& settings, const Access& access, TracedPoints points, Begin begin);
  // Follows threads that run already, and what they start.
  static Result<EventSet> of_running(const std::vector<pid_t>& threads, const CpuSettings& settings, const Access& access, TracedPoints points);
  // Follows everything.
  static Result<EventSet> of_machine(const CpuSettings& settings, const Access& access, TracedPoints points);

  // Reads a file in which records lie as in the kernel's own memory: a page that says where they begin and end, then so many bytes. For
  // tests, which say which event has which id. Fails where it can't be mapped.
  static Result<EventSet> of_file(int file, std::size_t bytes, const CpuSettings& settings, std::unordered_map<std::uint64_t, EventSource> sources,
                                  TracedPoints points = {});

  EventSet(EventSet&&) noexcept = default;

  // Starts or stops all but tracking.
  void set_recording(bool recording);

  // Whether threads that start have to be told to us, by follow(): the kernel does not follow them itself.
  [[nodiscard]] bool must_be_told() const noexcept { return plan_.inheritance == Inheritance::kThreadAlone; }
  void follow(pid_t thread);

  [[nodiscard]] std::vector<RecordBuffer>& buffers() noexcept { return buffers_; }
  [[nodiscard]] const std::vector<int>& descriptors() const noexcept { return owners_; }  // to poll, one for each buffer
  [[nodiscard]] EventSource source_of(std::uint64_t event) const;                         // kTracking for what is not known
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
  // Opens all kinds for one thread (-1: any) on one processor (-1: any); they share the buffer of that processor, or of that thread.
  Result<void> open(pid_t thread, int processor);
  Result<void> open_everywhere(pid_t thread);

  EventPlan plan_;
  WakeupTracepoint wakeup_;
  TracedPoints points_;
  std::vector<EventSource> sources_;
  std::vector<Event> events_;
  std::vector<RecordBuffer> buffers_;
  std::vector<int> owners_;                // the event through which a buffer was mapped
  std::map<int, int> owner_of_processor_;  // processor to descriptor
  std::unordered_map<std::uint64_t, EventSource> sources_by_id_;
  bool recording_ = false;
};

// Numbers of the processors that are in use.
[[nodiscard]] std::vector<int> online_processors();

}  // namespace lanescope::cpu
