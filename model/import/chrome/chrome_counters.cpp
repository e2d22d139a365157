// Counters and samples of a Chrome trace.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chrome_assembly.h"
#include "model/trace/building/thread_states.h"

namespace lanescope::importers {
namespace {

constexpr std::string_view kPlainSeries = "value";  // name of an only series that has no name of its own

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

using Samples = std::vector<std::pair<Nanoseconds, double>>;

// The largest of 1, 0.1, 0.01, ... of which all values are multiples; the smallest if there is none.
double resolution_of(const Samples& samples) {
  constexpr int kMostDecimals = 6;
  double scale = 1;
  for (int decimals = 0; decimals < kMostDecimals; ++decimals, scale *= 10) {
    const auto is_multiple = [scale](const auto& sample) {
      const double scaled = sample.second * scale;
      return std::isnan(scaled) || std::abs(scaled - std::round(scaled)) <= 1e-9 * std::max(1.0, std::abs(scaled));
    };
    if (std::all_of(samples.begin(), samples.end(), is_multiple)) break;
  }
  return 1 / scale;
}

Samples sorted(Samples samples) {
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return samples;
}

// Adds an end after each sample: at the first of these times behind it, unless another sample comes before that.
Samples ended(const Samples& samples, const std::vector<Nanoseconds>& ends) {
  Samples result;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    result.push_back(samples[i]);
    const auto end = std::upper_bound(ends.begin(), ends.end(), samples[i].first);
    if (end != ends.end() && (i + 1 == samples.size() || *end < samples[i + 1].first)) result.emplace_back(*end, kAbsent);
  }
  return result;
}

}  // namespace

void ChromeAssembly::add_counter(const ChromeEvent& event, const ParsedBatch& batch) {
  see(event.time, event.time);
  CounterKey key;
  key.source = source(event.pid);
  key.name = event.name;
  if (!event.id.empty()) key.name.append(" ").append(event.id);
  // An event without values ends the series that hold a value.
  if (event.value_count == 0) {
    const auto [ends, is_new] = counter_ends_.try_emplace({key.source, key.name});
    if (is_new) kept_ += cost::kName + key.name.size();
    ends->second.push_back(event.time);
  }
  for (std::uint32_t i = 0; i < event.value_count; ++i) {
    const ChromeValue& value = batch.values[event.first_value + i];
    key.series = value.series;
    CounterValues& values = counters_[key];
    constexpr std::uint64_t kTexts = 6;  // here, and in the builder and in its trace as the name and as the key of the counter
    kept_ += cost::kEvent;
    if (values.samples.empty()) kept_ += cost::kCounter + kTexts * (key.name.size() + key.series.size() + event.category.size());
    values.group = event.category;
    values.samples.emplace_back(event.time, value.value);
  }
}

void ChromeAssembly::add_counters() {
  for (auto& [counter, times] : counter_ends_) std::sort(times.begin(), times.end());
  for (auto counter = counters_.begin(); counter != counters_.end(); ++counter) {
    const auto& [key, unsorted] = *counter;
    const auto is_same = [&key = key](const auto& other) { return other.first.source == key.source && other.first.name == key.name; };
    const bool is_alone =
        (counter == counters_.begin() || !is_same(*std::prev(counter))) && (std::next(counter) == counters_.end() || !is_same(*std::next(counter)));
    // An only series is named after the unit if that is known.
    Counter description;
    description.name = is_alone ? key.name : key.name + ": " + key.series;
    if (is_alone && key.series != kPlainSeries && key.series != key.name) description.unit = key.series;
    description.group = unsorted.group;
    const Source& of = sources_[key.source];
    if (of.device)
      description.gpu = builder_.gpu_of_device(of.process, *of.device);
    else
      description.process = of.process;
    const auto ends = counter_ends_.find({key.source, key.name});
    const Samples samples = ends == counter_ends_.end() ? sorted(unsorted.samples) : ended(sorted(unsorted.samples), ends->second);
    description.resolution = resolution_of(samples);
    std::vector<Nanoseconds> times;
    std::vector<std::vector<std::int64_t>> columns(1);
    for (const auto& [time, value] : samples) {
      constexpr double kLargest = 9e18;
      const double scaled = std::clamp(std::round(value / description.resolution), -kLargest, kLargest);
      const std::int64_t whole = std::isnan(value) ? kNoValue : static_cast<std::int64_t>(scaled);
      if (!times.empty() && times.back() == time - begin_) {  // of several values at one time, the last counts
        columns.front().back() = whole;
        continue;
      }
      times.push_back(time - begin_);
      columns.front().push_back(whole);
    }
    const CounterId id = builder_.counter(description);
    builder_.add_samples(std::span(&id, 1), times, columns, std::max(end_ - begin_, times.back() + 1));
  }
}

void ChromeAssembly::add(const ChromeSample& sample) {
  see(sample.time, sample.time);
  const std::uint32_t of = source(sample.pid);
  sources_[of].has_host_work = true;
  auto frame = frame_ids_.find(sample.frame);
  if (frame == frame_ids_.end()) frame = frame_ids_.emplace(sample.frame, static_cast<std::uint32_t>(frame_ids_.size())).first;
  std::vector<TimedSample>& of_thread = samples_[thread(of, sample.tid)];
  if (of_thread.empty()) kept_ += cost::kTrack;
  of_thread.push_back({sample.time, frame->second, sample.processor, sample.period});
}

void ChromeAssembly::add_samples(const ChromeMembers& members) {
  ChromeChains chains(members.frames, builder_);
  std::vector<std::string_view> frames(frame_ids_.size());  // in the order of the file, which determines the order of the trace's calls
  for (const auto& [frame, id] : frame_ids_) frames[id] = frame;
  std::vector<CallNodeId> chain_of;
  for (const std::string_view frame : frames) chain_of.push_back(chains.chain(std::string(frame)));
  std::vector<SampleEvent> events;
  for (const auto& [thread, samples] : samples_) {
    events.clear();
    events.reserve(samples.size());
    for (const TimedSample& sample : samples)
      events.push_back({sample.time - begin_, 0, {chain_of[sample.frame], SampleOrigin::kTimer, sample.processor, sample.period}});
    built_thread(thread);
    lanescope::add_samples(builder_, sources_[threads_[thread].source].process, tid(thread), events);
  }
  samples_.clear();
}

}  // namespace lanescope::importers
