// Intervals of time that neither overlap nor touch, in order: 8 bytes each, 16 if 8192 in a row span more than four seconds.
//
// Immutable and cheap to copy: intervals lie in parts, and a union that continues another one shares its parts. Full parts may go to a temporary file
// (scratch_memory.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/trace/segments/scratch_memory.h"
#include "model/trace/storage/ascending_times.h"

namespace lanescope {

class IntervalUnion {
 public:
  class Writer;
  IntervalUnion() = default;

  [[nodiscard]] std::size_t size() const noexcept { return parts_.empty() ? 0 : (parts_.size() - 1) * kCapacity + parts_.back()->size(); }
  [[nodiscard]] Nanoseconds start(std::size_t interval) const noexcept { return part(interval).starts[interval % kCapacity]; }
  [[nodiscard]] Nanoseconds end(std::size_t interval) const noexcept {
    return part(interval).starts[interval % kCapacity] + part(interval).covered[interval % kCapacity + 1] - part(interval).covered[interval % kCapacity];
  }

  [[nodiscard]] TimeRange range(std::size_t interval) const noexcept { return {start(interval), end(interval)}; }

  [[nodiscard]] Nanoseconds total() const noexcept { return parts_.empty() ? 0 : parts_.back()->covered.back(); }  // covered time. O(1)
  // Covered time within the window. O(log n).
  [[nodiscard]] Nanoseconds covered(TimeRange window) const noexcept { return window.empty() ? 0 : covered_before(window.end) - covered_before(window.begin); }
  // Time that both unions cover. O(n).
  [[nodiscard]] Nanoseconds overlap(const IntervalUnion& other) const noexcept;

  // First interval with start >= t. O(log n).
  [[nodiscard]] std::size_t lower_bound(Nanoseconds t) const noexcept;
  // Covered time before t. O(log n).
  [[nodiscard]] Nanoseconds covered_before(Nanoseconds t) const noexcept { return covered_before(t, lower_bound(t)); }
  // covered_before() of each time. Requires: `times` ascend.
  void covered_before(std::span<const Nanoseconds> times, std::span<Nanoseconds> into) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::size_t kCapacity = 1u << 13;
  struct Part {
    Part(std::span<const Nanoseconds> starts_of, std::span<const Nanoseconds> covered_before_them, EventMemory memory);
    [[nodiscard]] std::size_t size() const noexcept { return starts.size(); }
    std::shared_ptr<ScratchBlock> block;  // in which the columns lie; null: on the heap
    AscendingTimes starts;
    AscendingTimes covered;  // before each interval; one more than there are intervals
  };

  [[nodiscard]] const Part& part(std::size_t interval) const noexcept { return *parts_[interval / kCapacity]; }
  [[nodiscard]] Nanoseconds covered_before(Nanoseconds t, std::size_t lower_bound_of_t) const noexcept;

  std::vector<std::shared_ptr<const Part>> parts_;  // all but the last are full
};

// Makes a union of intervals that may overlap and touch.
class IntervalUnion::Writer {
 public:
  explicit Writer(EventMemory memory = EventMemory::kAll);
  // Continues `before` as it was at `t`, without what it has from then on.
  Writer(const IntervalUnion& before, Nanoseconds t, EventMemory memory = EventMemory::kAll);

  // Requires: start <= end, and no start before that of an earlier interval. Returns the end of the part that was covered already: [start, the result).
  Nanoseconds add(Nanoseconds start, Nanoseconds end) {
    if (start == end) return start;
    if (open_ && start <= open_end_) {
      const Nanoseconds covered = std::min(open_end_, end);
      open_end_ = std::max(open_end_, end);
      return covered;
    }
    if (open_) close();
    open_ = true;
    open_start_ = start;
    open_end_ = end;
    return start;
  }
  // Ends the writing.
  [[nodiscard]] IntervalUnion take();

 private:
  void close();
  void flush();

  EventMemory memory_;
  IntervalUnion into_;
  std::vector<Nanoseconds> starts_;   // of the part that is written
  std::vector<Nanoseconds> covered_;  // before each of the starts, and after the last
  bool open_ = false;                 // the last interval may still grow
  Nanoseconds open_start_ = 0;
  Nanoseconds open_end_ = 0;
};

}  // namespace lanescope
