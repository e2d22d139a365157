#include "samples.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "../wording.h"
#include "idle/counter_readings.h"
#include "loop/loop_work.h"
#include "mean_change.h"
#include "model/events/launch_index.h"
#include "model/trace/combining/parts.h"
#include "model/trace/median.h"

namespace lanescope::analysis {
namespace {

std::vector<TimeRange> times_between(const std::vector<Nanoseconds>& borders) {
  std::vector<TimeRange> times;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) times.push_back({borders[i], borders[i + 1]});
  return times;
}

// The times in which the process started to read counters: the length of such a step says little about the program.
std::vector<bool> read_in(const ReadingTimes& readings, ProcessId process, const std::vector<TimeRange>& times) {
  std::vector<bool> read;
  for (const TimeRange& time : times) read.push_back(readings.any_in(process, time));
  return read;
}

Nanoseconds median_length(const std::vector<TimeRange>& times) {
  std::vector<Nanoseconds> lengths;
  for (const TimeRange time : times) lengths.push_back(time.length());
  return lengths.empty() ? 0 : median(std::move(lengths));
}

}  // namespace

// Processes that step together, and the correspondence of their steps.
class Samples::Ranks {
 public:
  explicit Ranks(Steps first) : time_(time_of(first)) { processes_.push_back(std::move(first)); }

  // Adds the process if its loop runs at the time of the others and most of its steps are among theirs.
  bool take(Steps& process) {
    const TimeRange time = time_of(process);
    if (time.intersected(time_).empty()) return false;
    if (by_name_ || process.times.size() != processes_.front().times.size()) {
      const auto fits = [&](const Steps& other) { return shares_steps(other, process); };
      if (!std::all_of(processes_.begin(), processes_.end(), fits)) return false;
      by_name_ = true;
    }
    time_ = {std::min(time_.begin, time.begin), std::max(time_.end, time.end)};
    processes_.push_back(std::move(process));
    return true;
  }

  void add_to(Samples& samples, std::optional<std::size_t> skip) const {
    std::vector<std::vector<std::size_t>> steps = by_name_ ? steps_by_name() : steps_by_order();
    std::size_t first = skip.value_or(0);
    if (!skip)
      for (const Steps& process : processes_) first = std::max(first, process.warm_up);
    first = std::min(first, steps.size());
    samples.skipped_ += first;
    const auto is_disturbed = [&](const std::vector<std::size_t>& step) {
      for (std::size_t rank = 0; rank < processes_.size(); ++rank)
        if (processes_[rank].disturbed[step[rank]]) return true;
      return false;
    };
    const auto disturbed = static_cast<std::size_t>(std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), is_disturbed));
    const bool leaves_out = disturbed > 0 && steps.size() - first - disturbed >= MeanChange::kLeastSamples;
    if (leaves_out) samples.disturbed_ += disturbed;
    samples.has_readings_ |= disturbed > 0 && !leaves_out;
    samples.programs_.push_back({samples.size(), first > 0});
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      const Steps& process = processes_[rank];
      samples.by_process_[process.process];
      if (first > 0) samples.before_[process.process] = process.times[steps[first - 1][rank]].begin;
    }
    for (std::size_t step = first; step < steps.size(); ++step) {
      if (leaves_out && is_disturbed(steps[step])) continue;
      for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
        const Steps& process = processes_[rank];
        samples.by_process_[process.process].push_back({process.times[steps[step][rank]], samples.size()});
        if (!process.on_gpu.empty()) samples.on_gpu_[process.process].push_back({process.on_gpu[steps[step][rank]], samples.size()});
      }
      samples.ranks_.push_back(processes_.size());
    }
    for (const Steps& process : processes_)
      std::sort(samples.by_process_[process.process].begin(), samples.by_process_[process.process].end(),
                [](const Window& a, const Window& b) { return a.time.begin < b.time.begin; });
  }

 private:
  static TimeRange time_of(const Steps& process) {
    return process.times.empty() ? TimeRange{} : TimeRange{process.times.front().begin, process.times.back().end};
  }
  static std::map<std::string_view, std::size_t> by_name(const Steps& process) {
    std::map<std::string_view, std::size_t> steps;
    for (std::size_t i = 0; i < process.names.size(); ++i) steps.try_emplace(process.names[i], i);
    return steps;
  }
  // True if names identify the steps of both, and most names are the same.
  static bool shares_steps(const Steps& a, const Steps& b) {
    const auto of_a = by_name(a), of_b = by_name(b);
    if (of_a.size() != a.times.size() || of_b.size() != b.times.size()) return false;
    const auto common = std::count_if(of_b.begin(), of_b.end(), [&](const auto& step) { return of_a.contains(step.first); });
    return 2 * static_cast<std::size_t>(common) >= std::max(of_a.size(), of_b.size());
  }
  // The steps that all processes have, each with its position in every process.
  [[nodiscard]] std::vector<std::vector<std::size_t>> steps_by_order() const {
    std::vector<std::vector<std::size_t>> steps;
    for (std::size_t i = 0; i < processes_.front().times.size(); ++i) steps.emplace_back(processes_.size(), i);
    return steps;
  }
  [[nodiscard]] std::vector<std::vector<std::size_t>> steps_by_name() const {
    std::vector<std::map<std::string_view, std::size_t>> named;
    for (const Steps& process : processes_) named.push_back(by_name(process));
    std::vector<std::vector<std::size_t>> steps;
    for (const std::string& name : processes_.front().names) {
      std::vector<std::size_t> step;
      for (const auto& positions : named)
        if (const auto found = positions.find(name); found != positions.end()) step.push_back(found->second);
      if (step.size() == processes_.size()) steps.push_back(std::move(step));
    }
    return steps;
  }

  std::vector<Steps> processes_;
  TimeRange time_;
  bool by_name_ = false;
};

