// What the scheduler did with a thread, and on which processors it ran: the common way into a trace for every source of such data.
#pragma once

#include <span>

#include "model/trace/trace_builder.h"

namespace lanescope {

struct ThreadStateSpan {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  ThreadStateDetail what;
};

// Adds the spans to the thread's track, and the places where it ran to the tracks of the processors. The processors' events are named after the
// program, as far as it is known by now, and the thread: "python (4711)". Their correlation is the thread's id. O(n log n).
void add_thread_states(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const ThreadStateSpan> spans);

// A sample of the thread, or a backtrace of a call that it made; `what.origin` says which. The duration of a timed sample is 0.
struct SampleEvent {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  SampleDetail what;
  std::uint32_t correlation = 0;  // of the CUDA call; 0 if its start and duration identify it
};
// Requires: all have the origin kTimer, or none has. O(n log n).
void add_samples(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const SampleEvent> samples);

}  // namespace lanescope
