// What was read of one thread in the last seconds.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "collector/python/stacks.h"

namespace lanescope::python {

class Readings {
 public:
  // Must be called in the order of time. A stack that is equal to the previous one takes almost no memory.
  void add(std::int64_t time, const Stack& stack);
  // The thread's stack could not be read at this time, so the previous stack may have ended before the next reading.
  void interrupt() { is_interrupted_ = true; }
  void forget_before(std::int64_t time);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // approximate size of what is kept

  // The last stack that was read at or before `time`, at most `distance` ago, at a time for which `counts` returns true. Null if there is none.
  // O(readings within the distance).
  [[nodiscard]] std::shared_ptr<const Stack> at(std::int64_t time, std::int64_t distance, const std::function<bool(std::int64_t time)>& counts) const;
  // The first stack that was read between `from` and `until`. O(log n).
  [[nodiscard]] std::shared_ptr<const Stack> within(std::int64_t from, std::int64_t until) const;

 private:
  struct Reading {
    std::deque<std::int64_t> times;  // when it was read, without a change in between
    std::shared_ptr<const Stack> stack;
  };
  std::deque<Reading> readings_;
  bool is_interrupted_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace lanescope::python
