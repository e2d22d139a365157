// What the other threads of a process did while one of its threads was blocked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/samples/thread_samples.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// A time in which the thread was blocked.
struct StillTime {
  ThreadId thread = kNone;
  TimeRange range;
};

// Times in which a thread was blocked. If there are very many, an even selection of them: each 2^n-th.
class StillTimes {
 public:
  void add(ThreadId thread, TimeRange range);
  [[nodiscard]] std::span<const StillTime> chosen() const noexcept { return chosen_; }

 private:
  static constexpr std::size_t kMost = 1 << 15;
  std::vector<StillTime> chosen_;
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
};

// The thread that ran for most of the time in which another one was blocked.
struct BusyThread {
  ThreadId thread = kNone;
  double share = 0;              // of that time, from 0 to 1
  samples::ChainCounts samples;  // samples of what it ran in that time
};

// For the thread that was blocked longest: which other thread of its process ran meanwhile. Nothing if the recording has no thread states of others.
// O(times · log times + thread states of the process · log times).
[[nodiscard]] std::optional<BusyThread> busiest_meanwhile(const Trace& trace, const samples::ThreadSamples& samples, std::span<const StillTime> times);

// The thread that ended most of the time in which another one was blocked, as recorded (ThreadStateDetail::waker).
struct WakingThread {
  std::uint32_t tid = 0;    // by its number on the machine; it may not have been recorded
  ThreadId thread = kNone;  // the recorded thread
  double share = 0;         // of that time, from 0 to 1
};

// For the thread that was blocked longest: who woke it. Nothing if that was not recorded. O(times · log times + states of the thread · log times).
[[nodiscard]] std::optional<WakingThread> most_often_woken_by(const Trace& trace, std::span<const StillTime> times);

}  // namespace lanescope::analysis
