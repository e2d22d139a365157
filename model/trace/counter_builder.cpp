#include "counter_builder.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lanescope {

CounterId CounterBuilder::add(const Counter& description) {
  const auto same = [&](const Counter& known) {
    return known.process == description.process && known.gpu == description.gpu && known.name == description.name &&
           known.source_name == description.source_name;
  };
  const auto found = std::find_if(counters_.begin(), counters_.end(), same);
  if (found != counters_.end()) return static_cast<CounterId>(found - counters_.begin());
  counters_.push_back(description);
  if (!(counters_.back().resolution > 0)) counters_.back().resolution = 1;
  group_of_counter_.emplace_back();
  published_.emplace_back();
  return static_cast<CounterId>(counters_.size() - 1);
}

CounterBuilder::Group* CounterBuilder::group_of(std::span<const CounterId> counters) {
  if (counters.empty()) return nullptr;
  if (const auto known = group_of_counter_[counters.front()]) {
    Group& group = groups_[*known];
    return std::equal(counters.begin(), counters.end(), group.members.begin(), group.members.end()) ? &group : nullptr;
  }
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const bool twice = std::find(counters.begin(), counters.begin() + static_cast<std::ptrdiff_t>(i), counters[i]) !=
                       counters.begin() + static_cast<std::ptrdiff_t>(i);
    if (twice || group_of_counter_[counters[i]]) return nullptr;
  }
  for (const CounterId counter : counters) group_of_counter_[counter] = groups_.size();
  Group group;
  group.members.assign(counters.begin(), counters.end());
  group.full.resize(counters.size());
  group.columns.resize(counters.size());
  groups_.push_back(std::move(group));
  return &groups_.back();
}

void CounterBuilder::Group::append(Nanoseconds time, std::span<const std::vector<std::int64_t>> values, std::size_t row) {
  if (times.size() == CounterSegment::kCapacity) close_segment(time);
  times.push_back(time);
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(values.empty() ? kNoValue : values[i][row]);
}

void CounterBuilder::Group::close_segment(Nanoseconds segment_end) {
  const auto shared = std::make_shared<const std::vector<Nanoseconds>>(times);
  for (std::size_t i = 0; i < members.size(); ++i) {
    full[i].push_back(std::make_shared<const CounterSegment>(shared, columns[i], segment_end));
    columns[i].clear();
  }
  times.clear();
}

bool CounterBuilder::add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times,
                                 std::span<const std::vector<std::int64_t>> columns, Nanoseconds end) {
  const auto ascend = [](Nanoseconds a, Nanoseconds b) { return a < b; };
  const auto fits = [&](const auto& column) { return column.size() == times.size(); };
  const bool sound = !times.empty() && columns.size() == counters.size() && std::all_of(columns.begin(), columns.end(), fits) &&
                     std::adjacent_find(times.begin(), times.end(), std::not_fn(ascend)) == times.end() && times.back() < end &&
                     is_near(times.front()) && is_near(end) &&
                     std::all_of(counters.begin(), counters.end(), [&](CounterId id) { return id < counters_.size(); });
  if (!sound) return false;
  Group* group = group_of(counters);
  if (group == nullptr || times.front() < group->end) return false;
  const bool is_first = group->times.empty() && group->full.front().empty();
  if (!is_first && times.front() > group->end) group->append(group->end, {}, 0);  // nothing is known from there on
  for (std::size_t row = 0; row < times.size(); ++row) group->append(times[row], columns, row);
  group->end = end;
  group->changed = true;
  return true;
}

void CounterBuilder::set_series(CounterId counter, CounterSeries series) {
  counters_[counter].origin = CounterOrigin::kComputed;
  published_[counter] = std::move(series);
}

CounterBuilder::Segments CounterBuilder::Group::segments(std::size_t member,
                                                         const std::shared_ptr<const std::vector<Nanoseconds>>& tail_times) const {
  Segments segments = full[member];
  segments.push_back(std::make_shared<const CounterSegment>(tail_times, columns[member], end));
  return segments;
}

const std::vector<CounterSeries>& CounterBuilder::publish() {
  for (Group& group : groups_) {
    if (!std::exchange(group.changed, false)) continue;
    const auto tail_times = std::make_shared<const std::vector<Nanoseconds>>(group.times);
    for (std::size_t i = 0; i < group.members.size(); ++i) published_[group.members[i]] = CounterSeries(group.segments(i, tail_times));
  }
  return published_;
}

}  // namespace lanescope
