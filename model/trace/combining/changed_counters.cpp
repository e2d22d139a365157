#include "changed_counters.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/workers/parallel.h"

namespace lanescope {
namespace {

class ChangedCounters final : public DemandedCounters {
 public:
  ChangedCounters(const DemandedCounters& from, const ClockLine& clock)
      : DemandedCounters(from.members(), changed_blocks(from, clock), changed_summaries(from, clock)), from_(from.shared_from_this()), clock_(clock) {}

  [[nodiscard]] std::string damage_text() const override { return from_->damage_text(); }

 private:
  static std::vector<Block> changed_blocks(const DemandedCounters& from, const ClockLine& clock) {
    std::vector<Block> blocks(from.blocks().begin(), from.blocks().end());
    for (Block& block : blocks) block.extent = clock(block.extent);
    return blocks;
  }
  static std::vector<CounterSummary> changed_summaries(const DemandedCounters& from, const ClockLine& clock) {
    std::vector<CounterSummary> summaries(from.blocks().size() * from.members());
    const auto fill = [&](std::size_t block) {
      for (std::size_t member = 0; member < from.members(); ++member) {
        CounterSummary& summary = summaries[block * from.members() + member];
        if (clock.is_shift()) {
          summary = from.summary(block, member);
        } else if (const auto segment = from.read_apart(block, member)) {
          const std::vector<Nanoseconds> times = changed_times(*segment, clock);
          summary = CounterSegment::summary_of(times, values_of(*segment), clock(from.blocks()[block].extent.end));
        }
      }
    };
    parallel_for(from.blocks().size(), fill);
    return summaries;
  }
  static std::vector<Nanoseconds> changed_times(const CounterSegment& segment, const ClockLine& clock) {
    std::vector<Nanoseconds> times;
    times.reserve(segment.size());
    for (const Nanoseconds time : *segment.times()) times.push_back(clock(time));
    return times;
  }
  static std::vector<std::int64_t> values_of(const CounterSegment& segment) {
    std::vector<std::int64_t> values;
    values.reserve(segment.size());
    for (std::size_t i = 0; i < segment.size(); ++i) values.push_back(segment.value(i));
    return values;
  }

  [[nodiscard]] std::shared_ptr<const CounterSegment> read(std::size_t block, std::size_t member) const override {
    const auto segment = from_->read_apart(block, member);
    if (segment == nullptr) return nullptr;
    const Times shared = times(block, [&] { return std::make_shared<const std::vector<Nanoseconds>>(changed_times(*segment, clock_)); });
    return std::make_shared<const CounterSegment>(shared, values_of(*segment), blocks()[block].extent.end);
  }

  std::shared_ptr<const DemandedCounters> from_;
  ClockLine clock_;
};

}  // namespace

std::shared_ptr<const DemandedCounters> changed(const DemandedCounters& from, const ClockLine& clock) {
  return std::make_shared<const ChangedCounters>(from, clock);
}

CounterSeries changed_in_memory(const CounterSeries& series, const ClockLine& clock) {
  if (series.empty()) return {};
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> values;
  CounterReader reader(series);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const CounterSample sample = reader.sample(i);
    times.push_back(clock(sample.time));
    values.push_back(sample.value);
  }
  return {times, values, std::max(clock(series.extent().end), times.back() + 1)};
}

}  // namespace lanescope
