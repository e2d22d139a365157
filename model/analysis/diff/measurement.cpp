#include "measurement.h"

#include <algorithm>
#include <array>
#include <limits>

#include "../gpu_operations.h"
#include "model/analysis/idle.h"
#include "model/events/launch_index.h"

namespace lanescope::analysis {
namespace {

// Collects items by a cheap key first, so that names are looked at once each.
class Collector {
 public:
  explicit Collector(std::size_t samples) : samples_(samples) {}

  Measured& item(const ItemKey& key) {
    Measured& measured = items_[key];
    measured.samples.resize(samples_);
    return measured;
  }
  static void add(Measured& measured, std::size_t sample, Nanoseconds time) {
    measured.total += time;
    measured.samples[sample] += static_cast<double>(time);
  }
  std::map<ItemKey, Measured> take() { return std::move(items_); }

 private:
  std::size_t samples_;
  std::map<ItemKey, Measured> items_;
};

class Measurement {
 public:
  Measurement(const Trace& trace, const Samples& samples, const std::stop_token& stop)
      : trace_(trace), samples_(samples), stop_(stop), collector_(samples.size()), launches_(trace, stop), families_(trace) {}

  std::map<ItemKey, Measured> run() {
    measure_durations();
    for (const Track& track : trace_.tracks()) measure_track(track);
    measure_idle();
    measure_busy();
    return collector_.take();
  }

 private:
  void measure_durations() {
    Measured& duration = collector_.item({DiffKind::kDuration, samples_.are_iterations() ? "Iteration" : "Trace"});
    duration.count = samples_.are_iterations() ? samples_.size() : 1;
    samples_.for_each([&](std::size_t sample, TimeRange time) { Collector::add(duration, sample, time.length()); });
  }

  // The items of a track by the id that tells its events apart: a name, or a detail.
  [[nodiscard]] std::optional<ItemKey> key_of(const TrackKey& track, const Lane& lane, EventIndex i) {
    switch (track.kind) {
      case TrackKind::kKernels:
        return ItemKey{DiffKind::kKernel, trace_.name(lane.name(i))};
      case TrackKind::kGraphLaunches:
        return ItemKey{DiffKind::kKernel, "[CUDA graph]"};
      case TrackKind::kMemory:
        return ItemKey{DiffKind::kMemory, memory_operation_name(trace_.memory_detail(lane.detail(i)))};
      case TrackKind::kCudaApi:
        return ItemKey{DiffKind::kApi, api_display_name(trace_.name(lane.name(i)))};
      case TrackKind::kNvtxRanges:
        return ItemKey{DiffKind::kRange, families_.text(families_.of_name(lane.name(i)))};
      default:
        return std::nullopt;
    }
  }

  void measure_track(const Track& track) {
    std::map<std::uint32_t, Measured*> known;
    const bool on_gpu = is_gpu_work(track.key.kind);
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      for (EventIndex i = 0; i < lane.size() && !stop_.stop_requested(); ++i) {
        const std::uint32_t group = track.key.kind == TrackKind::kMemory ? lane.detail(i) : lane.name(i);
        const auto [entry, is_new] = known.try_emplace(group, nullptr);
        if (is_new) {
          const std::optional<ItemKey> key = key_of(track.key, lane, i);
          if (!key) return;  // tracks of this kind are not compared
          entry->second = &collector_.item(*key);
        }
        const Nanoseconds time = on_gpu ? enqueued(track.key.process, lane, i) : lane.start(i);
        const std::optional<std::size_t> sample = samples_.at(track.key.process, time);
        if (!sample) continue;
        ++entry->second->count;
        Collector::add(*entry->second, *sample, lane.duration(i));
      }
    }
  }

  // GPU work belongs to the sample that enqueued it.
  [[nodiscard]] Nanoseconds enqueued(ProcessId process, const Lane& lane, EventIndex i) const {
    const EventRef launch = launches_.find(process, lane.correlation(i));
    return launch.valid() ? trace_.lane(launch.lane).start(launch.index) : lane.start(i);
  }

  // Idle time belongs to the sample that enqueued the operation at its end, as far as it lies behind the beginning of the first sample.
  void measure_idle() {
    Measured& idle = collector_.item({DiffKind::kGpuIdle, "GPU idle"});
    std::array<Measured*, kIdleCauses> causes{};
    const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
      const ProcessId process = trace_.track_of(gap.next.lane).key.process;
      const std::optional<std::size_t> sample = samples_.at(process, enqueued(process, trace_.lane(gap.next.lane), gap.next.index));
      if (!sample) return;
      const Nanoseconds begin = samples_.begin(process);
      for (const IdlePart& part : parts) {
        const Nanoseconds time = part.range.end - std::max(part.range.begin, begin);
        if (time <= 0) continue;
        Measured*& cause = causes[static_cast<std::size_t>(part.cause)];
        if (cause == nullptr) cause = &collector_.item({DiffKind::kGpuIdle, std::string(idle_cause_name(part.cause))});
        Collector::add(*cause, *sample, time);
        Collector::add(idle, *sample, time);
        ++cause->count;
        ++idle.count;
      }
    };
    visit_idle(trace_, launches_, 1, add, stop_);
  }

