// Records a program's threads, and answers questions about what was recorded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/session/recording.h"
#include "model/trace/trace.h"

namespace lanescope::test {

// Why threads can't be observed here; nothing if they can. Tests print it and pass.
std::optional<std::string> cannot_observe();

struct Recorded {
  std::shared_ptr<const Trace> trace;
  std::vector<std::string> messages;
  std::string output;  // of the program
  // The most time that processors of this machine can have spent meanwhile on interrupts, or that a host gave to other machines. A thread on such a
  // processor ran by the times of its switches, but not by its own clock.
  Nanoseconds taken_away = 0;

  // What "NAME PROCESSOR-NS WALL-NS" in the program's output says about a thread.
  struct Measured {
    Nanoseconds processor = 0;
    Nanoseconds wall = 0;
  };
  [[nodiscard]] Measured measured(const std::string& thread) const;
};
Recorded record(std::vector<std::string> command, const cpu::CpuSettings& settings, const std::function<void(session::LaunchRequest&)>& change = {});

// One thread's intervals, in order.
struct Interval {
  Nanoseconds start;
  Nanoseconds end;
  ThreadState state;
};
ThreadId thread_named(const Trace& trace, std::string_view name);
std::vector<Interval> intervals(const Trace& trace, ThreadId thread);
Nanoseconds time_in(const std::vector<Interval>& intervals, ThreadState state);

// The functions of one sample, innermost first, with inlined ones.
using Chain = std::vector<std::string>;
std::vector<Chain> samples(const Trace& trace, ThreadId thread);
std::vector<Chain> samples_of_process(const Trace& trace, ProcessId process);
// True if this is the function's name, with or without parameters.
bool is_called(std::string_view name, std::string_view function);
bool has(const Chain& chain, std::string_view function);
std::size_t count_with(const std::vector<Chain>& chains, std::string_view function);

}  // namespace lanescope::test
