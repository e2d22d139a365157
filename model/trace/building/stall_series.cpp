#include "stall_series.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "model/trace/kernel_records.h"
#include "model/trace/sample_times.h"

namespace lanescope {
namespace {

constexpr std::size_t kMostGpus = 64;           // with series
constexpr std::size_t kMostValues = 4'000'000;  // of all series
constexpr std::size_t kMostCells = 65'536;      // of a GPU
constexpr std::uint64_t kMostSteps = 1u << 26;  // from cell to cell: beyond, samples stand where they were handed over
constexpr Nanoseconds kFinest = 1'000'000;

Counter counter_of(GpuId gpu, const std::string& reason) {
  Counter counter;
  counter.gpu = gpu;
  counter.name = reason;
  counter.unit = "%";
  counter.resolution = 0.01;
  counter.maximum = 100;
  counter.group = "Warp stalls";
  counter.description = "Share of the sampled warps that stood still for this reason.";
  counter.origin = CounterOrigin::kComputed;
  return counter;
}

// A piece of time, of which the part from the first to the last of its samples is shown.
struct Cell {
  TimeRange time;
  std::vector<double> samples;  // by reason
  double total = 0;
};

// Samples of one GPU, spread over the times in which they may have been taken.
class Cells {
 public:
  Cells(std::span<const PcSampleWindow* const> windows, std::size_t most, std::size_t reasons) : reasons_(reasons) {
    TimeRange span = sampled_within(*windows.front());
    double sampled = 0;
    for (const PcSampleWindow* window : windows) {
      const TimeRange within = sampled_within(*window);
      span = {std::min(span.begin, within.begin), std::max(span.end, within.end)};
      sampled += static_cast<double>(within.length());
    }
    begin_ = span.begin;
    constexpr double kBeside = 16;  // contexts that are sampled at once, at most
    const auto is_too_fine = [&, cells = static_cast<double>(most), whole = static_cast<double>(span.end) - static_cast<double>(span.begin)] {
      const auto length = static_cast<double>(length_);
      return std::min(whole / length, sampled / length + 2 * static_cast<double>(windows.size())) >= cells || sampled / length > kBeside * cells;
    };
    while (is_too_fine()) length_ *= 2;
  }

  // Requires: the times lie within what windows have; samples by reason.
  void add(std::span<const TimeRange> times, const std::map<std::uint32_t, std::uint64_t>& samples) {
    double whole = 0;
    for (const TimeRange& time : times) whole += static_cast<double>(time.length());
    // Of a cell at once, since there may be many runs in it.
    std::int64_t number = 0;
    TimeRange covered;
    Nanoseconds taken = 0;
    const auto put = [&] {
      if (taken > 0) add(number, covered, static_cast<double>(taken) / whole, samples);
      taken = 0;
    };
    for (const TimeRange& time : times) {
      for (Nanoseconds begin = time.begin; begin < time.end;) {
        const std::int64_t here = (begin - begin_) / length_;
        const Nanoseconds end = std::min(time.end, begin_ + (here + 1) * length_);
        if (here != number) put();
        if (taken == 0) covered.begin = begin;
        number = here;
        covered.end = end;
        taken += end - begin;
        begin = end;
      }
    }
    put();
  }

  [[nodiscard]] const std::map<std::int64_t, Cell>& all() const { return cells_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  void add(std::int64_t number, TimeRange covered, double part, const std::map<std::uint32_t, std::uint64_t>& samples) {
    steps_ += samples.size();
    const auto [entry, is_new] = cells_.try_emplace(number);
    Cell& cell = entry->second;
    if (is_new) cell = {covered, std::vector<double>(reasons_), 0};
    cell.time = {std::min(cell.time.begin, covered.begin), std::max(cell.time.end, covered.end)};
    for (const auto& [reason, count] : samples) {
      cell.samples[reason] += part * static_cast<double>(count);
      cell.total += part * static_cast<double>(count);
    }
  }

  Nanoseconds begin_ = 0;
  std::uint64_t steps_ = 0;
  std::size_t reasons_;
  Nanoseconds length_ = kFinest;
  std::map<std::int64_t, Cell> cells_;
};

using Samples = std::map<std::uint32_t, std::uint64_t>;  // by reason

void add_window(const PcSampleWindow& window, const KernelRecords& records, SampleTimes& times, Cells& cells) {
  std::map<NameId, Samples> samples;
  for (const PcSample& sample : window.samples)
    if (sample.samples > 0) samples[records.functions[sample.function].name][sample.reason] += sample.samples;
  const auto& runs = times.runs(window);
  Samples others;  // of which no run is known
  for (const auto& [name, of_name] : samples) {
    if (const auto found = runs.find(name); found != runs.end() && cells.steps() < kMostSteps)
      cells.add(found->second, of_name);
    else
      for (const auto& [reason, count] : of_name) others[reason] += count;
  }
  if (!others.empty()) cells.add({&window.time, 1}, others);
}

// One value a time for each reason, those of most samples first.
std::vector<StallSeries> series_of(GpuId gpu, const Cells& cells, const KernelRecords& records) {
  const std::size_t reasons = records.reasons.size();
  std::vector<double> totals(reasons);
  std::vector<Nanoseconds> times;
  std::vector<std::vector<std::int64_t>> values;  // by time, and there by reason
  Nanoseconds end = 0;
  for (const auto& [number, cell] : cells.all()) {
    std::vector<std::int64_t> shares(reasons);
    for (std::size_t reason = 0; reason < reasons; ++reason) {
      totals[reason] += cell.samples[reason];
      shares[reason] = static_cast<std::int64_t>(10'000 * cell.samples[reason] / cell.total + 0.5);
    }
    if (!times.empty() && end < cell.time.begin) {
      times.push_back(end);
      values.emplace_back(reasons, kNoValue);
    }
    if (values.empty() || values.back() != shares) {
      times.push_back(cell.time.begin);
      values.push_back(std::move(shares));
    }
    end = cell.time.end;
  }
  std::vector<std::size_t> order;
  for (std::size_t reason = 0; reason < reasons; ++reason)
    if (totals[reason] > 0) order.push_back(reason);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });
  std::vector<StallSeries> result;
  for (const std::size_t reason : order) {
    std::vector<std::int64_t> of_reason;
    of_reason.reserve(values.size());
    for (const std::vector<std::int64_t>& shares : values) of_reason.push_back(shares[reason]);
    result.push_back({counter_of(gpu, records.reasons[reason]), CounterSeries(times, of_reason, end)});
  }
  return result;
}

}  // namespace

std::vector<StallSeries> stall_series(const Trace& trace) {
  const KernelRecords& records = trace.kernel_records();
  std::map<GpuId, std::vector<const PcSampleWindow*>> windows;
  for (const auto& window : records.windows)
    if (window->time.end > window->time.begin && (windows.size() < kMostGpus || windows.contains(window->gpu))) windows[window->gpu].push_back(window.get());
  std::vector<StallSeries> result;
  if (windows.empty()) return result;
  SampleTimes times(trace);
  // A gap behind each cell at most.
  const std::size_t most = std::min(kMostCells, kMostValues / 2 / windows.size() / std::max<std::size_t>(1, records.reasons.size()));
  for (const auto& [gpu, of_gpu] : windows) {
    Cells cells(of_gpu, most, records.reasons.size());
    for (const PcSampleWindow* window : of_gpu) add_window(*window, records, times, cells);
    std::vector<StallSeries> series = series_of(gpu, cells, records);
    std::move(series.begin(), series.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace lanescope
