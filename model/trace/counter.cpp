#include "model/trace/counter.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/trace/segments/demanded_counters.h"

namespace lanescope {

namespace {

inline void add_sample(CounterSummary& sum, std::int64_t value, Nanoseconds duration) noexcept {
  if (value == kNoValue || duration <= 0) return;
  sum.minimum = std::min(sum.minimum, value);
  sum.maximum = std::max(sum.maximum, value);
  sum.integral += static_cast<double>(value) * static_cast<double>(duration);
  sum.covered += duration;
}

}  // namespace

void CounterSummary::add(std::int64_t value, Nanoseconds duration) noexcept { add_sample(*this, value, duration); }

void CounterSummary::add(const CounterSummary& other) noexcept {
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
  integral += other.integral;
  covered += other.covered;
}

CounterSegment::CounterSegment(std::shared_ptr<const std::vector<Nanoseconds>> times, std::span<const std::int64_t> values, Nanoseconds end)
    : times_(std::move(times)), end_(end) {
  assert(!values.empty() && values.size() == times_->size());
  if (std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values.front(); })) {
    constant_ = values.front();
    summary_.add(constant_, extent().length());
    return;
  }
  const auto fits = [](std::int64_t value) {
    return value == kNoValue || (value > std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max());
  };
  if (std::all_of(values.begin(), values.end(), fits)) {
    narrow_.reserve(values.size());
    for (const std::int64_t value : values) narrow_.push_back(value == kNoValue ? kNoNarrowValue : static_cast<std::int32_t>(value));
  } else {
    wide_.assign(values.begin(), values.end());
  }
  std::vector<CounterSummary> level((size() + kBlock - 1) / kBlock);
  for (std::size_t block = 0; block < level.size(); ++block) add_samples(block * kBlock, std::min(size(), (block + 1) * kBlock), level[block]);
  for (const CounterSummary& node : level) summary_.add(node);
  while (level.size() > kFanOut) {
    std::vector<CounterSummary> above((level.size() + kFanOut - 1) / kFanOut);
    for (std::size_t i = 0; i < level.size(); ++i) above[i / kFanOut].add(level[i]);
    levels_.push_back(std::exchange(level, std::move(above)));
  }
  levels_.push_back(std::move(level));
}

// Adds up block by block, as the constructor does, so that sums are rounded alike.
CounterSummary CounterSegment::summary_of(std::span<const Nanoseconds> times, std::span<const std::int64_t> values, Nanoseconds end) noexcept {
  CounterSummary summary;
  if (std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values.front(); })) {
    summary.add(values.front(), end - times.front());
    return summary;
  }
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    CounterSummary block;
    for (std::size_t i = first; i < std::min(values.size(), first + kBlock); ++i)
      add_sample(block, values[i], (i + 1 < times.size() ? times[i + 1] : end) - times[i]);
    summary.add(block);
  }
  return summary;
}

void CounterSegment::add_samples(std::size_t first, std::size_t last, CounterSummary& into) const noexcept {
  // In memory of its own, and with one form of values, so that the sum stays in registers.
  CounterSummary sum = into;
  const Nanoseconds* const times = times_->data();
  const std::size_t last_with_next = std::min(last, size() - 1);
  const auto add = [&](const auto& value_of) {
    for (std::size_t i = first; i < last_with_next; ++i) add_sample(sum, value_of(i), times[i + 1] - times[i]);
    if (last > first && last == size()) add_sample(sum, value_of(last - 1), end_ - times[last - 1]);
  };
  if (!narrow_.empty())
    add([values = narrow_.data()](std::size_t i) { return values[i] == kNoNarrowValue ? kNoValue : std::int64_t{values[i]}; });
  else
    add([this](std::size_t i) { return value(i); });
  into = sum;
}

// Samples mostly have a constant rate, so the position of a time is nearly known: the search starts there and widens.
std::size_t CounterSegment::index_at(Nanoseconds t) const noexcept {
  const std::vector<Nanoseconds>& times = *times_;
  const double share = static_cast<double>(t - times.front()) / static_cast<double>(end_ - times.front());
  const std::size_t guess = std::min(size() - 1, static_cast<std::size_t>(share * static_cast<double>(size())));
  std::size_t first = guess;  // at or before t, once found
  std::size_t last = guess;   // after it
  std::size_t step = 1;
  if (times[guess] <= t) {
    for (last = guess + 1; last < size() && times[last] <= t; last += step, step *= 2) first = last;
    last = std::min(last, size());
  } else {
    while (times[first] > t) {
      last = first;
      first = first > step ? first - step : 0;
      step *= 2;
    }
  }
  const auto begin = times.begin() + static_cast<std::ptrdiff_t>(first) + 1;
  return static_cast<std::size_t>(std::upper_bound(begin, times.begin() + static_cast<std::ptrdiff_t>(last), t) - times.begin()) - 1;
}

