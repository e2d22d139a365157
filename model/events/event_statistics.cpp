#include "model/events/event_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/events/name_family.h"

namespace lanescope {
namespace {

// Every name of a kind gets a dense number on its first mention.
class Groups {
 public:
  Groups(const Trace& trace, Grouping grouping) : trace_(trace), number_(trace.name_count() * kEventKindCount, kNone) {
    if (grouping == Grouping::kFamilies) first_of_family_.assign(trace.name_count(), kNone);
  }
  std::uint32_t number(EventKind kind, NameId name) {
    if (!first_of_family_.empty()) name = first_of_family(name);
    std::uint32_t& number = number_[static_cast<std::size_t>(kind) * trace_.name_count() + name];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(members_.size());
      members_.emplace_back(kind, name);
    }
    return number;
  }
  [[nodiscard]] const std::vector<std::pair<EventKind, NameId>>& members() const noexcept { return members_; }

 private:
  // The name that came first of those that are of one family.
  NameId first_of_family(NameId name) {
    NameId& first = first_of_family_[name];
    if (first == kNone) first = families_.try_emplace(name_family(trace_.name(name)), name).first->second;
    return first;
  }

  const Trace& trace_;
  std::vector<NameId> first_of_family_;  // by name; empty where names stand for themselves
  std::unordered_map<std::string, NameId> families_;
  std::vector<std::uint32_t> number_;
  std::vector<std::pair<EventKind, NameId>> members_;
};

NameStatistics describe(EventKind kind, NameId name, std::span<Nanoseconds> durations) {
  NameStatistics result{kind, name};
  const std::size_t count = durations.size();
  result.count = count;
  for (const Nanoseconds duration : durations) result.total += duration;
  result.average = static_cast<double>(result.total) / static_cast<double>(count);
  const auto [smallest, largest] = std::minmax_element(durations.begin(), durations.end());
  result.minimum = *smallest;
  result.maximum = *largest;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  result.median = static_cast<double>(*middle);
  if (count % 2 == 0) result.median = (result.median + static_cast<double>(*std::max_element(durations.begin(), middle))) / 2;
  const auto rank = durations.begin() + static_cast<std::ptrdiff_t>((count * 95 + 99) / 100 - 1);
  std::nth_element(durations.begin(), rank, durations.end());
  result.percentile_95 = *rank;
  return result;
}

// Asks for each duration twice rather than keep them: there may be as many as events of the trace.
template <typename DurationOf>
DurationHistogram histogram_of(std::size_t count, DurationOf duration_of, std::size_t bins) {
  DurationHistogram histogram;
  if (count == 0 || bins == 0) return histogram;
  Nanoseconds smallest = duration_of(0), largest = smallest;
  for (std::size_t i = 1; i < count; ++i) {
    const Nanoseconds duration = duration_of(i);
    smallest = std::min(smallest, duration);
    largest = std::max(largest, duration);
  }
  const double low = static_cast<double>(std::max<Nanoseconds>(smallest, 1));  // events of no duration fall into the first bin
  const double high = std::max(static_cast<double>(largest), low);
  if (high == low) bins = 1;
  const double factor = bins > 1 ? std::log(high / low) / static_cast<double>(bins) : 1;
  for (std::size_t i = 0; i <= bins; ++i) histogram.bounds.push_back(low * std::exp(factor * static_cast<double>(i)));
  histogram.bounds.front() = std::min(low, static_cast<double>(smallest));
  if (bins > 1) histogram.bounds.back() = high;
  histogram.counts.assign(bins, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto above = std::upper_bound(histogram.bounds.begin() + 1, histogram.bounds.end() - 1, static_cast<double>(duration_of(i)));
    ++histogram.counts[static_cast<std::size_t>(above - histogram.bounds.begin() - 1)];
  }
  return histogram;
}

}  // namespace

std::vector<NameStatistics> statistics_by_name(const Trace& trace, std::span<const EventRef> events, std::stop_token stop, Grouping grouping) {
  constexpr std::size_t kEventsBetweenLooks = 1u << 16;
  Groups groups(trace, grouping);
  std::vector<std::uint32_t> group_of_event(events.size());
  std::vector<std::size_t> end_of_group;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i % kEventsBetweenLooks == 0 && stop.stop_requested()) return {};
    group_of_event[i] = groups.number(event_kind(trace, events[i]), listed_name(trace, events[i]));
    if (group_of_event[i] == end_of_group.size()) end_of_group.push_back(0);
    ++end_of_group[group_of_event[i]];
  }
  std::size_t sum = 0;
  for (std::size_t& end : end_of_group) sum += std::exchange(end, sum);
  std::vector<Nanoseconds> durations(events.size());  // group by group
  std::vector<std::pair<Nanoseconds, EventRef>> longest(end_of_group.size(), {-1, {}});
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t group = group_of_event[i];
    const Nanoseconds duration = trace.lane(events[i].lane).duration(events[i].index);
    durations[end_of_group[group]++] = duration;
    if (duration > longest[group].first) longest[group] = {duration, events[i]};
  }

  std::vector<NameStatistics> result;
  std::array<Nanoseconds, kEventKindCount> total_of_kind{};
  std::size_t begin = 0;
  for (std::size_t group = 0; group < end_of_group.size(); ++group) {
    if (stop.stop_requested()) return {};
    const auto [kind, name] = groups.members()[group];
    result.push_back(describe(kind, name, std::span(durations).subspan(begin, end_of_group[group] - begin)));
    result.back().longest = longest[group].second;
    total_of_kind[static_cast<std::size_t>(kind)] += result.back().total;
    begin = end_of_group[group];
  }
  for (NameStatistics& entry : result) {
    const Nanoseconds total = total_of_kind[static_cast<std::size_t>(entry.kind)];
    entry.share = total > 0 ? static_cast<double>(entry.total) / static_cast<double>(total) : 0;
  }
  std::stable_sort(result.begin(), result.end(), [](const NameStatistics& a, const NameStatistics& b) { return a.total > b.total; });
  return result;
}

DurationHistogram duration_histogram(const Trace& trace, std::span<const EventRef> events, std::size_t bins) {
  return histogram_of(events.size(), [&](std::size_t i) { return trace.lane(events[i].lane).duration(events[i].index); }, bins);
}

DurationHistogram duration_histogram(std::span<const Nanoseconds> durations, std::size_t bins) {
  return histogram_of(durations.size(), [&](std::size_t i) { return durations[i]; }, bins);
}

std::vector<EventRef> events_named(const Trace& trace, std::span<const EventRef> events, EventKind kind, NameId name, Grouping grouping) {
  std::vector<std::uint8_t> is_wanted(trace.name_count());
  is_wanted[name] = 1;
  if (grouping == Grouping::kFamilies) {
    const std::string family = name_family(trace.name(name));
    for (NameId other = 0; other < is_wanted.size(); ++other) is_wanted[other] = name_family(trace.name(other)) == family ? 1 : 0;
  }
  std::vector<EventRef> named;
  for (const EventRef event : events)
    if (is_wanted[listed_name(trace, event)] != 0 && event_kind(trace, event) == kind) named.push_back(event);
  return named;
}

}  // namespace lanescope
