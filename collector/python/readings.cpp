#include "readings.h"

#include <algorithm>

namespace lanescope::python {
namespace {

std::size_t bytes_of(const Stack& stack) {
  constexpr std::size_t kOverhead = 768;  // of a reading: a new deque has room for 64 times
  return stack.size() * sizeof(Frame) + kOverhead;
}

}  // namespace

void Readings::add(std::int64_t time, const Stack& stack) {
  if (!is_interrupted_ && !readings_.empty() && *readings_.back().stack == stack) {
    readings_.back().times.push_back(time);
    bytes_ += sizeof(time);
    return;
  }
  is_interrupted_ = false;
  readings_.push_back({{time}, std::make_shared<const Stack>(stack)});
  bytes_ += bytes_of(stack);
}

void Readings::forget_before(std::int64_t time) {
  while (!readings_.empty() && readings_.front().times.back() < time) {
    bytes_ -= bytes_of(*readings_.front().stack) + (readings_.front().times.size() - 1) * sizeof(time);
    readings_.pop_front();
  }
  if (readings_.empty()) return;
  std::deque<std::int64_t>& oldest = readings_.front().times;
  for (; oldest.front() < time; bytes_ -= sizeof(time)) oldest.pop_front();
}

std::shared_ptr<const Stack> Readings::at(std::int64_t time, std::int64_t distance, const std::function<bool(std::int64_t time)>& counts) const {
  for (auto reading = readings_.rbegin(); reading != readings_.rend(); ++reading) {
    for (auto read = reading->times.rbegin(); read != reading->times.rend(); ++read) {
      if (*read > time) continue;
      if (time - *read > distance) return nullptr;
      if (counts(*read)) return reading->stack;
    }
  }
  return nullptr;
}

std::shared_ptr<const Stack> Readings::within(std::int64_t from, std::int64_t until) const {
  const auto reading = std::partition_point(readings_.begin(), readings_.end(), [&](const Reading& each) { return each.times.back() < from; });
  return reading != readings_.end() && reading->times.front() <= until ? reading->stack : nullptr;
}

}  // namespace lanescope::python