void CounterSegment::summarize(TimeRange window, CounterSummary& into) const noexcept {
  window = window.intersected(extent());
  if (window.empty()) return;
  if (window == extent()) return into.add(summary_);
  if (levels_.empty()) return into.add(constant_, window.length());
  const std::size_t begin = index_at(window.begin);
  const std::size_t last = index_at(window.end - 1);
  into.add(value(begin), std::min(end(begin), window.end) - window.begin);
  if (last == begin) return;
  into.add(value(last), window.end - time(last));
  // The samples between these hold in the window from their start to their end: the largest aligned nodes that fit, from the left.
  std::size_t first = begin + 1;
  const std::size_t aligned = std::min(last, (first + kBlock - 1) / kBlock * kBlock);
  add_samples(first, aligned, into);
  first = aligned;
  while (first + kBlock <= last) {
    std::size_t span = kBlock;
    std::size_t height = 0;
    while (height + 1 < levels_.size() && first % (span * kFanOut) == 0 && first + span * kFanOut <= last) {
      span *= kFanOut;
      ++height;
    }
    into.add(levels_[height][first / span]);
    first += span;
  }
  add_samples(first, last, into);
}

std::size_t CounterSegment::memory_bytes() const noexcept {
  std::size_t bytes = narrow_.capacity() * sizeof(std::int32_t) + wide_.capacity() * sizeof(std::int64_t);
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(CounterSummary);
  return bytes;
}

CounterSeries::CounterSeries(std::vector<std::shared_ptr<const CounterSegment>> segments) : segments_(std::move(segments)) {
  for (const auto& segment : segments_) size_ += segment->size();
}

CounterSeries::CounterSeries(std::span<const Nanoseconds> times, std::span<const std::int64_t> values, Nanoseconds end) : size_(times.size()) {
  assert(times.size() == values.size());
  for (std::size_t first = 0; first < times.size(); first += CounterSegment::kCapacity) {
    const std::size_t count = std::min(CounterSegment::kCapacity, times.size() - first);
    const auto part = times.subspan(first, count);
    const Nanoseconds part_end = first + count < times.size() ? times[first + count] : end;
    segments_.push_back(std::make_shared<const CounterSegment>(std::make_shared<const std::vector<Nanoseconds>>(part.begin(), part.end()),
                                                               values.subspan(first, count), part_end));
  }
}

CounterSeries::CounterSeries(std::shared_ptr<const DemandedCounters> group, std::size_t member)
    : group_(std::move(group)), member_(member), size_(group_->size()) {
  assert(member < group_->members());
}

std::size_t CounterSeries::segment_count() const noexcept { return group_ ? group_->blocks().size() : segments_.size(); }

std::shared_ptr<const CounterSegment> CounterSeries::segment(std::size_t s) const noexcept { return group_ ? group_->held(s, member_) : segments_[s]; }

TimeRange CounterSeries::extent_of(std::size_t s) const noexcept { return group_ ? group_->blocks()[s].extent : segments_[s]->extent(); }

const CounterSummary& CounterSeries::summary_of(std::size_t s) const noexcept { return group_ ? group_->summary(s, member_) : segments_[s]->summary(); }

CounterSeries::Place CounterSeries::place_of(std::size_t i) const noexcept {
  if (!group_) return {i / CounterSegment::kCapacity, i / CounterSegment::kCapacity * CounterSegment::kCapacity};
  const auto blocks = group_->blocks();
  const auto begins_later = [](std::size_t position, const DemandedCounters::Block& block) { return position < block.first; };
  const auto s = static_cast<std::size_t>(std::upper_bound(blocks.begin(), blocks.end(), i, begins_later) - blocks.begin()) - 1;
  return {s, blocks[s].first};
}

CounterSample CounterSeries::sample(std::size_t i) const noexcept { return CounterReader(*this).sample(i); }

TimeRange CounterSeries::extent() const noexcept {
  if (empty()) return {};
  return {extent_of(0).begin, extent_of(segment_count() - 1).end};
}

std::size_t CounterSeries::segment_at(Nanoseconds t) const noexcept {
  if (group_) {
    const auto ends_later = [](Nanoseconds time, const DemandedCounters::Block& block) { return time < block.extent.end; };
    return static_cast<std::size_t>(std::upper_bound(group_->blocks().begin(), group_->blocks().end(), t, ends_later) - group_->blocks().begin());
  }
  const auto ends_later = [](Nanoseconds time, const auto& segment) { return time < segment->extent().end; };
  return static_cast<std::size_t>(std::upper_bound(segments_.begin(), segments_.end(), t, ends_later) - segments_.begin());
}

