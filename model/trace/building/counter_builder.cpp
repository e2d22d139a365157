#include "counter_builder.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lanescope {
namespace {

constexpr std::size_t kStretchBytes = 64;     // of a stretch of time that is known
constexpr std::size_t kCounterBytes = 1'200;  // including its place in a group, its series and its key

}  // namespace

CounterId CounterBuilder::add(const Counter& description) {
  const auto [found, inserted] =
      ids_.try_emplace({description.process, description.gpu, description.name, description.source_name}, static_cast<CounterId>(counters_.size()));
  return inserted ? add_another(description) : found->second;
}

CounterId CounterBuilder::add_another(const Counter& description) {
  counters_.push_back(description);
  if (!(counters_.back().resolution > 0)) counters_.back().resolution = 1;
  group_of_counter_.emplace_back();
  published_.emplace_back();
  constexpr std::uint64_t kCopies = 3;  // here, and in two traces: the one that is made from it, and the one from which that is copied
  memory_bytes_ += kCounterBytes + (kCopies + 1) * (description.name.size() + description.source_name.size()) +
                   kCopies * (description.unit.size() + description.group.size() + description.description.size());
  return static_cast<CounterId>(counters_.size() - 1);
}

CounterBuilder::Group* CounterBuilder::group_of(std::span<const CounterId> counters) {
  if (counters.empty()) return nullptr;
  if (const auto known = group_of_counter_[counters.front()]) {
    if (*known == kOfOthers) return nullptr;
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

bool CounterBuilder::Group::knows_nothing_of(TimeRange time) const noexcept {
  const auto after = known.lower_bound(time.begin);
  if (after != known.end() && after->first < time.end) return false;
  return after == known.begin() || std::prev(after)->second <= time.begin;
}

void CounterBuilder::Group::know(TimeRange time) {
  auto stretch = known.lower_bound(time.begin);
  if (stretch != known.begin() && std::prev(stretch)->second == time.begin)
    (--stretch)->second = time.end;
  else
    stretch = known.emplace_hint(stretch, time.begin, time.end);
  if (const auto next = std::next(stretch); next != known.end() && next->first == time.end) {
    stretch->second = next->second;
    known.erase(next);
  }
}

std::int64_t CounterBuilder::Group::settle() {
  if (late.empty()) return 0;
  struct Rows {
    std::vector<Nanoseconds> times;
    std::vector<std::vector<std::int64_t>> columns;
    void add(const std::vector<Nanoseconds>& more_times, const std::vector<std::vector<std::int64_t>>& more_columns) {
      times.insert(times.end(), more_times.begin(), more_times.end());
      for (std::size_t i = 0; i < columns.size(); ++i) columns[i].insert(columns[i].end(), more_columns[i].begin(), more_columns[i].end());
    }
  };
  const auto bytes_of = [this](std::size_t rows) { return static_cast<std::int64_t>(rows * sizeof(std::int64_t) * (1 + members.size())); };
  std::int64_t fewer_bytes = bytes_of(times.size());
  const Rows none{{}, std::vector<std::vector<std::int64_t>>(members.size())};
  Rows before = none, came = none, all = none;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const auto& segment : full[i]) {
      fewer_bytes += static_cast<std::int64_t>(segment->memory_bytes() + sizeof(CounterSegment));
      if (i == 0) before.times.insert(before.times.end(), segment->times()->begin(), segment->times()->end());
      for (std::size_t row = 0; row < segment->size(); ++row) before.columns[i].push_back(segment->value(row));
    }
  before.add(times, columns);
  const std::map<Nanoseconds, Late> pieces = std::exchange(late, {});
  for (const auto& [begin, piece] : pieces) came.add(piece.times, piece.columns);
  fewer_bytes += bytes_of(came.times.size());
  full.assign(members.size(), {});
  columns = none.columns;
  times.clear();

  // Samples that stand for gaps lie in times of which nothing was known: they are made again.
  const auto stood_for_gap = [&](Nanoseconds t) {
    const auto stretch = known.upper_bound(t);
    const auto piece = pieces.upper_bound(t);
    return stretch == known.begin() || std::prev(stretch)->second <= t || (piece != pieces.begin() && std::prev(piece)->second.end > t);
  };
  const auto take = [&](const Rows& from, std::size_t row) {
    all.times.push_back(from.times[row]);
    for (std::size_t i = 0; i < members.size(); ++i) all.columns[i].push_back(from.columns[i][row]);
  };
  std::size_t old_row = 0, late_row = 0;
  for (const auto& [begin, stretch_end] : known) {
    while (true) {
      while (old_row < before.times.size() && stood_for_gap(before.times[old_row])) ++old_row;
      const Nanoseconds old_time = old_row < before.times.size() ? before.times[old_row] : stretch_end;
      const Nanoseconds late_time = late_row < came.times.size() ? came.times[late_row] : stretch_end;
      if (std::min(old_time, late_time) >= stretch_end) break;
      old_time < late_time ? take(before, old_row++) : take(came, late_row++);
    }
    if (stretch_end == end) continue;
    all.times.push_back(stretch_end);
    for (std::vector<std::int64_t>& column : all.columns) column.push_back(kNoValue);
  }
  return append(all.times, all.columns) - fewer_bytes;
}

bool CounterBuilder::add_samples(std::span<const CounterId> counters, std::span<const Nanoseconds> times, std::span<const std::vector<std::int64_t>> columns,
                                 Nanoseconds end) {
  const auto ascend = [](Nanoseconds a, Nanoseconds b) { return a < b; };
  const auto fits = [&](const auto& column) { return column.size() == times.size(); };
  const bool sound = !times.empty() && columns.size() == counters.size() && std::all_of(columns.begin(), columns.end(), fits) &&
                     std::adjacent_find(times.begin(), times.end(), std::not_fn(ascend)) == times.end() && times.back() < end && is_near(times.front()) &&
                     is_near(end) && std::all_of(counters.begin(), counters.end(), [&](CounterId id) { return id < counters_.size(); });
  if (!sound) return false;
  Group* group = group_of(counters);
  if (group == nullptr) return false;
  if (times.front() < group->end) {
    if (!group->knows_nothing_of({times.front(), end})) return false;
    group->late.emplace(times.front(), Group::Late{{times.begin(), times.end()}, {columns.begin(), columns.end()}, end});
    group->know({times.front(), end});
    group->changed = true;
    memory_bytes_ += kStretchBytes + times.size() * sizeof(std::int64_t) * (1 + columns.size());
    return true;
  }
  const bool is_first = group->times.empty() && group->full.front().empty();
  std::int64_t more_bytes = 0;
  if (!is_first && times.front() > group->end) more_bytes += group->append_gap();  // nothing is known from there on
  more_bytes += group->append(times, columns);
  memory_bytes_ += static_cast<std::uint64_t>(more_bytes);  // may be negative
  if (group->known.empty() || times.front() > group->end) memory_bytes_ += kStretchBytes;
  group->know({times.front(), end});
  group->end = end;
  group->changed = true;
  return true;
}

void CounterBuilder::give_series(CounterId counter, CounterSeries series) {
  group_of_counter_[counter] = kOfOthers;
  published_[counter] = std::move(series);
}

void CounterBuilder::set_series(CounterId counter, CounterSeries series) {
  counters_[counter].origin = CounterOrigin::kComputed;
  published_[counter] = std::move(series);
}

CounterBuilder::Segments CounterBuilder::Group::segments(std::size_t member, const std::shared_ptr<const std::vector<Nanoseconds>>& tail_times) const {
  Segments segments = full[member];
  segments.push_back(std::make_shared<const CounterSegment>(tail_times, columns[member], end));
  return segments;
}

const std::vector<CounterSeries>& CounterBuilder::publish() {
  for (Group& group : groups_) {
    if (!std::exchange(group.changed, false)) continue;
    memory_bytes_ += static_cast<std::uint64_t>(group.settle());  // may be negative
    const auto tail_times = std::make_shared<const std::vector<Nanoseconds>>(group.times);
    for (std::size_t i = 0; i < group.members.size(); ++i) published_[group.members[i]] = CounterSeries(group.segments(i, tail_times));
  }
  return published_;
}

}  // namespace lanescope
