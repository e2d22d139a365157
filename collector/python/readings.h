// What was read of one thread in the last seconds.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "collector/python/stacks.h"

namespace lanescope::python {

class Readings {
 public:
  // In the order of time. A stack that has not changed since the last time takes no memory.
  void add(std::int64_t time, const Stack& stack);
  // The thread's stack could not be read then: whatever it was before may not last until the next reading.
  void interrupt() { is_interrupted_ = true; }
  void forget_before(std::int64_t time);

  // The reading nearest to [from, until], if it is no further than `distance` from it. O(log n).
  [[nodiscard]] std::shared_ptr<const Stack> nearest(std::int64_t from, std::int64_t until, std::int64_t distance) const;

 private:
  struct Reading {
    std::int64_t first;  // when it was read first ...
    std::int64_t last;   // ... and last, without a change between them
    std::shared_ptr<const Stack> stack;
  };
  std::deque<Reading> readings_;
  bool is_interrupted_ = false;
};

}  // namespace lanescope::python