  // An operation counts with the time by which it lengthens what came before, so that what overlaps counts once.
  void measure_busy() {
    Measured& busy = collector_.item({DiffKind::kGpuBusy, "GPU busy"});
    for (GpuId gpu = 0; gpu < trace_.gpus().size(); ++gpu) {
      GpuOperations operations(trace_, gpu, stop_);
      Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
      while (const std::optional<GpuOperation> operation = operations.next()) {
        const Nanoseconds begin = std::max(end, operation->range.begin);
        end = std::max(end, operation->range.end);
        const ProcessId process = trace_.track_of(operation->event.lane).key.process;
        const std::optional<std::size_t> sample =
            samples_.at(process, enqueued(process, trace_.lane(operation->event.lane), operation->event.index));
        if (!sample) continue;
        Collector::add(busy, *sample, std::max<Nanoseconds>(0, end - begin));
        ++busy.count;
      }
    }
  }

  const Trace& trace_;
  const Samples& samples_;
  const std::stop_token& stop_;
  Collector collector_;
  LaunchIndex launches_;
  Families families_;
};

}  // namespace

Samples Samples::of_iterations(const Trace& trace, const std::vector<IterationSeries>& series, std::optional<std::size_t> skip) {
  Samples samples;
  for (const IterationSeries& of_process : series) {
    Windows& windows = samples.by_process_[of_process.process];
    const std::size_t first = std::min(of_process.ranges.size(), skip.value_or(warm_up_iterations(trace, of_process)));
    samples.skipped_ += first;
    for (std::size_t i = first; i < of_process.ranges.size(); ++i) {
      const EventRef range = of_process.ranges[i];
      const Lane& lane = trace.lane(range.lane);
      windows.push_back({{lane.start(range.index), lane.end(range.index)}, samples.size_++});
    }
  }
  return samples;
}

Samples Samples::of_work(const Trace& trace, const std::map<ProcessId, RepeatingWork>& work, std::optional<std::size_t> skip) {
  Samples samples;
  const LaunchIndex launches(trace);
  for (const auto& [process, repeating] : work) {
    std::vector<Nanoseconds> enqueued;
    for (const EventRef event : repeating.occurrences) {
      const Lane& lane = trace.lane(event.lane);
      const EventRef launch = launches.find(process, lane.correlation(event.index));
      enqueued.push_back(launch.valid() ? trace.lane(launch.lane).start(launch.index) : lane.start(event.index));
    }
    std::sort(enqueued.begin(), enqueued.end());
    const std::size_t first = std::min(enqueued.size() - 1, skip.value_or(repeating.warm_up));
    samples.skipped_ += first;
    Windows& windows = samples.by_process_[process];
    for (std::size_t i = first; i + 1 < enqueued.size(); ++i) windows.push_back({{enqueued[i], enqueued[i + 1]}, samples.size_++});
  }
  return samples;
}

Samples Samples::of_slices(const Trace& trace, std::size_t slices) {
  Samples samples;
  const TimeRange extent = trace.extent();
  const auto edge = [&](std::size_t i) {
    return i == slices ? extent.end + 1
                       : extent.begin + static_cast<Nanoseconds>(static_cast<double>(extent.length()) * static_cast<double>(i) /
                                                                 static_cast<double>(slices));
  };
  for (std::size_t i = 0; i < slices; ++i) samples.slices_.push_back({{edge(i), edge(i + 1)}, i});
  samples.size_ = slices;
  return samples;
}

const Samples::Windows* Samples::windows_of(ProcessId process) const noexcept {
  if (!slices_.empty()) return &slices_;
  const auto found = by_process_.find(process);
  return found == by_process_.end() ? nullptr : &found->second;
}

Samples::Windows::const_iterator Samples::first_that_ends_after(const Windows& windows, Nanoseconds t) noexcept {
  return std::upper_bound(windows.begin(), windows.end(), t, [](Nanoseconds time, const Window& window) { return time < window.time.end; });
}

Nanoseconds Samples::begin(ProcessId process) const noexcept {
  const Windows* windows = windows_of(process);
  return windows == nullptr || windows->empty() ? 0 : windows->front().time.begin;
}

std::optional<std::size_t> Samples::at(ProcessId process, Nanoseconds t) const noexcept {
  const Windows* windows = windows_of(process);
  if (windows == nullptr) return std::nullopt;
  const auto window = first_that_ends_after(*windows, t);
  return window != windows->end() && window->time.begin <= t ? std::optional(window->sample) : std::nullopt;
}

std::map<ItemKey, Measured> measure(const Trace& trace, const Samples& samples, const std::stop_token& stop) {
  return Measurement(trace, samples, stop).run();
}

}  // namespace lanescope::analysis
