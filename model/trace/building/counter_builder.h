// The counters of a trace under construction. Internal to model/trace.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/trace/counter.h"

namespace lanescope {

class CounterBuilder {
 public:
  // Returns the counter of this process, GPU, name and source name; creates it on first mention.
  CounterId add(const Counter& description);
  // Creates a counter, even if there is one with the same names.
  CounterId add_another(const Counter& description);

  // See TraceBuilder::add_samples(). Late samples are put into their places at the next publication.
  bool add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times, std::span<const std::vector<std::int64_t>> columns,
                   Nanoseconds end);
  void set_series(CounterId counter, CounterSeries series);
  // See TraceBuilder::give_series().
  void give_series(CounterId counter, CounterSeries series);

  // The counters so far. Full segments are shared with earlier results. O(segments + samples in tails that changed).
  [[nodiscard]] const std::vector<Counter>& counters() const noexcept { return counters_; }
  [[nodiscard]] const std::vector<CounterSeries>& publish();
  // Bytes of counters and their samples. O(1).
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  using Segments = std::vector<std::shared_ptr<const CounterSegment>>;
  // Counters that are read together: full segments of each, and samples that are in no segment yet.
  struct Group {
    std::vector<CounterId> members;
    std::vector<Segments> full;
    std::vector<Nanoseconds> times;
    std::vector<std::vector<std::int64_t>> columns;
    Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
    bool changed = false;
    std::map<Nanoseconds, Nanoseconds> known;  // the ends of the stretches of time of which something is known, by their starts
    struct Late {
      std::vector<Nanoseconds> times;
      std::vector<std::vector<std::int64_t>> columns;
      Nanoseconds end;
    };
    std::map<Nanoseconds, Late> late;  // samples that came after later ones, by their start, until settle()

    // True if nothing is known of any of this time. O(log stretches).
    [[nodiscard]] bool knows_nothing_of(TimeRange time) const noexcept;
    void know(TimeRange time);
    // Puts late samples into their places. O(samples of the group).
    std::int64_t settle();

    // These functions return by how many bytes the memory grew.
    std::int64_t append(std::span<const Nanoseconds> more_times, std::span<const std::vector<std::int64_t>> more_columns);
    std::int64_t append_gap();
    std::int64_t close_segment(Nanoseconds segment_end);
    [[nodiscard]] Segments segments(std::size_t member, const std::shared_ptr<const std::vector<Nanoseconds>>& tail_times) const;
  };
  Group* group_of(std::span<const CounterId> counters);

  static constexpr std::size_t kOfOthers = static_cast<std::size_t>(-1);  // in the place of a group: the series was given

  using Key = std::tuple<ProcessId, GpuId, std::string, std::string>;  // with its name and source name
  std::map<Key, CounterId> ids_;
  std::vector<Counter> counters_;
  std::vector<std::optional<std::size_t>> group_of_counter_;
  std::vector<Group> groups_;
  std::vector<CounterSeries> published_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace lanescope
