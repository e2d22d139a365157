// Time that intervals cover, summed while they come, in memory that does not grow with them.
#pragma once

#include <algorithm>

#include "model/trace/types.h"

namespace lanescope::analysis {

// Of intervals that may overlap and touch, by start.
class CoveredTime {
 public:
  // Requires: range.begin <= range.end, and no begin before that of an earlier one. Those of no length cover nothing.
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
  // Requires: none that was added begins behind t. What comes later must not begin before it.
  [[nodiscard]] Nanoseconds before(Nanoseconds t) const noexcept { return closed_ + std::max<Nanoseconds>(0, std::min(open_.end, t) - open_.begin); }

 private:
  Nanoseconds closed_ = 0;  // of all but the last
  TimeRange open_;          // the last, which may still grow
};

// How much of the time that intervals cover is covered by others too, which come with them.
class TimeBeside {
 public:
  [[nodiscard]] Nanoseconds total() const noexcept { return own_.total(); }
  [[nodiscard]] Nanoseconds beside() const noexcept { return beside_; }
  // The stretch of its own intervals with most time that no other covers, the first of several; empty where others cover all.
  [[nodiscard]] TimeRange longest_alone() const noexcept { return longest_alone_; }

  // To be called before an interval of either that begins at t is added.
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
  // To be called once, behind the last.
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
  Nanoseconds beside_ = 0;         // of all but the last
  Nanoseconds others_before_ = 0;  // the last began
  Nanoseconds most_alone_ = 0;
  TimeRange longest_alone_;
  TimeRange open_;  // the last, which may still grow
  bool is_open_ = false;
};

}  // namespace lanescope::analysis
