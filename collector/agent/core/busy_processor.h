// The processor on which the program works most.
//
// A thread that calls the driver without a break, as one does whose queue of launches is full, lets go of the driver's lock for a microsecond at a time.
// Who waits on another processor for it wakes too late each time, and never has it (driver 580, H200). On the same processor the kernel
// switches to who waits as soon as the lock is let go, since that one has slept and takes short turns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

// While it lives the calling thread runs on the processor of the program's busiest thread, follows that to others, and takes short turns; as before where none of them is busy.
// So do threads that it starts, which afterwards run where it could before. Takes 2 ms, and some microseconds a thread of the program, of which 512 are
// looked at. For the agent's own threads.
class [[nodiscard]] BesideBusiestThread {
 public:
  BesideBusiestThread() noexcept;
  ~BesideBusiestThread();
  BesideBusiestThread(const BesideBusiestThread&) = delete;
  BesideBusiestThread& operator=(const BesideBusiestThread&) = delete;

 private:
  static constexpr std::size_t kMostThreads = 512;
  static constexpr std::size_t kWords = 128;  // 8,192 processors

  [[nodiscard]] int busiest_processor() noexcept;
  bool move(std::uint32_t thread, int processor) const noexcept;
  void follow() noexcept;
  [[nodiscard]] bool was_there(std::uint32_t thread) const noexcept;

  std::uint32_t threads_[kMostThreads] = {};  // of the program before
  std::size_t thread_count_ = 0;
  unsigned long before_[kWords] = {};  // where it may run otherwise
  long before_bytes_ = 0;  // 0: it was not moved
  std::uint32_t own_ = 0;
  std::uint32_t busiest_ = 0;
  enum Follower : std::uint32_t { kNone, kFollows, kIsToEnd };
  std::atomic<std::uint32_t> follower_{kNone};  // a thread that moves this one
};

}  // namespace lanescope::agent
