// Work that somebody waits for goes first: work in the background, such as reading values that no row shows yet, gives way to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace lanescope {

// While one exists, somebody waits for the work that is being done. Any thread.
class Urgent {
 public:
  Urgent();
  ~Urgent();
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

 private:
  friend void give_way(std::chrono::steady_clock::time_point latest);
  struct State {
    std::mutex mutex;
    std::condition_variable none;
    int count = 0;
  };
  static State& state() {
    static State of_process;
    return of_process;
  }
};

inline Urgent::Urgent() {
  const std::lock_guard lock(state().mutex);
  ++state().count;
}

inline Urgent::~Urgent() {
  {
    const std::lock_guard lock(state().mutex);
    if (--state().count > 0) return;
  }
  state().none.notify_all();
}

// Waits while anything is urgent, but not beyond this time: who looks at one picture after another must not wait for ever for what comes behind them.
inline void give_way(std::chrono::steady_clock::time_point latest) {
  Urgent::State& state = Urgent::state();
  std::unique_lock lock(state.mutex);
  state.none.wait_until(lock, latest, [&] { return state.count == 0; });
}

}  // namespace lanescope
