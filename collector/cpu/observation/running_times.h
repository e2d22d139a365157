// When threads ran lately, according to the kernel's switch records.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "thread_states.h"

namespace lanescope::cpu {

class RunningTimes {
 public:
  // Must be called in the order of time.
  void switch_in(ThreadNumber thread, std::int64_t time) { add(thread, {time, true}); }
  void switch_out(ThreadNumber thread, std::int64_t time) { add(thread, {time, false}); }
  void forget(ThreadNumber thread) { switches_.erase(thread); }

  // True if the thread ran at `time`, or if nothing is known about it. O(switches after that time).
  [[nodiscard]] bool ran_at(ThreadNumber thread, std::int64_t time) const {
    const auto found = switches_.find(thread);
    if (found == switches_.end()) return true;
    const std::deque<Switch>& known = found->second;
    for (auto at = known.rbegin(); at != known.rend(); ++at)
      if (at->time <= time) return at->is_in;
    return !known.front().is_in;  // the first known switch ended the opposite state
  }

 private:
  struct Switch {
    std::int64_t time;
    bool is_in;
  };
  void add(ThreadNumber thread, Switch next) {
    constexpr std::size_t kRemembered = 256;
    std::deque<Switch>& known = switches_[thread];
    known.push_back(next);
    if (known.size() > kRemembered) known.pop_front();
  }
  std::unordered_map<ThreadNumber, std::deque<Switch>> switches_;
};

}  // namespace lanescope::cpu
