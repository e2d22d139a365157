#include "model/analysis/diff/trace_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "../wording.h"
#include "mean_change.h"
#include "measurement.h"
#include "model/kernels/matrix_product.h"
#include "model/trace/workers/parallel.h"

namespace lanescope::analysis {
namespace {

// The runs of both sides, those of the first side in front.
struct AllRuns {
  std::vector<const Trace*> traces;
  std::size_t first = 0;  // number of runs of the first side
  [[nodiscard]] std::string name_of(std::size_t run) const {
    const bool one_each = traces.size() == 2 && first == 1;
    if (one_each) return run == 0 ? "The first trace" : "The second trace";
    return run < first ? "Trace " + std::to_string(run + 1) + " of A" : "Trace " + std::to_string(run - first + 1) + " of B";
  }
};

struct Alignment {
  std::string family;                                // empty if no range repeats in all
  std::string marker;                                // then: the marker of work that repeats in all; empty: whole traces
  std::vector<std::vector<IterationSeries>> series;  // by run
  std::vector<std::map<ProcessId, RepeatingWork>> work;
};

// Repeating work by the name of its marker, of each process.
using WorkByName = std::map<std::string, std::map<ProcessId, RepeatingWork>>;
WorkByName work_of(const Trace& trace) {
  WorkByName by_name;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    for (RepeatingWork& work : find_repeating_work(trace, process)) by_name[std::string(trace.name(work.marker))].try_emplace(process, std::move(work));
  return by_name;
}

// Aligns by the work that repeats in all runs; if there are several, by the earliest in the first run.
Alignment align_by_work(const AllRuns& runs) {
  std::vector<WorkByName> works;
  for (const Trace* trace : runs.traces) works.push_back(work_of(*trace));
  Alignment alignment;
  Nanoseconds earliest = 0;
  for (const auto& [name, work] : works.front()) {
    if (!std::all_of(works.begin(), works.end(), [&](const WorkByName& of_run) { return of_run.contains(name); })) continue;
    const Nanoseconds begin = work.begin()->second.begin;
    if (!alignment.marker.empty() && begin >= earliest) continue;
    alignment.marker = name;
    earliest = begin;
  }
  if (!alignment.marker.empty())
    for (WorkByName& of_run : works) alignment.work.push_back(std::move(of_run[alignment.marker]));
  return alignment;
}

// The iterations that all runs have: those of the wanted range, otherwise those of the range that is chosen for the first run, otherwise for the next
// run, and so on.
Result<Alignment> align(const AllRuns& runs, std::span<Families> families, const std::string& wanted) {
  Alignment alignment;
  // Returns the first run that does not have the range.
  const auto align_by_range = [&](const std::string& range) -> std::optional<std::size_t> {
    alignment.series.clear();
    for (std::size_t run = 0; run < runs.traces.size(); ++run) {
      alignment.series.push_back(find_iterations(*runs.traces[run], families[run], range));
      if (alignment.series.back().empty()) return run;
    }
    alignment.family = families.front().text(alignment.series.front().front().family);
    return std::nullopt;
  };
  if (!wanted.empty()) {
    if (const auto lacking = align_by_range(wanted))
      return Error{runs.name_of(*lacking) + " has no NVTX range " + wanted + ". Its ranges: lanescope stats -r nvtx_sum", ErrorKind::kUsage};
    return alignment;
  }
  for (std::size_t run = 0; run < runs.traces.size(); ++run)
    if (const auto chosen = find_iterations(*runs.traces[run], families[run]); !chosen.empty() && !align_by_range(families[run].text(chosen.front().family)))
      return alignment;
  return align_by_work(runs);
}

struct Run {
  Samples samples;
  Measurements items;
};
using Side = std::span<const Run>;

// If all runs are slower at their start, that is not a speed of the program: it warms up there.
void leave_out_transients(std::span<Run> runs) {
  std::vector<std::vector<std::size_t>> transients;
  for (const Run& run : runs) {
    transients.push_back(run.samples.transients());
    if (std::all_of(transients.back().begin(), transients.back().end(), [](std::size_t count) { return count == 0; })) return;
  }
  for (std::size_t run = 0; run < runs.size(); ++run) runs[run].samples.leave_out_first(transients[run]);
}

// An item in all runs of a side: its data in each run, nullptr for a run that does not have it.
struct OfSide {
  Side runs;
  std::span<const Measured* const> measured;  // one for each run
};

// The samples of a run that are compared. Of idle time, the first sample of a program that begins with it lacks what lies in front of its first operation, and
// is left out if enough others are left.
std::vector<double> series_of(const Run& run, const Measured& measured, DiffKind kind) {
  std::vector<double> series(run.samples.size());
  measured.samples.write_to(series);
  if (kind != DiffKind::kGpuIdle) return series;
  const std::vector<std::size_t> cut = run.samples.without_idle_in_front();
  if (series.size() < cut.size() + MeanChange::kLeastSamples) return series;
  for (auto sample = cut.rbegin(); sample != cut.rend(); ++sample) series.erase(series.begin() + static_cast<std::ptrdiff_t>(*sample));
  return series;
}

// The value of an item in a run as one number: the mean of its samples; for a whole trace, their sum.
double value_of(const Run& run, const Measured* measured, DiffKind kind) {
  if (measured == nullptr) return 0;
  if (!run.samples.are_iterations()) return measured->samples.sum();
  if (kind != DiffKind::kGpuIdle) return measured->samples.sum() / static_cast<double>(run.samples.size());
  const std::vector<double> series = series_of(run, *measured, kind);
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

DiffSide side_of(const OfSide& of, DiffKind kind) {
  DiffSide side;
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    const Measured* const measured = of.measured[run];
    side.per_iteration += value_of(of.runs[run], measured, kind) / static_cast<double>(of.runs.size());
    if (measured == nullptr) continue;
    side.count += measured->count;
    side.total += measured->total;
  }
  return side;
}

// True if there are enough samples of an item that both sides have to estimate its noise.
bool has_samples(Side first, Side second, DiffKind kind) {
  if (first.size() + second.size() >= MeanChange::kLeastRuns) return true;
  const bool measured_once = kind == DiffKind::kDuration && !first.front().samples.are_iterations();
  return !measured_once && std::min(first.front().samples.size(), second.front().samples.size()) >= MeanChange::kLeastSamples;
}

// Requires: has_samples().
MeanChange change_of(const OfSide& first, const OfSide& second, DiffKind kind) {
  if (first.runs.size() + second.runs.size() >= MeanChange::kLeastRuns) {
    std::vector<double> before, after;
    for (std::size_t run = 0; run < first.runs.size(); ++run) before.push_back(value_of(first.runs[run], first.measured[run], kind));
    for (std::size_t run = 0; run < second.runs.size(); ++run) after.push_back(value_of(second.runs[run], second.measured[run], kind));
    return MeanChange::of_runs(before, after);
  }
  return MeanChange::of_samples(series_of(first.runs.front(), *first.measured.front(), kind), series_of(second.runs.front(), *second.measured.front(), kind));
}

constexpr std::string_view kAllIdle = "GPU idle";  // the item that sums up the causes

// The items with which the answer starts. They are judged separately from the many details, so that the details do not blur them.
bool is_headline(const DiffItem& item) {
  return item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy || (item.kind == DiffKind::kGpuIdle && item.name == kAllIdle);
}

// An item that may be judged against noise, and its data in all runs.
struct Compared {
  DiffItem* item = nullptr;
  std::span<const Measured* const> measured;
};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The verdict does not consider noise yet.
DiffItem compare(const ItemKey& key, const OfSide& first, const OfSide& second) {
  DiffItem item;
  item.kind = key.kind;
  item.name = key.name;
  item.first = side_of(first, key.kind);
  item.second = side_of(second, key.kind);
  item.change = item.first.per_iteration > 0 ? 100 * (item.second.per_iteration / item.first.per_iteration - 1) : kUnknown;
  item.change_low = item.change_high = kUnknown;
  if (item.first.count == 0 || item.second.count == 0) {
    item.verdict = item.first.count == item.second.count ? DiffVerdict::kSame : item.first.count == 0 ? DiffVerdict::kOnlySecond : DiffVerdict::kOnlyFirst;
    return item;
  }
  item.verdict = item.first.per_iteration == item.second.per_iteration ? DiffVerdict::kSame : DiffVerdict::kUnsure;
  return item;
}

bool is_in_both(const DiffItem& item) { return item.first.count > 0 && item.second.count > 0; }

// Judges which changes are more than noise, among items that are judged together. If there are very many, only those whose times differ most are
// judged, because each item and each of its samples takes time. The others count as items that did not change.
void judge(std::vector<Compared> judged, Side first, Side second, const std::stop_token& stop) {
  const std::size_t all = judged.size();
  const std::size_t samples =
      first.size() + second.size() >= MeanChange::kLeastRuns ? first.size() + second.size() : first.front().samples.size() + second.front().samples.size();
  const std::size_t most = std::clamp<std::size_t>(TraceDiff::kMostJudgedSamples / samples, 1, TraceDiff::kMostJudged);
  if (all > most) {
    const auto differs_more = [](const Compared& a, const Compared& b) { return std::abs(a.item->difference()) > std::abs(b.item->difference()); };
    std::stable_sort(judged.begin(), judged.end(), differs_more);
    for (std::size_t i = most; i < all; ++i) judged[i].item->was_left_out = judged[i].item->verdict == DiffVerdict::kUnsure;
    judged.resize(most);
  }
  std::vector<std::optional<MeanChange>> changes(all > most ? most : all);
  std::vector<double> probabilities(changes.size());
  constexpr std::size_t kPart = 64;  // items; if there are few, one thread takes all
  parallel_for((changes.size() + kPart - 1) / kPart, [&](std::size_t part) {
    for (std::size_t i = part * kPart; i < std::min(changes.size(), (part + 1) * kPart) && !stop.stop_requested(); ++i) {
      const std::span<const Measured* const> measured = judged[i].measured;
      changes[i] = change_of({first, measured.first(first.size())}, {second, measured.subspan(first.size())}, judged[i].item->kind);
      probabilities[i] = changes[i]->probability();
    }
  });
  if (stop.stop_requested()) return;
  std::vector<double> of_all = probabilities;
  of_all.resize(all, 1.0);
  const double level = discovery_level(std::move(of_all), TraceDiff::kFalseAlarms / 2);  // one half for headlines, one for details
  for (std::size_t i = 0; i < judged.size(); ++i) {
    DiffItem& item = *judged[i].item;
    item.verdict = probabilities[i] > level ? DiffVerdict::kSame : item.difference() > 0 ? DiffVerdict::kMore : DiffVerdict::kLess;
    if (item.first.per_iteration <= 0) continue;
    const Interval interval = changes[i]->interval(level);
    item.change_low = interval.low;
    item.change_high = interval.high;
    const bool is_narrow = interval.low >= -TraceDiff::kNarrow && interval.high <= TraceDiff::kNarrow;
    if (item.verdict == DiffVerdict::kSame && item.difference() != 0 && !is_narrow) item.verdict = DiffVerdict::kUnsure;
  }
}

bool comes_before(const DiffItem& a, const DiffItem& b) {
  const auto rank = [](const DiffItem& item) { return std::min(item.kind, DiffKind::kKernel); };  // after the items of GPUs all kinds are mixed
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (is_headline(a) != is_headline(b)) return is_headline(a);
  return std::abs(a.difference()) > std::abs(b.difference());
}

// Sorts positions first and then moves the items in place: there may be millions, and moving or duplicating them costs more than comparing them.
void put_in_order(std::vector<DiffItem>& items) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return comes_before(items[a], items[b]); });
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    if (order[first] == first) continue;
    DiffItem moved = std::move(items[first]);
    std::uint32_t place = first;
    for (std::uint32_t from = order[place]; from != first; from = order[place]) {
      items[place] = std::move(items[from]);
      order[place] = place;
      place = from;
    }
    items[place] = std::move(moved);
    order[place] = place;
  }
}

