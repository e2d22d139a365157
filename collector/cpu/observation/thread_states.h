// What the scheduler did with each thread, from records of its switches: intervals without gaps, except when something is not known.
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
  ThreadNumber waker = 0;       // the thread that ended a time in which this one was blocked; 0: not known
  bool operator==(const StateInterval&) const = default;
};

enum class Leaving { kPreempted, kWaiting };  // why a thread left its processor

// State of a thread that has not been seen to switch; used if no switch is ever seen.
struct Suspected {
  proto::ThreadState state = proto::THREAD_STATE_UNKNOWN;
  std::uint32_t processor = 0;  // 1 + its number
};

class ThreadStates {
 public:
  using Emit = std::function<void(const StateInterval&)>;
  explicit ThreadStates(Emit emit) : emit_(std::move(emit)) {}

  // Calls must be in the order of time, except for differences between the clocks of processors.
  void observe(ThreadNumber thread, std::int64_t time, Suspected suspected);  // from now on; its state is not known yet
  void start(ThreadNumber thread, std::int64_t time);                         // it was just created, and may run
  void run(ThreadNumber thread, std::int64_t time, std::uint32_t processor);  // it is on a processor, and stays there
  void switch_in(ThreadNumber thread, std::int64_t time, std::uint32_t processor);
  void switch_out(ThreadNumber thread, std::int64_t time, std::uint32_t processor, Leaving leaving);
  // `waker`: the thread that did it; 0 if it is not known, or if a device or a timer did. It may be under way while the woken thread still leaves its
  // processor.
  void wake(ThreadNumber thread, std::int64_t time, ThreadNumber waker);
  void end(ThreadNumber thread, std::int64_t time);

  // Records between these times are lost, so the threads' states in this time are not known.
  void forget(std::int64_t from, std::int64_t to);
  // Ends all open intervals, and forgets the threads.
  void end_all(std::int64_t time);

 private:
  enum class Known : std::uint8_t { kNothing, kRunning, kRunnable, kBlocked };
  struct Thread {
    Known known = Known::kNothing;
    std::int64_t since = 0;
    std::uint32_t processor = 0;
    std::optional<Suspected> suspected;  // kNothing: it has been observed since `since`
    bool was_woken = false;              // kRunning: since it runs; kBlocked: before it left its processor, and perhaps for good
  };
  void emit(ThreadNumber number, const Thread& thread, std::int64_t end, ThreadNumber waker = 0);
  void emit(ThreadNumber number, std::int64_t start, std::int64_t end, proto::ThreadState state, std::uint32_t processor, ThreadNumber waker = 0);

  Emit emit_;
  std::unordered_map<ThreadNumber, Thread> threads_;
};

}  // namespace lanescope::cpu
