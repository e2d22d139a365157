#include "stall_series.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "model/trace/kernel_records.h"
#include "model/trace/sample_times.h"

namespace lanescope {
namespace {

constexpr std::size_t kMostGpus = 64;           // that have series
constexpr std::size_t kMostValues = 4'000'000;  // of all series
constexpr std::size_t kMostCells = 65'536;      // of a GPU
constexpr std::uint64_t kMostSteps = 1u << 26;  // from cell to cell: beyond this, samples are placed at the time at which they were handed over
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

}  // namespace

// Types that StallRows keeps.
namespace stalls {

// A piece of time. The part from the first to the last of its samples is shown.
struct Cell {
  TimeRange time;
  std::vector<double> samples;  // by reason
  double total = 0;
};

// What is known of the windows of a GPU before they are spread.
struct Sampled {
  TimeRange span;
  double time = 0;  // ns, of each window
  std::size_t windows = 0;
  void add(TimeRange within) {
    span = windows == 0 ? within : TimeRange{std::min(span.begin, within.begin), std::max(span.end, within.end)};
    time += static_cast<double>(within.length());
    ++windows;
  }
};

// Samples of one GPU, spread over the times in which they may have been taken.
class Cells {
 public:
  Cells(Nanoseconds begin, Nanoseconds length, std::size_t reasons) : begin_(begin), reasons_(reasons), length_(length) {}

  // Length of cells such that there are at most `most`.
  static Nanoseconds length_for(const Sampled& sampled, std::size_t most) {
    constexpr double kBeside = 16;  // contexts that are sampled at the same time, at most
    Nanoseconds chosen = kFinest;
    const auto is_too_fine = [&, cells = static_cast<double>(most), whole = static_cast<double>(sampled.span.end) - static_cast<double>(sampled.span.begin)] {
      const auto length = static_cast<double>(chosen);
      return std::min(whole / length, sampled.time / length + 2 * static_cast<double>(sampled.windows)) >= cells || sampled.time / length > kBeside * cells;
    };
    while (is_too_fine()) chosen *= 2;
    return chosen;
  }

  // Requires: the times lie within the windows; samples by reason.
  void add(std::span<const TimeRange> times, const std::map<std::uint32_t, std::uint64_t>& samples) {
    double whole = 0;
    for (const TimeRange& time : times) whole += static_cast<double>(time.length());
    // Adds the times in one cell together, because there may be many runs in it.
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
  [[nodiscard]] bool begins_as(Nanoseconds begin, Nanoseconds length, std::size_t reasons) const {
    return begin_ == begin && length_ == length && reasons_ == reasons;
  }

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
  Nanoseconds length_;
  std::map<std::int64_t, Cell> cells_;
};

}  // namespace stalls

namespace {

using stalls::Cells;

using Samples = std::map<std::uint32_t, std::uint64_t>;  // by reason

void add_window(const PcSampleWindow& window, const KernelRecords& records, SampleTimes& times, Cells& cells) {
  std::map<NameId, Samples> samples;
  for (const PcSample& sample : window.samples)
    if (sample.samples > 0) samples[records.functions[sample.function].name][sample.reason] += sample.samples;
  const auto& runs = times.runs(window);
  Samples others;  // samples without a known run
  for (const auto& [name, of_name] : samples) {
    if (const auto found = runs.find(name); found != runs.end() && cells.steps() < kMostSteps)
      cells.add(found->second, of_name);
    else
      for (const auto& [reason, count] : of_name) others[reason] += count;
  }
  if (!others.empty()) cells.add({&window.time, 1}, others);
}

// One value a time for each reason; the reasons with most samples come first.
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

struct StallRows::OfGpu {
  Windows windows;
  stalls::Sampled sampled;
  std::optional<Cells> settled;     // cells of the first windows
  std::size_t settled_windows = 0;  // number of these windows
  Nanoseconds settled_until = 0;    // the end of their time
};

StallRows::StallRows() = default;
StallRows::~StallRows() = default;

void StallRows::take(const Windows& windows) {
  if (taken_ > windows.size() || (taken_ > 0 && windows[taken_ - 1] != last_taken_)) {  // the windows are not those of the previous call
    gpus_.clear();
    taken_ = 0;
  }
  for (; taken_ < windows.size(); ++taken_) {
    last_taken_ = windows[taken_];
    if (last_taken_->time.end <= last_taken_->time.begin || (gpus_.size() >= kMostGpus && !gpus_.contains(last_taken_->gpu))) continue;
    OfGpu& of_gpu = gpus_[last_taken_->gpu];
    of_gpu.windows.push_back(last_taken_);
    of_gpu.sampled.add(sampled_within(*last_taken_));
  }
}

std::vector<StallSeries> StallRows::update(const Trace& trace, Nanoseconds new_kernels_from) {
  const KernelRecords& records = trace.kernel_records();
  take(records.windows);
  std::vector<StallSeries> result;
  if (gpus_.empty()) return result;
  SampleTimes times(trace);
  // There is at most one gap after each cell.
  const std::size_t reasons = records.reasons.size();
  const std::size_t most = std::min(kMostCells, kMostValues / 2 / gpus_.size() / std::max<std::size_t>(1, reasons));
  for (auto& [gpu, of_gpu] : gpus_) {
    const Nanoseconds begin = of_gpu.sampled.span.begin, length = Cells::length_for(of_gpu.sampled, most);
    if (!of_gpu.settled || !of_gpu.settled->begins_as(begin, length, reasons) || new_kernels_from < of_gpu.settled_until) {
      of_gpu.settled.emplace(begin, length, reasons);
      of_gpu.settled_windows = 0;
      of_gpu.settled_until = std::numeric_limits<Nanoseconds>::min();
    }
    const auto spread = [&](const PcSampleWindow& window, Cells& cells) {
      add_window(window, records, times, cells);
      ++windows_spread_;
    };
    // Records of kernels come seconds after the kernels.
    constexpr Nanoseconds kUnsettled = 10'000'000'000;
    for (; of_gpu.settled_windows < of_gpu.windows.size(); ++of_gpu.settled_windows) {
      const PcSampleWindow& window = *of_gpu.windows[of_gpu.settled_windows];
      const TimeRange within = sampled_within(window);
      if (within.end > of_gpu.sampled.span.end - kUnsettled) break;
      spread(window, *of_gpu.settled);
      of_gpu.settled_until = std::max(of_gpu.settled_until, within.end);
    }
    Cells cells = *of_gpu.settled;
    for (std::size_t i = of_gpu.settled_windows; i < of_gpu.windows.size(); ++i) spread(*of_gpu.windows[i], cells);
    std::vector<StallSeries> series = series_of(gpu, cells, records);
    std::move(series.begin(), series.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace lanescope
