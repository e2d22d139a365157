// Counters: quantities over time, such as a GPU's power or the share of its SMs that are busy.
//
// A counter is a step function: a value holds from its sample to the next one. It has no value in times in which nothing was measured. Values are
// integers; multiplied by Counter::resolution they are in the counter's unit. Times are ns since the trace's epoch.
//
// A series is immutable and cheap to copy: it shares its segments. Any number of threads may read it. A recording that grows publishes new series,
// which share all full segments with the old ones. Of a compacted file, segments are decoded when they are needed (demanded_counters.h).
//
// Memory: 4 bytes a value (8 in segments for which that is too narrow) and slightly over 1 for the index, but none if a value holds for a whole
// segment; and 8 bytes a time, which all counters that are read together share. Of a compacted file, only 32 bytes a segment of a counter stay.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

using CounterId = std::uint32_t;  // position in Trace::counters()

enum class CounterOrigin : std::uint8_t {
  kRead,      // its values were measured
  kComputed,  // computed from the trace's events, which hold all of its data
};

// What a counter is.
struct Counter {
  ProcessId process = kNone;  // its process; kNone: it belongs to a GPU or to the machine
  GpuId gpu = kNone;          // its GPU; kNone: it belongs to none
  std::string name;           // "SMs active"
  std::string unit;           // "%", "W", "B/s", "Hz", "B"; empty for plain numbers
  double resolution = 1;      // the value of 1 in its series, in the unit
  std::string group;          // heading under which it is shown; may be empty
  double maximum = 0;         // the largest possible value, in the unit; 0 if none is known
  std::string source_name;    // what its source calls it
  std::string description;    // one sentence; may be empty
  CounterOrigin origin = CounterOrigin::kRead;
};

// Summary of a counter in a window of time.
struct CounterSummary {
  std::int64_t minimum = std::numeric_limits<std::int64_t>::max();
  std::int64_t maximum = std::numeric_limits<std::int64_t>::min();
  double integral = 0;      // sum of value times ns
  Nanoseconds covered = 0;  // time for which there is a value

  [[nodiscard]] bool empty() const noexcept { return covered == 0; }
  // Weighted by time. Requires: not empty.
  [[nodiscard]] double mean() const noexcept { return integral / static_cast<double>(covered); }
  void add(std::int64_t value, Nanoseconds duration) noexcept;
  void add(const CounterSummary& other) noexcept;
};

inline constexpr std::int64_t kNoValue = std::numeric_limits<std::int64_t>::min();

// A run of consecutive samples with its index. Where a series holds its segments, each but the last has kCapacity; those of a compacted file have any number.
class CounterSegment {
 public:
  static constexpr std::size_t kCapacity = 1u << 14;
  static constexpr std::size_t kBlock = 32;  // samples below a node of the lowest level
  static constexpr std::size_t kFanOut = 8;

  // `values` may hold kNoValue. Requires: as many values as times, at least one; times ascend; end is after the last.
  CounterSegment(std::shared_ptr<const std::vector<Nanoseconds>> times, std::span<const std::int64_t> values, Nanoseconds end);

  [[nodiscard]] std::size_t size() const noexcept { return times_->size(); }
  [[nodiscard]] Nanoseconds time(std::size_t i) const noexcept { return (*times_)[i]; }
  [[nodiscard]] Nanoseconds end(std::size_t i) const noexcept { return i + 1 < times_->size() ? (*times_)[i + 1] : end_; }
  [[nodiscard]] std::int64_t value(std::size_t i) const noexcept {
    if (!narrow_.empty()) return narrow_[i] == kNoNarrowValue ? kNoValue : narrow_[i];
    return wide_.empty() ? constant_ : wide_[i];
  }
  [[nodiscard]] TimeRange extent() const noexcept { return {times_->front(), end_}; }
  // Index of the last sample at or before t. Requires: t >= time(0). O(log n).
  [[nodiscard]] std::size_t index_at(Nanoseconds t) const noexcept;
  // Folds the values that hold in the window into `into`. O(log n).
  void summarize(TimeRange window, CounterSummary& into) const noexcept;
  [[nodiscard]] const CounterSummary& summary() const noexcept { return summary_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;  // without its share of the times
  [[nodiscard]] const std::shared_ptr<const std::vector<Nanoseconds>>& times() const noexcept { return times_; }
  // The summary() of a segment that is not made. Requires: as the constructor. O(samples).
  [[nodiscard]] static CounterSummary summary_of(std::span<const Nanoseconds> times, std::span<const std::int64_t> values, Nanoseconds end) noexcept;

 private:
  static constexpr std::int32_t kNoNarrowValue = std::numeric_limits<std::int32_t>::min();
  void add_samples(std::size_t first, std::size_t last, CounterSummary& into) const noexcept;

  std::shared_ptr<const std::vector<Nanoseconds>> times_;
  Nanoseconds end_;
  std::int64_t constant_ = kNoValue;                 // if all values are the same
  std::vector<std::int32_t> narrow_;                 // otherwise either this
  std::vector<std::int64_t> wide_;                   // or this
  std::vector<std::vector<CounterSummary>> levels_;  // levels_[0]: one node a block; each next level covers kFanOut nodes of the one below
  CounterSummary summary_;
};

struct CounterSample {
  Nanoseconds time = 0;
  Nanoseconds duration = 0;  // until the next sample, or the end
  std::int64_t value = kNoValue;
  [[nodiscard]] bool has_value() const noexcept { return value != kNoValue; }
};

class DemandedCounters;

class CounterSeries {
 public:
  CounterSeries() = default;
  // Requires: every segment but the last is full, and ends where the next starts.
  explicit CounterSeries(std::vector<std::shared_ptr<const CounterSegment>> segments);
  // One value a time, which holds until the next; the last holds until `end`. Requires: as many values as times; times ascend and are before `end`.
  CounterSeries(std::span<const Nanoseconds> times, std::span<const std::int64_t> values, Nanoseconds end);
  // One of the counters that a compacted file has together. Requires: member < group->members().
  CounterSeries(std::shared_ptr<const DemandedCounters> group, std::size_t member);

