// Threads that share work again and again, as in parallel_for(): they stay, so they keep what belongs to a thread (pinned segments, memory for decoding), and
// none has to begin for each turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "model/trace/workers/usable_cores.h"

namespace lanescope {

// Threads: one at a time.
class Crew {
 public:
  // With the thread that calls run(), as many threads as there are cores, at most `most`. Requires: most > 0.
  explicit Crew(std::size_t most) {
    const std::size_t others = std::min<std::size_t>(most, usable_cores()) - 1;
    try {
      others_.reserve(others);
      while (others_.size() < others) others_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {  // no room for another thread: the threads that run do its part
    }
  }
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      is_dismissed_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : others_) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls part(i) for each i below `count`, in any order, and returns when all have ended. If one throws, no further part starts, and the first exception is
  // thrown here.
  void run(std::size_t count, const std::function<void(std::size_t)>& part) {
    {
      const std::lock_guard lock(mutex_);
      part_ = &part;
      count_ = count;
      next_ = 0;
      ++turn_;
    }
    if (count > 1) begun_.notify_all();
    work(part);
    std::unique_lock lock(mutex_);
    part_ = nullptr;  // threads that come only now have nothing to do
    ended_.wait(lock, [this] { return working_ == 0; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void work(const std::function<void(std::size_t)>& part) noexcept {
    try {
      for (std::size_t i = next_++; i < count_; i = next_++) part(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }
  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      begun_.wait(lock, [&] { return is_dismissed_ || (part_ != nullptr && turn_ != seen); });
      if (is_dismissed_) return;
      seen = turn_;
      ++working_;
      const auto& part = *part_;  // the leader waits for its end
      lock.unlock();
      work(part);
      lock.lock();
      if (--working_ == 0) ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(std::size_t)>* part_ = nullptr;  // null between turns
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::uint64_t turn_ = 0;
  std::size_t working_ = 0;  // of the others
  std::exception_ptr failure_;
  bool is_dismissed_ = false;
  std::vector<std::thread> others_;  // last: they use all of the above
};

}  // namespace lanescope
