// What the scheduler did with each thread, from the records of its switches: intervals that follow each other without gaps, except where
// something is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "lanescope/trace.pb.h"

namespace lanescope::cpu {

using ThreadNumber = std::uint32_t;  // the kernel's, unique on the machine

struct StateInterval {
  ThreadNumber thread = 0;
  std::int64_t start = 0;  // CLOCK_MONOTONIC ns
  std::int64_t end = 0;
  proto::ThreadState state = proto::THREAD_STATE_UNKNOWN;
  std::uint32_t processor = 0;  // 1 + its number while the thread runs; else 0
  bool operator==(const StateInterval&) const = default;
};

enum class Leaving { kPreempted, kWaiting };  // why a thread gave its processor up

// What is known of a thread that has not been seen to switch, should no switch come at all.
struct Suspected {
  proto::ThreadState state = proto::THREAD_STATE_UNKNOWN;
  std::uint32_t processor = 0;  // 1 + its number
};

class ThreadStates {
 public:
  using Emit = std::function<void(const StateInterval&)>;
  explicit ThreadStates(Emit emit) : emit_(std::move(emit)) {}

  // All times in the order in which they are passed, give or take what clocks of processors differ.
  void observe(ThreadNumber thread, std::int64_t time, Suspected suspected);  // from here on; its state is not known yet
  void start(ThreadNumber thread, std::int64_t time);                         // it was just created, and may run
  void run(ThreadNumber thread, std::int64_t time, std::uint32_t processor);  // it is on a processor, and goes on there
  void switch_in(ThreadNumber thread, std::int64_t time, std::uint32_t processor);
  void switch_out(ThreadNumber thread, std::int64_t time, std::uint32_t processor, Leaving leaving);
  void wake(ThreadNumber thread, std::int64_t time);
  void end(ThreadNumber thread, std::int64_t time);

  // Records between these times are lost: what threads were doing then is not known.
  void forget(std::int64_t from, std::int64_t to);
  // Ends all intervals that are open, and forgets the threads.
  void end_all(std::int64_t time);

  // Records that contradict each other.
  [[nodiscard]] std::uint64_t contradictions() const noexcept { return contradictions_; }

 private:
  enum class Known : std::uint8_t { kNothing, kRunning, kRunnable, kBlocked };
  struct Thread {
    Known known = Known::kNothing;
    std::int64_t since = 0;
    std::uint32_t processor = 0;
    std::optional<Suspected> suspected;  // kNothing: it was observed since `since`
  };
  void emit(ThreadNumber number, const Thread& thread, std::int64_t end);
  void emit(ThreadNumber number, std::int64_t start, std::int64_t end, proto::ThreadState state, std::uint32_t processor);

  Emit emit_;
  std::unordered_map<ThreadNumber, Thread> threads_;
  std::uint64_t contradictions_ = 0;
};

}  // namespace lanescope::cpu
