// A thread that is made before it is known what it will do, so that a lack of threads shows before anything has started.
#pragma once

#include <functional>
#include <future>
#include <thread>

namespace lanescope::session {

class HeldThread {
 public:
  // Throws std::system_error if there are no threads left.
  HeldThread() : thread_([work = work_.get_future()]() mutable { work.get()(); }) {}
  // Waits for the end of the work.
  ~HeldThread() {
    if (!begun_) work_.set_value([] {});
    thread_.join();
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  // Must be called at most once.
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
