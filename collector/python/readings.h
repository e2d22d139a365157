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
  // In the order of time. A stack that has not changed since the last time takes no memory of its own.
  void add(std::int64_t time, const Stack& stack);
  // The thread's stack could not be read then: whatever it was before may not last until the next reading.
  void interrupt() { is_interrupted_ = true; }
  void forget_before(std::int64_t time);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // about what is kept

  // The stack that was read last at or before a time, at a time of which `counts` says so, and no more than `distance` ago. Null where
  // there is none. O(readings within the distance).
  [[nodiscard]] std::shared_ptr<const Stack> at(std::int64_t time, std::int64_t distance, const std::function<bool(std::int64_t time)>& counts) const;
  // The first that was read from `from` until `until`. O(log n).
  [[nodiscard]] std::shared_ptr<const Stack> within(std::int64_t from, std::int64_t until) const;

 private:
  struct Reading {
    std::deque<std::int64_t> times;  // at which it was read, without a change between them
    std::shared_ptr<const Stack> stack;
  };
  std::deque<Reading> readings_;
  bool is_interrupted_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace lanescope::python