std::set<std::string> kernels_of(std::span<const Measured* const> runs) {
  std::set<std::string> kernels;
  for (const Measured* const measured : runs)
    if (measured != nullptr && measured->kernels) kernels.insert(measured->kernels->begin(), measured->kernels->end());
  return kernels;
}

// "FP32", "BF16 and FP32"
std::string formats_of(const std::set<std::string>& kernels) {
  std::set<std::string_view> formats;
  for (const std::string& kernel : kernels)
    if (const auto format = kernels::product_format(kernel)) formats.insert(*format);
  std::string text;
  for (const std::string_view format : formats) text.append(text.empty() ? "" : " and ").append(format);
  return text;
}

// Matrix products say more than their kernels only if these are all different on each side, or have different formats. Returns false otherwise.
bool name_products(std::span<const Measured* const> first, std::span<const Measured* const> second, DiffItem& item) {
  if (item.kind != DiffKind::kProducts) return true;
  const std::set<std::string> before = kernels_of(first), after = kernels_of(second);
  if (before.empty() || after.empty()) return false;
  const bool is_shared = std::any_of(before.begin(), before.end(), [&](const std::string& kernel) { return after.contains(kernel); });
  const std::string formats_before = formats_of(before), formats_after = formats_of(after);
  if (is_shared && formats_before == formats_after) return false;
  item.name += ": " + formats_before + " -> " + formats_after;
  return true;
}

