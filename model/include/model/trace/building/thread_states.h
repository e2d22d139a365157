// What the scheduler did with a thread, and where the thread was seen to run: one way into a trace for every source that knows it.
#pragma once

#include <span>

#include "model/trace/trace_builder.h"

namespace lanescope {

struct ThreadStateSpan {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  ThreadStateDetail what;
};

// Adds the spans to the thread's track, and where it ran to those of the processors. The processors' events are named after the program, as
// far as it is known by now, and the thread: "python (4711)"; their correlation is the thread's id. O(n log n).
void add_thread_states(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const ThreadStateSpan> spans);

// A sample of the thread, or a backtrace of a call that it made: which of them, `what.origin` says. Of a timed sample the duration is 0.
struct SampleEvent {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  SampleDetail what;
  std::uint32_t correlation = 0;  // of the CUDA call; 0 where its start and duration tell which it is
};
// Requires: all have one origin or all others than kTimer. O(n log n).
void add_samples(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const SampleEvent> samples);

}  // namespace lanescope
