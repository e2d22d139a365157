// A thread that is there before it is known what it will do: where the system has no more threads, that shows before anything has begun.
#pragma once

#include <functional>
#include <future>
#include <thread>

namespace lanescope::session {

class HeldThread {
 public:
  // Throws std::system_error where there are no threads left.
  HeldThread() : thread_([work = work_.get_future()]() mutable { work.get()(); }) {}
  // Waits for its end.
  ~HeldThread() {
    if (!begun_) work_.set_value([] {});
    thread_.join();
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  // Once.
  void begin(std::function<void()> work) {
    begun_ = true;
    work_.set_value(std::move(work));
  }

 private:
  std::promise<std::function<void()>> work_;
  bool begun_ = false;
  std::thread thread_;
};

}  // namespace lanescope::session