Samples Samples::of_steps(std::vector<Steps> processes, std::optional<std::size_t> skip) {
  Samples samples;
  std::vector<Ranks> programs;
  for (Steps& process : processes)
    if (std::none_of(programs.begin(), programs.end(), [&](Ranks& program) { return program.take(process); })) programs.emplace_back(std::move(process));
  for (const Ranks& program : programs) program.add_to(samples, skip);
  return samples;
}

Samples Samples::of_iterations(const Trace& trace, const std::vector<IterationSeries>& series, std::optional<std::size_t> skip) {
  std::vector<Steps> processes;
  const ReadingTimes readings(reads_counters(trace) ? counter_readings(trace, LaunchIndex(trace), {}) : std::vector<CounterReading>());
  for (const IterationSeries& of_process : series) {
    Steps steps{of_process.process, iteration_times(trace, of_process), {}, {}, {}, of_process.warm_up};
    steps.disturbed = read_in(readings, of_process.process, steps.times);
    for (std::size_t i = 0; i < steps.times.size(); ++i) steps.names.emplace_back(range_name(trace, of_process.ranges[i]));
    processes.push_back(std::move(steps));
  }
  Samples samples = of_steps(std::move(processes), skip);
  for (const IterationSeries& of_process : series) {
    samples.left_out_ += of_process.left_out;
    samples.inside_ += of_process.inside;
    samples.elsewhere_ += of_process.elsewhere;
  }
  return samples;
}

Samples Samples::of_work(const Trace& trace, const std::map<ProcessId, RepeatingWork>& work, std::optional<std::size_t> skip) {
  std::vector<Steps> processes;
  std::size_t left_out = 0;
  const LaunchIndex launches(trace);
  const ReadingTimes readings(counter_readings(trace, launches, {}));
  for (const auto& [process, repeating] : work) {
    std::vector<Nanoseconds> enqueued, started;
    for (const EventRef event : repeating.occurrences) {
      const Lane& lane = trace.lane(event.lane);
      const EventRef launch = launches.find(process, lane.correlation(event.index), lane.start(event.index));
      enqueued.push_back(launch.valid() ? trace.lane(launch.lane).start(launch.index) : lane.start(event.index));
      started.push_back(lane.start(event.index));
    }
    std::sort(enqueued.begin(), enqueued.end());
    Steps steps{process, times_between(enqueued), times_between(started), {}, {}, repeating.warm_up};
    // In front of a saved part there are only the calls that enqueued its work.
    const std::optional<SavedPart> part = saved_part_of(trace, part_of_process(trace, process));
    const auto is_whole = [&](const TimeRange& time) { return !part || time.begin >= part->time.begin; };
    const auto cut = std::find_if(steps.times.begin(), steps.times.end(), is_whole) - steps.times.begin();
    steps.times.erase(steps.times.begin(), steps.times.begin() + cut);
    steps.on_gpu.erase(steps.on_gpu.begin(), steps.on_gpu.begin() + cut);
    steps.warm_up -= std::min(steps.warm_up, static_cast<std::size_t>(cut));
    left_out += static_cast<std::size_t>(cut);
    steps.disturbed = read_in(readings, process, steps.times);
    // Launches that load code take long, although the work that they enqueue may follow at once.
    const Nanoseconds usual = std::max(median_length(steps.times), median_length(steps.on_gpu));
    while (steps.warm_up < steps.times.size() / 4 && steps.times[steps.warm_up].length() > usual + usual / 2) ++steps.warm_up;
    processes.push_back(std::move(steps));
  }
  Samples samples = of_steps(std::move(processes), skip);
  samples.left_out_ = left_out;
  return samples;
}

Samples Samples::of_slices(const Trace& trace, std::size_t slices) {
  Samples samples;
  const TimeRange extent = trace.scope();
  const auto edge = [&](std::size_t i) {
    return i == slices ? extent.end + 1
                       : extent.begin + static_cast<Nanoseconds>(static_cast<double>(extent.length()) * static_cast<double>(i) / static_cast<double>(slices));
  };
  for (std::size_t i = 0; i < slices; ++i) samples.slices_.push_back({{edge(i), edge(i + 1)}, i});
  samples.sliced_ = extent;
  samples.ranks_.assign(slices, 1);
  return samples;
}

