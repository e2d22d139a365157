#include "model/analysis/trace_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "bootstrap.h"
#include "measurement.h"

namespace lanescope::analysis {
namespace {

struct Alignment {
  std::string family;  // empty where no range repeats in both
  std::vector<IterationSeries> first, second;
  std::string marker;  // then: of work that repeats in both; empty: whole traces
  std::map<ProcessId, RepeatingWork> first_work, second_work;
};

// By the name of its marker, of each process.
using WorkByName = std::map<std::string, std::map<ProcessId, RepeatingWork>>;
WorkByName work_of(const Trace& trace) {
  WorkByName by_name;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    for (RepeatingWork& work : find_repeating_work(trace, process))
      by_name[std::string(trace.name(work.marker))].try_emplace(process, std::move(work));
  return by_name;
}

// By the work that repeats in both, from the earliest on in the first.
Alignment align_by_work(const Trace& first, const Trace& second) {
  WorkByName of_first = work_of(first), of_second = work_of(second);
  Alignment alignment;
  Nanoseconds earliest = 0;
  for (auto& [name, work] : of_first) {
    if (!of_second.contains(name)) continue;
    const Nanoseconds begin = work.begin()->second.begin;
    if (!alignment.marker.empty() && begin >= earliest) continue;
    alignment.marker = name;
    earliest = begin;
  }
  if (alignment.marker.empty()) return alignment;
  alignment.first_work = std::move(of_first[alignment.marker]);
  alignment.second_work = std::move(of_second[alignment.marker]);
  return alignment;
}

// The iterations that both traces have: of the range that was asked for, else of what is chosen for the first trace, else for the second.
Result<Alignment> align(const Trace& first, Families& first_families, const Trace& second, Families& second_families,
                        const std::string& wanted) {
  Alignment alignment;
  alignment.first = find_iterations(first, first_families, wanted);
  if (!wanted.empty()) {
    alignment.second = find_iterations(second, second_families, wanted);
    const char* lacking = alignment.first.empty() ? "first" : alignment.second.empty() ? "second" : nullptr;
    if (lacking != nullptr)
      return Error{"The " + std::string(lacking) + " trace has no NVTX range " + wanted + ". Its ranges: lanescope stats -r nvtx_sum",
                   ErrorKind::kUsage};
    alignment.family = first_families.text(alignment.first.front().family);
    return alignment;
  }
  if (!alignment.first.empty()) {
    alignment.family = first_families.text(alignment.first.front().family);
    alignment.second = find_iterations(second, second_families, alignment.family);
    if (!alignment.second.empty()) return alignment;
  }
  alignment.second = find_iterations(second, second_families);
  if (alignment.second.empty()) return align_by_work(first, second);
  alignment.family = second_families.text(alignment.second.front().family);
  alignment.first = find_iterations(first, first_families, alignment.family);
  return alignment.first.empty() ? align_by_work(first, second) : alignment;
}

DiffSide side_of(const Measured* measured, const Samples& samples) {
  if (measured == nullptr) return {};
  const double divisor = samples.are_iterations() ? static_cast<double>(samples.size()) : 1;
  return {measured->count, measured->total, static_cast<double>(measured->total) / divisor};
}

class Comparison {
 public:
  Comparison(const Samples& first, const Samples& second) : first_(first), second_(second) {
    if (std::min(first.size(), second.size()) >= Bootstrap::kLeastSamples) bootstrap_.emplace(first.size(), second.size());
  }

