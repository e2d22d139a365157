// When threads ran lately, by the switches that the kernel tells of.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "thread_states.h"

namespace lanescope::cpu {

class RunningTimes {
 public:
  // In the order of time.
  void switch_in(ThreadNumber thread, std::int64_t time) { add(thread, {time, true}); }
  void switch_out(ThreadNumber thread, std::int64_t time) { add(thread, {time, false}); }
  void forget(ThreadNumber thread) { switches_.erase(thread); }

  // Whether a thread ran then; true where nothing is known of it. O(switches after that time).
  [[nodiscard]] bool ran_at(ThreadNumber thread, std::int64_t time) const {
    const auto found = switches_.find(thread);
    if (found == switches_.end()) return true;
    const std::deque<Switch>& known = found->second;
    for (auto at = known.rbegin(); at != known.rend(); ++at)
      if (at->time <= time) return at->is_in;
    return !known.front().is_in;  // what comes first ended what was before
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
