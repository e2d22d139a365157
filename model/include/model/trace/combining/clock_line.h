// How one clock relates to another: a straight line, because clocks of machines differ in their start and in their speed.
#pragma once

#include <cmath>

#include "model/trace/types.h"

namespace lanescope {

// Maps times of the one clock to times of the other, rounded to the nanosecond. The order of starts and of ends is kept: events that do not overlap
// still do not, and events within others stay within them.
class ClockLine {
 public:
  constexpr ClockLine() = default;
  // The other clock runs at the same speed.
  constexpr ClockLine(Nanoseconds shift) : shift_(shift) {}  // NOLINT(google-explicit-constructor): most lines are a shift alone
  // At `reference`, a time of the one clock, the other shows `shift` more; from there it goes on by 1 + drift ns each ns. Requires: |drift| < 5e-4.
  constexpr ClockLine(Nanoseconds shift, double drift, Nanoseconds reference) : shift_(shift), drift_(drift), reference_(reference) {}

  [[nodiscard]] constexpr Nanoseconds shift() const noexcept { return shift_; }
  [[nodiscard]] constexpr double drift() const noexcept { return drift_; }
  [[nodiscard]] constexpr bool is_shift() const noexcept { return drift_ == 0; }

  [[nodiscard]] Nanoseconds operator()(Nanoseconds time) const noexcept {
    if (is_shift()) return time + shift_;
    return time + shift_ + static_cast<Nanoseconds>(std::floor(static_cast<double>(time - reference_) * drift_));
  }
  [[nodiscard]] TimeRange operator()(TimeRange range) const noexcept { return {(*this)(range.begin), (*this)(range.end)}; }
  // The first time of the one clock whose time on the other is not earlier than `time`: so line(line.back(line(t))) == line(t).
  [[nodiscard]] Nanoseconds back(Nanoseconds time) const noexcept {
    if (is_shift()) return time - shift_;
    const Nanoseconds since = time - shift_ - reference_;
    Nanoseconds found = reference_ + static_cast<Nanoseconds>(static_cast<double>(since) / (1 + drift_));
    while ((*this)(found) >= time) --found;
    while ((*this)(found) < time) ++found;
    return found;
  }
  // The line from times of the one clock to times of a third, to which `next` leads from the other.
  [[nodiscard]] ClockLine then(const ClockLine& next) const noexcept {
    if (next.is_shift()) return {shift_ + next.shift_, drift_, reference_};
    if (is_shift()) return {shift_ + next.shift_, next.drift_, next.reference_ - shift_};
    const Nanoseconds there = reference_ + shift_;
    return {shift_ + next(there) - there, drift_ + next.drift_ + drift_ * next.drift_, reference_};
  }

  bool operator==(const ClockLine&) const = default;

 private:
  Nanoseconds shift_ = 0;
  double drift_ = 0;
  Nanoseconds reference_ = 0;  // 0 if there is no drift
};

}  // namespace lanescope
