// How one clock stands to another: a straight line, since clocks of machines differ in where they begin and in how fast they run.
#pragma once

#include <cmath>

#include "model/trace/types.h"

namespace lanescope {

// Times of the one clock as times of the other, rounded to the nanosecond. What began no later and ended no earlier still does: so events that do
// not overlap don't, and those that lie within others do.
class ClockLine {
 public:
  constexpr ClockLine() = default;
  // The other clock runs at the same speed.
  constexpr ClockLine(Nanoseconds shift) : shift_(shift) {}  // NOLINT(google-explicit-constructor): most lines are a shift alone
  // At `reference`, a time of the one, the other shows `shift` more; and it goes on by 1 + drift ns each ns. Requires: |drift| < 5e-4.
  constexpr ClockLine(Nanoseconds shift, double drift, Nanoseconds reference) : shift_(shift), drift_(drift), reference_(reference) {}

  [[nodiscard]] constexpr Nanoseconds shift() const noexcept { return shift_; }
  [[nodiscard]] constexpr double drift() const noexcept { return drift_; }
  [[nodiscard]] constexpr bool is_shift() const noexcept { return drift_ == 0; }

  [[nodiscard]] Nanoseconds operator()(Nanoseconds time) const noexcept {
    if (is_shift()) return time + shift_;
    return time + shift_ + static_cast<Nanoseconds>(std::floor(static_cast<double>(time - reference_) * drift_));
  }
  [[nodiscard]] TimeRange operator()(TimeRange range) const noexcept { return {(*this)(range.begin), (*this)(range.end)}; }
  // The first time of the one clock that is no earlier on the other: so line(line.back(line(t))) == line(t).
  [[nodiscard]] Nanoseconds back(Nanoseconds time) const noexcept {
    if (is_shift()) return time - shift_;
    const Nanoseconds since = time - shift_ - reference_;
    Nanoseconds found = reference_ + static_cast<Nanoseconds>(static_cast<double>(since) / (1 + drift_));
    while ((*this)(found) >= time) --found;
    while ((*this)(found) < time) ++found;
    return found;
  }
  // From times of the one to times of a third, to which `next` leads from the other.
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
  Nanoseconds reference_ = 0;  // 0 where there is no drift
};

}  // namespace lanescope
