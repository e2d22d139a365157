#include "timeline/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lanescope::timeline {
namespace {

// One thread less than there are cores; they live as long as the process.
class Workers {
 public:
  Workers() {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned index = 1; index < std::min(cores, kMost); ++index) threads_.emplace_back([this] { serve(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // False when another call is under way.
  bool run(std::size_t count, const std::function<void(std::size_t)>& part) {
    const std::unique_lock only(running_, std::try_to_lock);
    if (!only.owns_lock()) return false;
    {
      const std::lock_guard lock(mutex_);
      part_ = &part;
      count_ = count;
      next_ = 0;
      busy_ = threads_.size();
      ++generation_;
    }
    wake_.notify_all();
    work(count, part);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    return true;
  }

 private:
  static constexpr unsigned kMost = 16;

  void work(std::size_t count, const std::function<void(std::size_t)>& part) {
    for (std::size_t index = next_++; index < count; index = next_++) part(index);
  }

  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      const std::size_t count = count_;
      const auto* part = part_;
      lock.unlock();
      work(count, *part);
      lock.lock();
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::mutex running_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* part_ = nullptr;
  std::size_t count_ = 0;
  std::size_t busy_ = 0;  // threads that have not ended the current call
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  std::atomic<std::size_t> next_{0};
  std::vector<std::thread> threads_;  // last: they use all of the above
};

thread_local bool working = false;

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& part) {
  static Workers workers;
  const auto guarded = [&](std::size_t index) {
    const bool outer = std::exchange(working, true);
    part(index);
    working = outer;
  };
  if (count > 1 && !working && workers.run(count, guarded)) return;
  for (std::size_t index = 0; index < count; ++index) part(index);
}

}  // namespace lanescope::timeline