// Goes through the items of all runs in the order of their keys.
class ItemsOfRuns {
 public:
  explicit ItemsOfRuns(std::span<const Run> runs) : runs_(runs), next_(runs.size()), measured_(runs.size()) {}

  // Moves to the next key; nullptr if there is none.
  const ItemKey* next() {
    const ItemKey* key = nullptr;
    for (std::size_t run = 0; run < runs_.size(); ++run)
      if (has_more(run) && (key == nullptr || next_of(run).first < *key)) key = &next_of(run).first;
    for (std::size_t run = 0; run < runs_.size() && key != nullptr; ++run) {
      measured_[run] = has_more(run) && next_of(run).first == *key ? &runs_[run].items.items[next_[run]++].second : nullptr;
    }
    return key;
  }
  // The data of the current item in each run.
  [[nodiscard]] std::span<const Measured* const> measured() const noexcept { return measured_; }

 private:
  [[nodiscard]] bool has_more(std::size_t run) const { return next_[run] < runs_[run].items.items.size(); }
  [[nodiscard]] const std::pair<ItemKey, Measured>& next_of(std::size_t run) const { return runs_[run].items.items[next_[run]]; }

  std::span<const Run> runs_;
  std::vector<std::size_t> next_;
  std::vector<const Measured*> measured_;
};

