#include "counter_builder.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lanescope {
namespace {

constexpr std::size_t kCounterBytes = 1'200;  // with its place in a group, its series and its key

}  // namespace

CounterId CounterBuilder::add(const Counter& description) {
  const auto [found, inserted] = ids_.try_emplace({description.process, description.gpu, description.name, description.source_name},
                                                  static_cast<CounterId>(counters_.size()));
  return inserted ? add_another(description) : found->second;
}

CounterId CounterBuilder::add_another(const Counter& description) {
  counters_.push_back(description);
  if (!(counters_.back().resolution > 0)) counters_.back().resolution = 1;
  group_of_counter_.emplace_back();
  published_.emplace_back();
  memory_bytes_ += kCounterBytes + 2 * (description.name.size() + description.source_name.size()) + description.unit.size() +
                   description.group.size() + description.description.size();
  return static_cast<CounterId>(counters_.size() - 1);
}

CounterBuilder::Group* CounterBuilder::group_of(std::span<const CounterId> counters) {
  if (counters.empty()) return nullptr;
  if (const auto known = group_of_counter_[counters.front()]) {
    Group& group = groups_[*known];
    return std::equal(counters.begin(), counters.end(), group.members.begin(), group.members.end()) ? &group : nullptr;
  }
  std::vector<CounterId> sorted(counters.begin(), counters.end());
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (twice || std::any_of(sorted.begin(), sorted.end(), [this](CounterId id) { return group_of_counter_[id].has_value(); })) return nullptr;
  for (const CounterId counter : counters) group_of_counter_[counter] = groups_.size();
  Group group;
  group.members.assign(counters.begin(), counters.end());
  group.full.resize(counters.size());
  group.columns.resize(counters.size());
  groups_.push_back(std::move(group));
  return &groups_.back();
}

std::int64_t CounterBuilder::Group::append(std::span<const Nanoseconds> more_times, std::span<const std::vector<std::int64_t>> more_columns) {
  std::int64_t more_bytes = 0;
  for (std::size_t done = 0; done < more_times.size();) {
    if (times.size() == CounterSegment::kCapacity) more_bytes += close_segment(more_times[done]);
    const std::size_t count = std::min(more_times.size() - done, CounterSegment::kCapacity - times.size());
    const auto append_rows = [&](const auto& from, auto& to) {
      const auto rows = std::span(from).subspan(done, count);
      to.insert(to.end(), rows.begin(), rows.end());
    };
    append_rows(more_times, times);
    for (std::size_t i = 0; i < columns.size(); ++i) append_rows(more_columns[i], columns[i]);
    more_bytes += static_cast<std::int64_t>(count * sizeof(std::int64_t) * (1 + columns.size()));
    done += count;
  }
  return more_bytes;
}

std::int64_t CounterBuilder::Group::append_gap() {
  const std::vector<std::vector<std::int64_t>> nothing(columns.size(), {kNoValue});
  return append({&end, 1}, nothing);
}

std::int64_t CounterBuilder::Group::close_segment(Nanoseconds segment_end) {
  const auto shared = std::make_shared<const std::vector<Nanoseconds>>(times);
  std::int64_t more_bytes = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    full[i].push_back(std::make_shared<const CounterSegment>(shared, columns[i], segment_end));
    more_bytes += static_cast<std::int64_t>(full[i].back()->memory_bytes() + sizeof(CounterSegment)) -
                  static_cast<std::int64_t>(columns[i].size() * sizeof(std::int64_t));
    columns[i].clear();
  }
  times.clear();
  return more_bytes;
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
  std::int64_t more_bytes = 0;
  if (!is_first && times.front() > group->end) more_bytes += group->append_gap();  // nothing is known from there on
  more_bytes += group->append(times, columns);
  memory_bytes_ += static_cast<std::uint64_t>(more_bytes);  // may be less than none
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