  // A segment that is not in memory is decoded for what follows, unless it is said that nothing is; this may wait for the disk.

  [[nodiscard]] std::size_t size() const noexcept { return size_; }  // including samples without a value
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  // Requires: i < size(). O(1), but O(log segments) and a lock of the cache for a segment on demand: who reads many samples uses a CounterReader.
  [[nodiscard]] CounterSample sample(std::size_t i) const noexcept;
  // From the first sample to the end of the last; empty if the series is. Nothing is decoded. O(1).
  [[nodiscard]] TimeRange extent() const noexcept;
  // Samples that hold at some time in the window: [first, last). O(log n).
  [[nodiscard]] std::pair<std::size_t, std::size_t> overlapping(TimeRange window) const noexcept;
  // The sample that holds at t, if any. O(log n).
  [[nodiscard]] std::optional<CounterSample> at(Nanoseconds t) const noexcept;
  // Exact, not sampled. Only segments that the window cuts are decoded. O(log n + segments in the window).
  [[nodiscard]] CounterSummary summarize(TimeRange window) const noexcept;
  // summarize() of adjoining windows: into[i] is the summary of [edges[i], edges[i + 1]). Requires: edges ascend and are one more than `into`.
  void summarize(std::span<const Nanoseconds> edges, std::span<CounterSummary> into) const noexcept;
  // The same without decoding anything: of a segment that an edge cuts and that is not in memory, each window has a share of its summary by time, and all
  // of its extremes. Returns whether all are exact. For threads that must not wait.
  enum class Detail : std::uint8_t { kExact, kOutline };
  Detail outline(std::span<const Nanoseconds> edges, std::span<CounterSummary> into) const noexcept;

  [[nodiscard]] std::size_t segment_count() const noexcept;
  // Held for as long as the caller has it. Requires: s < segment_count().
  [[nodiscard]] std::shared_ptr<const CounterSegment> segment(std::size_t s) const noexcept;
  // The segment of a sample, and the position of that segment's first sample. Requires: i < size(). Nothing is decoded. O(log segments).
  struct Place {
    std::size_t segment = 0;
    std::size_t first = 0;
  };
  [[nodiscard]] Place place_of(std::size_t i) const noexcept;
  // Null if the series holds its segments. Then its samples are decoded when they are needed.
  [[nodiscard]] const DemandedCounters* demanded() const noexcept { return group_.get(); }
  // Which of them it is. Requires: demanded() is not null.
  [[nodiscard]] std::size_t member() const noexcept { return member_; }
  // The segments that are held: all or none.
  [[nodiscard]] std::span<const std::shared_ptr<const CounterSegment>> segments() const noexcept { return segments_; }
  // Equal for series that are read together, and so have the same times; null if empty.
  [[nodiscard]] const void* times_identity() const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;  // without the times, which several series may share, and without what is demanded

 private:
  [[nodiscard]] TimeRange extent_of(std::size_t s) const noexcept;
  [[nodiscard]] const CounterSummary& summary_of(std::size_t s) const noexcept;
  // Index of the segment that holds t, or of the first after it.
  [[nodiscard]] std::size_t segment_at(Nanoseconds t) const noexcept;
  // Calls fold(s, window, into[i]) for each segment that overlaps window i.
  template <typename Fold>
  void fold_windows(std::span<const Nanoseconds> edges, std::span<CounterSummary> into, Fold fold) const noexcept;

  std::vector<std::shared_ptr<const CounterSegment>> segments_;  // empty if there is a group
  std::shared_ptr<const DemandedCounters> group_;
  std::size_t member_ = 0;  // its position in the group
  std::size_t size_ = 0;
};

// Reads samples of a series, and holds the segment of the last one: nearly O(1) for samples that follow each other. The series must outlive it. One thread.
class CounterReader {
 public:
  explicit CounterReader(const CounterSeries& series) noexcept : series_(&series) {}
  // Requires: i < series.size().
  [[nodiscard]] CounterSample sample(std::size_t i) noexcept {
    if (segment_ == nullptr || i - first_ >= segment_->size()) find(i);
    const std::size_t within = i - first_;
    return {segment_->time(within), segment_->end(within) - segment_->time(within), segment_->value(within)};
  }

 private:
  void find(std::size_t i) noexcept;

  const CounterSeries* series_;
  std::shared_ptr<const CounterSegment> segment_;
  std::size_t first_ = 0;  // position of its first sample
};

}  // namespace lanescope
