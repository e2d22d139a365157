#include "model/analysis/diff/counter_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "mean_change.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/launch_kinds.h"
#include "model/trace/text/extent.h"

namespace lanescope::analysis {
namespace {

struct Compared {
  std::string_view section;
  std::string_view label;
  std::string_view name = label;  // the name without the section beside it
};
constexpr std::array kCompared{
    Compared{"SpeedOfLight", "Duration"},
    Compared{"SpeedOfLight", "Compute (SM) throughput"},
    Compared{"SpeedOfLight", "Memory throughput"},
    Compared{"SpeedOfLight", "L1 cache throughput"},
    Compared{"SpeedOfLight", "L2 cache throughput"},
    Compared{"SpeedOfLight", "DRAM throughput"},
    Compared{"MemoryWorkloadAnalysis", "L1 hit rate"},
    Compared{"MemoryWorkloadAnalysis", "L2 hit rate"},
    Compared{"MemoryWorkloadAnalysis_Tables", "DRAM: read"},
    Compared{"MemoryWorkloadAnalysis_Tables", "DRAM: written"},
    Compared{"SchedulerStats", "Cycles in which one issued"},
    Compared{"InstructionStats", "Executed", "Instructions executed"},
    Compared{"Occupancy", "Achieved", "Achieved occupancy"},
};
constexpr double kFalseDiscoveries = 0.05;
constexpr double kWorthALook = 5;  // percent

constexpr auto kNames = [] {
  std::array<std::string_view, kCompared.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kCompared[i].name;
  return names;
}();

struct Measured {
  std::array<std::vector<double>, kCompared.size()> values;  // one for each launch
  std::array<kernels::ValueUnit, kCompared.size()> units{};
  Nanoseconds time = 0;  // of all such launches, in one run
  MeasuredLaunchPlace place;
};
std::string text_of(const std::array<std::uint32_t, 3>& first, const std::array<std::uint32_t, 3>& second) {
  const auto text = [](const std::array<std::uint32_t, 3>& extent) { return extent_text({extent[0], extent[1], extent[2]}); };
  return first == second ? text(first) : text(first) + " -> " + text(second);
}

using Kinds = std::map<std::pair<std::string, kernels::LaunchShape>, Measured>;

Kinds measured(Runs runs, const std::stop_token& stop) {
  Kinds kinds;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const kernels::RecordedMetrics recorded = kernels::recorded_metrics(*runs[run]);
    for (std::size_t i = 0; i < recorded.measurements.size() && !stop.stop_requested(); ++i) {
      const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[i];
      Measured& of = kinds[{kernel.name, kernels::shape_of(kernel.detail)}];
      of.time = std::max(of.time, recorded.weight(i));
      if (!of.place.event.valid()) of.place = {run, recorded.measurements[i].event};
      for (const kernels::Section& section : kernels::sections(recorded.metrics, kernel))
        for (const kernels::SectionRow& row : section.rows)
          for (std::size_t c = 0; c < kCompared.size(); ++c)
            if (kCompared[c].section == section.name && kCompared[c].label == row.label.english()) {
              of.values[c].push_back(row.value);
              of.units[c] = row.unit;
            }
    }
  }
  return kinds;
}

using Pairs = std::vector<std::pair<const Kinds::value_type*, const Kinds::value_type*>>;

// Pairs kernels with equal names and shapes; and kernels with equal names, if one shape is left on each side.
Pairs pairs_of(const Kinds& first, const Kinds& second) {
  Pairs pairs;
  std::map<std::string_view, std::array<std::vector<const Kinds::value_type*>, 2>> left;
  for (const auto& kind : first) {
    if (const auto same = second.find(kind.first); same != second.end())
      pairs.emplace_back(&kind, &*same);
    else
      left[kind.first.first][0].push_back(&kind);
  }
  for (const auto& kind : second)
    if (!first.contains(kind.first)) left[kind.first.first][1].push_back(&kind);
  for (const auto& [name, sides] : left)
    if (sides[0].size() == 1 && sides[1].size() == 1) pairs.emplace_back(sides[0].front(), sides[1].front());
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first->second.time > b.first->second.time; });
  return pairs;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::span<const std::string_view> compared_metrics() noexcept { return kNames; }

bool is_worth_a_look(const CounterChange& change) noexcept {
  if (change.verdict == DiffVerdict::kUnsure) return !(std::abs(change.change) < kWorthALook);
  return change.verdict != DiffVerdict::kSame;
}

std::vector<std::string> unpaired_kernels(Runs first, Runs second) {
  const Kinds before = measured(first, {}), after = measured(second, {});
  std::set<const Kinds::value_type*> paired;
  for (const auto& [a, b] : pairs_of(before, after)) paired.insert({a, b});
  std::set<std::string> names;
  for (const Kinds* side : {&before, &after})
    for (const auto& kind : *side)
      if (!paired.contains(&kind)) names.insert(kind.first.first);
  return {names.begin(), names.end()};
}

std::vector<CounterChange> compare_counters(Runs first, Runs second, const std::stop_token& stop) {
  const Kinds before = measured(first, stop), after = measured(second, stop);
  std::vector<CounterChange> changes;
  std::vector<std::optional<MeanChange>> means;
  std::vector<double> probabilities;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [a, b] : pairs_of(before, after)) {
    const std::string grid = text_of(std::get<0>(a->first.second), std::get<0>(b->first.second));
    const std::string block = text_of(std::get<1>(a->first.second), std::get<1>(b->first.second));
    for (std::size_t c = 0; c < kCompared.size(); ++c) {
      const std::vector<double>& was = a->second.values[c];
      const std::vector<double>& is = b->second.values[c];
      if (was.empty() || is.empty()) continue;
      CounterChange& change = changes.emplace_back();
      change.kernel = a->first.first;
      change.grid = grid;
      change.block = block;
      change.what = kCompared[c].name;
      change.unit = a->second.units[c];
      change.first = mean(was);
      change.second = mean(is);
      change.first_launches = was.size();
      change.second_launches = is.size();
      change.first_place = a->second.place;
      change.second_place = b->second.place;
      change.change = change.first > 0 ? 100 * (change.second - change.first) / change.first : kUnknown;
      change.change_low = change.change_high = kUnknown;
      means.emplace_back();
      const bool is_known = was.size() + is.size() >= MeanChange::kLeastRuns;
      if (is_known && change.is_from_nothing()) {  // the change has no percentage, but it is certain
        change.verdict = DiffVerdict::kMore;
        continue;
      }
      if (!is_known || !(change.first > 0)) {
        change.verdict = change.first == change.second ? DiffVerdict::kSame : DiffVerdict::kUnsure;
        continue;
      }
      means.back() = MeanChange::of_runs(was, is);
      probabilities.push_back(means.back()->probability());
    }
  }
  if (probabilities.empty()) return changes;
  const double level = discovery_level(probabilities, kFalseDiscoveries);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!means[i]) continue;
    const Interval interval = means[i]->interval(level);
    changes[i].change_low = interval.low;
    changes[i].change_high = interval.high;
    if (means[i]->probability() <= level) changes[i].verdict = changes[i].change > 0 ? DiffVerdict::kMore : DiffVerdict::kLess;
  }
  return changes;
}

}  // namespace lanescope::analysis