  [[nodiscard]] DiffItem compare(const ItemKey& key, const Measured* first, const Measured* second) const {
    DiffItem item;
    item.kind = key.first;
    item.name = key.second;
    item.first = side_of(first, first_);
    item.second = side_of(second, second_);
    item.change = item.first.per_iteration > 0 ? 100 * (item.second.per_iteration / item.first.per_iteration - 1) : unknown();
    item.change_low = item.change_high = unknown();
    if (item.first.count == 0 || item.second.count == 0) {
      item.verdict = item.first.count == item.second.count ? DiffVerdict::kSame
                     : item.first.count == 0               ? DiffVerdict::kOnlySecond
                                                           : DiffVerdict::kOnlyFirst;
      return item;
    }
    const bool measured_once = item.kind == DiffKind::kDuration && !first_.are_iterations();
    if (bootstrap_ && !measured_once) {
      const Interval interval = bootstrap_->change(first->samples, second->samples, TraceDiff::kConfidence);
      item.change_low = interval.low;
      item.change_high = interval.high;
      item.verdict = interval.low > 0 ? DiffVerdict::kMore : interval.high < 0 ? DiffVerdict::kLess : DiffVerdict::kSame;
    } else {
      item.verdict = item.first.per_iteration == item.second.per_iteration ? DiffVerdict::kSame : DiffVerdict::kUnsure;
    }
    return item;
  }

 private:
  static double unknown() { return std::numeric_limits<double>::quiet_NaN(); }
  const Samples& first_;
  const Samples& second_;
  std::optional<Bootstrap> bootstrap_;
};

constexpr std::string_view kAllIdle = "GPU idle";  // the item that sums up the causes

bool comes_before(const DiffItem& a, const DiffItem& b) {
  const auto rank = [](const DiffItem& item) { return std::min(item.kind, DiffKind::kKernel); };  // behind the GPUs all kinds mix
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.kind == DiffKind::kGpuIdle && (a.name == kAllIdle) != (b.name == kAllIdle)) return a.name == kAllIdle;
  return std::abs(a.difference()) > std::abs(b.difference());
}

const Measured* find(const std::map<ItemKey, Measured>& items, const ItemKey& key) {
  const auto found = items.find(key);
  return found == items.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view diff_kind_name(DiffKind kind) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"Duration",         "GPU busy", "GPU idle",  "Kernel",
                                                   "Memory operation", "CUDA API", "NVTX range"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view diff_verdict_name(DiffVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"same", "more", "less", "only in A", "only in B", "unsure"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Result<TraceDiff> compare_traces(const Trace& first, const Trace& second, const DiffOptions& options) {
  Families first_families(first), second_families(second);
  const Result<Alignment> alignment = align(first, first_families, second, second_families, options.range);
  if (!alignment) return alignment.error();
  const bool whole = alignment->family.empty() && alignment->marker.empty();
  const auto samples_of = [&](const Trace& trace, const std::vector<IterationSeries>& series,
                              const std::map<ProcessId, RepeatingWork>& work) {
    if (!alignment->family.empty()) return Samples::of_iterations(trace, series, options.skip);
    return whole ? Samples::of_slices(trace, TraceDiff::kSlices) : Samples::of_work(trace, work, options.skip);
  };
  const Samples first_samples = samples_of(first, alignment->first, alignment->first_work);
  const Samples second_samples = samples_of(second, alignment->second, alignment->second_work);
  if (first_samples.size() == 0 || second_samples.size() == 0)
    return Error{"No iteration of \"" + alignment->family + alignment->marker + "\" is left after the first " +
                     std::to_string(options.skip.value_or(0)) + ": skip fewer.",
                 ErrorKind::kUsage};

  const std::map<ItemKey, Measured> before = measure(first, first_samples, options.stop),
                                    after = measure(second, second_samples, options.stop);
  std::set<ItemKey> keys;
  for (const auto& [key, measured] : before) keys.insert(key);
  for (const auto& [key, measured] : after) keys.insert(key);
  TraceDiff diff;
  diff.aligned_by = alignment->family;
  diff.repeating_work = alignment->marker;
  diff.first_iterations = whole ? 0 : first_samples.size();
  diff.second_iterations = whole ? 0 : second_samples.size();
  diff.first_skipped = first_samples.skipped();
  diff.second_skipped = second_samples.skipped();
  const Comparison comparison(first_samples, second_samples);
  for (const ItemKey& key : keys) {
    if (options.stop.stop_requested()) break;
    DiffItem item = comparison.compare(key, find(before, key), find(after, key));
    if (item.first.count > 0 || item.second.count > 0) diff.items.push_back(std::move(item));
  }
  std::stable_sort(diff.items.begin(), diff.items.end(), comes_before);
  return diff;
}

}  // namespace lanescope::analysis