// True if the item is the ranges that are the iterations. Their time is the duration, which would otherwise be judged twice, and as one of many items.
bool is_of_iterations(const ItemKey& key, const OfSide& of, std::span<const Measured* const> iterations) {
  if (key.kind != DiffKind::kRange || !of.runs.front().samples.are_iterations()) return false;
  for (std::size_t run = 0; run < of.runs.size(); ++run)
    if (of.measured[run] == nullptr || iterations[run] == nullptr || of.measured[run]->samples != iterations[run]->samples) return false;
  return true;
}

// The families of ranges that several domains have, in any of the runs; in order.
std::vector<std::string_view> families_of_several_domains(std::span<const Run> runs) {
  std::vector<std::string_view> families;
  ItemsOfRuns all(runs);
  const ItemKey* before = nullptr;
  while (const ItemKey* const key = all.next()) {
    const bool is_another = before != nullptr && key->kind == DiffKind::kRange && before->kind == DiffKind::kRange && key->name == before->name;
    if (is_another && (families.empty() || families.back() != key->name)) families.push_back(key->name);
    before = key;
  }
  return families;
}

std::vector<DiffItem> items_of(std::span<const Run> runs, std::size_t first_runs, const std::stop_token& stop) {
  const Side first = runs.first(first_runs), second = runs.subspan(first_runs);
  std::vector<const Measured*> iterations(runs.size());
  std::vector<DiffItem> items;
  std::vector<const Measured*> measured;  // for each item that both sides have, its data in all runs
  std::size_t most = 0;
  for (const Run& run : runs) most = std::max(most, run.items.items.size());
  items.reserve(most);  // there may be millions, and growth by doubling takes twice as much
  measured.reserve(most * runs.size());
  const std::vector<std::string_view> told_apart = families_of_several_domains(runs);
  std::map<std::string_view, std::shared_ptr<const std::string>> domains;
  ItemsOfRuns all(runs);
  while (const ItemKey* const key = all.next()) {
    if (stop.stop_requested()) break;
    const OfSide of_first{first, all.measured().first(first_runs)}, of_second{second, all.measured().subspan(first_runs)};
    if (key->kind == DiffKind::kDuration) iterations.assign(all.measured().begin(), all.measured().end());  // this item comes first
    const std::span<const Measured* const> durations(iterations);
    if (is_of_iterations(*key, of_first, durations.first(first_runs)) && is_of_iterations(*key, of_second, durations.subspan(first_runs))) continue;
    DiffItem item = compare(*key, of_first, of_second);
    if (item.first.count == 0 && item.second.count == 0) continue;
    if (!name_products(of_first.measured, of_second.measured, item)) continue;
    if (key->kind == DiffKind::kRange && std::binary_search(told_apart.begin(), told_apart.end(), key->name)) {
      const auto [domain, is_new] = domains.try_emplace(key->domain);
      if (is_new) domain->second = std::make_shared<const std::string>(key->domain);
      item.domain = domain->second;
      item.name = name_in_domain(item.name, key->domain);
    }
    if (is_in_both(item)) measured.insert(measured.end(), all.measured().begin(), all.measured().end());
    items.push_back(std::move(item));
  }
  std::vector<Compared> headlines, details;
  std::size_t next = 0;
  for (DiffItem& item : items) {
    if (!is_in_both(item)) continue;
    if (has_samples(first, second, item.kind)) (is_headline(item) ? headlines : details).push_back({&item, std::span(measured).subspan(next, runs.size())});
    next += runs.size();
  }
  judge(std::move(headlines), first, second, stop);
  judge(std::move(details), first, second, stop);
  put_in_order(items);
  return items;
}

}  // namespace