std::pair<std::size_t, std::size_t> CounterSeries::overlapping(TimeRange window) const noexcept {
  window = window.intersected(extent());
  if (window.empty()) return {0, 0};
  // At the ends of a segment, nothing needs to be decoded.
  const auto number_at = [this](Nanoseconds t) {
    const std::size_t s = segment_at(t);
    const std::size_t first = group_ ? group_->blocks()[s].first : s * CounterSegment::kCapacity;
    return t == extent_of(s).begin ? first : first + segment(s)->index_at(t);
  };
  const std::size_t first = number_at(window.begin);
  if (window.end == extent().end) return {first, size()};
  const std::size_t s = segment_at(window.end);  // an end at the begin of a segment is the end of the one before
  if (group_ && window.end == extent_of(s).begin) return {first, group_->blocks()[s].first};
  return {first, number_at(window.end - 1) + 1};
}

std::optional<CounterSample> CounterSeries::at(Nanoseconds t) const noexcept {
  const std::size_t s = segment_at(t);
  if (s == segment_count() || t < extent_of(s).begin) return std::nullopt;
  const std::shared_ptr<const CounterSegment> held = segment(s);
  const std::size_t i = held->index_at(t);
  const CounterSample found{held->time(i), held->end(i) - held->time(i), held->value(i)};
  return found.has_value() ? std::optional(found) : std::nullopt;
}

CounterSummary CounterSeries::summarize(TimeRange window) const noexcept {
  CounterSummary summary;
  if (window.empty()) return summary;
  const Nanoseconds edges[] = {window.begin, window.end};
  summarize(edges, std::span(&summary, 1));
  return summary;
}

template <typename Fold>
void CounterSeries::fold_windows(std::span<const Nanoseconds> edges, std::span<CounterSummary> into, Fold fold) const noexcept {
  const std::size_t count = segment_count();
  std::size_t segment = into.empty() ? 0 : segment_at(edges.front());
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = {};
    while (segment < count && extent_of(segment).end <= edges[i]) ++segment;
    for (std::size_t k = segment; k < count && extent_of(k).begin < edges[i + 1]; ++k) fold(k, TimeRange{edges[i], edges[i + 1]}, into[i]);
  }
}

void CounterSeries::summarize(std::span<const Nanoseconds> edges, std::span<CounterSummary> into) const noexcept {
  if (!group_) return fold_windows(edges, into, [this](std::size_t s, TimeRange window, CounterSummary& sum) { segments_[s]->summarize(window, sum); });
  std::shared_ptr<const CounterSegment> held;  // the last one that was cut: mostly the next window cuts it, too
  std::size_t held_is = 0;
  fold_windows(edges, into, [&](std::size_t s, TimeRange window, CounterSummary& sum) {
    const TimeRange whole = extent_of(s);
    window = window.intersected(whole);
    if (window.empty()) return;
    if (window == whole) return sum.add(summary_of(s));
    if (held == nullptr || held_is != s) held = segment(s);
    held_is = s;
    held->summarize(window, sum);
  });
}

CounterSeries::Detail CounterSeries::outline(std::span<const Nanoseconds> edges, std::span<CounterSummary> into) const noexcept {
  if (!group_) {
    summarize(edges, into);
    return Detail::kExact;
  }
  Detail detail = Detail::kExact;
  std::shared_ptr<const CounterSegment> held;
  std::size_t looked_at = segment_count();
  fold_windows(edges, into, [&](std::size_t s, TimeRange window, CounterSummary& sum) {
    const TimeRange whole = extent_of(s);
    window = window.intersected(whole);
    if (window.empty()) return;
    const CounterSummary& known = summary_of(s);
    if (window == whole) return sum.add(known);
    if (looked_at != s) held = group_->at_hand(s, member_);
    looked_at = s;
    if (held != nullptr) return held->summarize(window, sum);
    detail = Detail::kOutline;
    const double share = static_cast<double>(window.length()) / static_cast<double>(whole.length());
    const auto covered = static_cast<Nanoseconds>(share * static_cast<double>(known.covered));
    if (covered > 0) sum.add({known.minimum, known.maximum, known.mean() * static_cast<double>(covered), covered});
  });
  return detail;
}

const void* CounterSeries::times_identity() const noexcept {
  if (group_) return group_.get();
  return segments_.empty() ? nullptr : segments_.front()->times().get();
}

std::size_t CounterSeries::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->memory_bytes();
  return bytes;
}

void CounterReader::find(std::size_t i) noexcept {
  const CounterSeries::Place place = series_->place_of(i);
  first_ = place.first;
  segment_ = series_->segment(place.segment);
}

}  // namespace lanescope
