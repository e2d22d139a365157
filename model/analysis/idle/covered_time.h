// Time that intervals cover, summed as they come, in memory that does not grow with them.
#pragma once

#include <algorithm>

#include "model/trace/types.h"

namespace lanescope::analysis {

// The intervals may overlap and touch. They come by start.
class CoveredTime {
 public:
  // Requires: range.begin <= range.end, and no start before that of an earlier interval. Intervals of length 0 cover nothing.
  void add(TimeRange range) noexcept {
    if (range.empty()) return;
    if (range.begin <= open_.end && !open_.empty()) {
      open_.end = std::max(open_.end, range.end);
      return;
    }
    closed_ += open_.length();
    open_ = range;
  }
  [[nodiscard]] Nanoseconds total() const noexcept { return closed_ + open_.length(); }
  // Requires: no interval that was added starts after t. Later ones must not start before t.
  [[nodiscard]] Nanoseconds before(Nanoseconds t) const noexcept { return closed_ + std::max<Nanoseconds>(0, std::min(open_.end, t) - open_.begin); }

 private:
  Nanoseconds closed_ = 0;  // of all intervals but the last
  TimeRange open_;          // the last interval, which may still grow
};

// The time of intervals, and how much of it is left if those at the same time count once. They come by start.
class TimeAtOnce {
 public:
  // Requires what CoveredTime::add() requires.
  void add(TimeRange range) noexcept {
    total_ += range.length();
    covered_.add(range);
  }
  [[nodiscard]] double share() const noexcept { return total_ == 0 ? 1 : static_cast<double>(covered_.total()) / static_cast<double>(total_); }  // 0 to 1

 private:
  Nanoseconds total_ = 0;
  CoveredTime covered_;
};

// How much of the time that intervals cover is also covered by others, which come together with them.
class TimeBeside {
 public:
  [[nodiscard]] Nanoseconds total() const noexcept { return own_.total(); }
  [[nodiscard]] Nanoseconds beside() const noexcept { return beside_; }
  // The stretch of its own intervals with most time that no other interval covers, the first of several; empty if others cover all.
  [[nodiscard]] TimeRange longest_alone() const noexcept { return longest_alone_; }

  // Must be called before an interval of either kind that starts at t is added.
  void advance(Nanoseconds t, const CoveredTime& others) noexcept {
    if (is_open_ && open_.end < t) close(others);
  }
  void add(TimeRange range, const CoveredTime& others) noexcept {
    if (range.empty()) return;
    own_.add(range);
    if (is_open_) {
      open_.end = std::max(open_.end, range.end);
      return;
    }
    is_open_ = true;
    open_ = range;
    others_before_ = others.before(range.begin);
  }
  // Must be called once, after the last interval.
  void finish(const CoveredTime& others) noexcept {
    if (is_open_) close(others);
  }

 private:
  void close(const CoveredTime& others) noexcept {
    is_open_ = false;
    const Nanoseconds beside = others.before(open_.end) - others_before_, alone = open_.length() - beside;
    beside_ += beside;
    if (alone <= most_alone_) return;
    most_alone_ = alone;
    longest_alone_ = open_;
  }

  CoveredTime own_;
  Nanoseconds beside_ = 0;         // of all intervals but the last
  Nanoseconds others_before_ = 0;  // when the last interval started
  Nanoseconds most_alone_ = 0;
  TimeRange longest_alone_;
  TimeRange open_;  // the last interval, which may still grow
  bool is_open_ = false;
};

}  // namespace lanescope::analysis