std::vector<std::size_t> Samples::transients() const {
  std::vector<std::size_t> transients(programs_.size());
  if (has_readings_) return transients;
  std::vector<double> lengths(size());
  for_each([&](ProcessId, std::size_t sample, TimeRange time) { lengths[sample] += static_cast<double>(time.length()) / static_cast<double>(ranks_[sample]); });
  for (std::size_t program = 0; program < programs_.size(); ++program) {
    const std::size_t begin = programs_[program].first, end = program + 1 < programs_.size() ? programs_[program + 1].first : size();
    transients[program] = transient_of(std::span(lengths).subspan(begin, end - begin));
  }
  return transients;
}

void Samples::leave_out_first(std::span<const std::size_t> of_programs) {
  std::vector<std::size_t> numbers(size(), size());  // the new numbers of the samples that stay; size() for the others
  std::vector<std::size_t> ranks;
  std::vector<Program> programs;
  for (std::size_t sample = 0, program = 0; sample < size(); ++sample) {
    while (program < programs_.size() && programs_[program].first <= sample) {
      programs.push_back({ranks.size(), programs_[program].has_iteration_before || of_programs[program] > 0});
      ++program;
    }
    if (program > 0 && sample < programs_[program - 1].first + of_programs[program - 1]) continue;
    numbers[sample] = ranks.size();
    ranks.push_back(ranks_[sample]);
  }
  for (std::map<ProcessId, Windows>* const all : {&by_process_, &on_gpu_})
    for (auto& [process, windows] : *all) {
      if (all == &by_process_)
        for (const Window& window : windows)  // by time
          if (numbers[window.sample] == size()) before_[process] = window.time.begin;
      std::erase_if(windows, [&](const Window& window) { return numbers[window.sample] == size(); });
      for (Window& window : windows) window.sample = numbers[window.sample];
    }
  skipped_ += size() - ranks.size();
  ranks_ = std::move(ranks);
  programs_ = std::move(programs);
}

const Samples::Windows* Samples::windows_of(ProcessId process) const noexcept {
  if (!slices_.empty()) return &slices_;
  const auto found = by_process_.find(process);
  return found == by_process_.end() ? nullptr : &found->second;
}

Samples::Windows::const_iterator Samples::first_that_ends_after(const Windows& windows, Nanoseconds t) noexcept {
  return std::upper_bound(windows.begin(), windows.end(), t, [](Nanoseconds time, const Window& window) { return time < window.time.end; });
}

Nanoseconds Samples::idle_begin(ProcessId process) const noexcept {
  if (const auto before = before_.find(process); before != before_.end()) return before->second;
  const Windows* windows = windows_of(process);
  return windows == nullptr || windows->empty() ? 0 : windows->front().time.begin;
}

std::vector<std::size_t> Samples::without_idle_in_front() const {
  std::vector<std::size_t> samples;
  if (are_cut_on_gpu()) return samples;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const std::size_t end = i + 1 < programs_.size() ? programs_[i + 1].first : size();
    if (!programs_[i].has_iteration_before && programs_[i].first < end) samples.push_back(programs_[i].first);
  }
  return samples;
}

std::optional<std::size_t> Samples::at(ProcessId process, Nanoseconds t) const noexcept {
  const Windows* windows = windows_of(process);
  return windows == nullptr ? std::nullopt : sample_at(*windows, t);
}

std::optional<std::size_t> Samples::on_gpu_at(ProcessId process, Nanoseconds t) const noexcept {
  const auto found = on_gpu_.find(process);
  return found == on_gpu_.end() ? std::nullopt : sample_at(found->second, t);
}

std::optional<std::size_t> Samples::sample_at(const Windows& windows, Nanoseconds t) noexcept {
  const auto window = first_that_ends_after(windows, t);
  return window != windows.end() && window->time.begin <= t ? std::optional(window->sample) : std::nullopt;
}

void TimeBySample::add(std::size_t sample, double time) {
  if (!times_.empty() && times_.back().sample == sample) {
    times_.back().time += time;
    return;
  }
  if (times_.size() >= most_) {
    unite();
    most_ = std::max(most_, 2 * times_.size());
  }
  times_.push_back({static_cast<std::uint32_t>(sample), time});
}

void TimeBySample::unite() {
  const auto comes_before = [](const InSample& a, const InSample& b) { return a.sample < b.sample; };
  if (!std::is_sorted(times_.begin(), times_.end(), comes_before)) std::sort(times_.begin(), times_.end(), comes_before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (kept > 0 && times_[kept - 1].sample == times_[i].sample)
      times_[kept - 1].time += times_[i].time;
    else
      times_[kept++] = times_[i];
  }
  times_.resize(kept);
}

void TimeBySample::finish(const Samples& samples) {
  unite();
  std::erase_if(times_, [](const InSample& each) { return each.time == 0; });
  for (InSample& each : times_) each.time /= static_cast<double>(samples.ranks(each.sample));
}

double TimeBySample::sum() const noexcept {
  double sum = 0;
  for (const InSample& each : times_) sum += each.time;
  return sum;
}

void TimeBySample::write_to(std::span<double> series) const noexcept {
  std::fill(series.begin(), series.end(), 0.0);
  for (const InSample& each : times_) series[each.sample] = each.time;
}

}  // namespace lanescope::analysis
