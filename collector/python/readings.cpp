#include "readings.h"

#include <algorithm>

namespace lanescope::python {

void Readings::add(std::int64_t time, const Stack& stack) {
  if (!is_interrupted_ && !readings_.empty() && *readings_.back().stack == stack) {
    readings_.back().last = time;
    return;
  }
  is_interrupted_ = false;
  readings_.push_back({time, time, std::make_shared<const Stack>(stack)});
}

void Readings::forget_before(std::int64_t time) {
  while (!readings_.empty() && readings_.front().last < time) readings_.pop_front();
}

std::shared_ptr<const Stack> Readings::nearest(std::int64_t from, std::int64_t until, std::int64_t distance) const {
  // The first that does not end before the interval, and the one in front of it.
  const auto after = std::partition_point(readings_.begin(), readings_.end(), [&](const Reading& each) { return each.last < from; });
  const Reading* best = nullptr;
  if (after != readings_.end()) {
    if (after->first <= until) return after->stack;
    if (after->first - until <= distance) {
      best = &*after;
      distance = after->first - until;
    }
  }
  if (after != readings_.begin() && from - std::prev(after)->last <= distance) best = &*std::prev(after);
  return best != nullptr ? best->stack : nullptr;
}

}  // namespace lanescope::python
