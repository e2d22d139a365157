#include "timeline/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "model/trace/workers/usable_cores.h"

namespace lanescope::timeline {
namespace {

// One call of work_in_parts(). A thread that gets no further part does not access `part`, which is destroyed at the end of the call.
struct Call {
  Call(std::size_t parts, const std::function<void(std::size_t)>& function) : count(parts), part(function) {}
  void work() {
    for (std::size_t index = next++; index < count; index = next++) {
      try {
        if (!has_failed) part(index);
      } catch (...) {
        if (!has_failed.exchange(true)) failure = std::current_exception();
      }
      if (++ended == count) ended.notify_all();  // also after a failure, because the call would not end otherwise
    }
  }
  // Waits until all parts have ended; rethrows the exception of the first part that failed.
  void wait() {
    for (std::size_t now = ended; now != count; now = ended) ended.wait(now);
    if (failure) std::rethrow_exception(failure);
  }
  const std::size_t count;
  const std::function<void(std::size_t)>& part;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;  // to be read when all parts have ended
};

// One thread less than there are cores; they live as long as the process. A thread that is scheduled too late to help delays nobody, because only the parts are
// waited for, not the threads.
class Workers {
 public:
  Workers() {
    const unsigned cores = usable_cores();
    try {
      for (unsigned index = 1; index < std::min(cores, kMost); ++index) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // no further thread can be created: the others do its parts
    } catch (const std::bad_alloc&) {
    }
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns false if another call is in progress.
  bool run(std::size_t count, const std::function<void(std::size_t)>& part) {
    const std::unique_lock only(running_, std::try_to_lock);
    if (!only.owns_lock()) return false;
    const auto call = std::make_shared<Call>(count, part);
    {
      const std::lock_guard lock(mutex_);
      call_ = call;
      ++generation_;
    }
    wake_.notify_all();
    call->work();
    call->wait();
    return true;
  }

 private:
  static constexpr unsigned kMost = 16;

  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      const std::shared_ptr<Call> call = call_;
      lock.unlock();
      call->work();
      lock.lock();
    }
  }

  std::mutex running_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Call> call_;  // the last call
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last member: the threads use all of the above
};

thread_local bool working = false;

}  // namespace

void on_this_thread_alone(const std::function<void()>& work) {
  struct Working {
    const bool outer = std::exchange(working, true);
    ~Working() { working = outer; }
  };
  const Working here;
  work();
}

void work_in_parts(std::size_t count, const std::function<void(std::size_t)>& part) {
  static Workers workers;
  const auto guarded = [&](std::size_t index) { on_this_thread_alone([&] { part(index); }); };
  if (count > 1 && !working && workers.run(count, guarded)) return;
  for (std::size_t index = 0; index < count; ++index) part(index);
}

}  // namespace lanescope::timeline