std::string_view diff_kind_name(DiffKind kind) noexcept {
  constexpr std::array<std::string_view, 8> kNames{"Duration",         "GPU busy", "GPU idle",   "Kernel",
                                                   "Memory operation", "CUDA API", "NVTX range", "Matrix products"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view diff_verdict_name(DiffVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"same", "more", "less", "only in A", "only in B", "unsure"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string family_of_ranges(const DiffItem& item) {
  return item.name.substr(0, item.name.size() - (item.domain == nullptr ? 0 : name_in_domain({}, *item.domain).size()));
}

Result<TraceDiff> compare_traces(const Trace& first, const Trace& second, const DiffOptions& options) {
  // The traces outlive the comparison, which does not own them.
  const auto borrowed = [](const Trace& trace) { return std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace); };
  const std::array<std::shared_ptr<const Trace>, 2> traces{borrowed(first), borrowed(second)};
  return compare_runs({&traces[0], 1}, {&traces[1], 1}, options);
}

Result<TraceDiff> compare_runs(Runs first, Runs second, const DiffOptions& options) {
  AllRuns all;
  for (const auto& trace : first) all.traces.push_back(trace.get());
  all.first = all.traces.size();
  for (const auto& trace : second) all.traces.push_back(trace.get());
  std::vector<Families> families;
  for (const Trace* trace : all.traces) families.emplace_back(*trace);
  const Result<Alignment> alignment = align(all, families, options.range);
  if (!alignment) return alignment.error();
  const bool whole = alignment->family.empty() && alignment->marker.empty();

  TraceDiff diff;
  diff.aligned_by = alignment->family;
  diff.repeating_work = alignment->marker;
  diff.first_runs = first.size();
  diff.second_runs = second.size();
  std::vector<Run> runs;
  for (std::size_t i = 0; i < all.traces.size(); ++i) {
    const Trace& trace = *all.traces[i];
    Samples samples = !alignment->family.empty() ? Samples::of_iterations(trace, alignment->series[i], options.skip)
                      : whole                    ? Samples::of_slices(trace, TraceDiff::kSlices)
                                                 : Samples::of_work(trace, alignment->work[i], options.skip);
    if (samples.size() == 0)
      return Error{"No iteration of \"" + alignment->family + alignment->marker + "\" is left after the first " + std::to_string(options.skip.value_or(0)) +
                       ": skip fewer.",
                   ErrorKind::kUsage};
    runs.push_back({std::move(samples), {}});
  }
  if (!whole && !options.skip) leave_out_transients(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Samples& samples = runs[i].samples;
    if (!whole) (i < all.first ? diff.first_iterations : diff.second_iterations) += samples.size();
    (i < all.first ? diff.first_skipped : diff.second_skipped) += samples.skipped();
    (i < all.first ? diff.first_disturbed : diff.second_disturbed) += samples.disturbed();
    (i < all.first ? diff.first_left_out : diff.second_left_out) += samples.left_out();
    (i < all.first ? diff.first_inside : diff.second_inside) += samples.inside();
    (i < all.first ? diff.first_elsewhere : diff.second_elsewhere) += samples.elsewhere();
    runs[i].items = measure(*all.traces[i], families[i], samples, options.stop);
  }
  diff.items = items_of(runs, all.first, options.stop);
  return diff;
}

}  // namespace lanescope::analysis
