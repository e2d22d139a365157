#include "model/analysis/idle/idle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "counter_readings.h"
#include "gpu_operations.h"
#include "model/trace/storage/interval_union.h"
#include "model/trace/workers/parallel.h"
#include "model/trace/workers/usable_cores.h"
#include "ranks/rank_work.h"
#include "threads/call_class.h"
#include "threads/thread_activity.h"

namespace lanescope::analysis {
namespace {

// An enqueued operation that starts within this time after its call's end was only on its way to an empty GPU.
constexpr Nanoseconds kLaunchLatency = 10'000;

// A call that launched a kernel whose counters were read.
struct Reading {
  TimeRange time;
  NameId call = 0;
};
using Readings = std::vector<std::vector<Reading>>;  // by GPU, in order, not overlapping; empty if no counters were read

// O(kernels) if counters were read, otherwise O(1).
Readings find_readings(const Trace& trace, const LaunchIndex& launches, const std::stop_token& stop) {
  Readings readings;
  for (const CounterReading& reading : counter_readings(trace, launches, stop)) {
    readings.resize(trace.gpus().size());
    if (reading.gpu < readings.size()) readings[reading.gpu].push_back({reading.time, reading.call});
  }
  for (std::vector<Reading>& of_gpu : readings) {
    std::sort(of_gpu.begin(), of_gpu.end(), [](const Reading& a, const Reading& b) { return a.time.begin < b.time.begin; });
    Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
    for (Reading& reading : of_gpu) {
      reading.time.begin = std::max(reading.time.begin, end);
      end = std::max(end, reading.time.end);
    }
    std::erase_if(of_gpu, [](const Reading& reading) { return reading.time.end <= reading.time.begin; });
  }
  return readings;
}

class Attribution {
 public:
  // Both must outlive it; `readings` are the trace's.
  Attribution(const Trace& trace, const LaunchIndex& launches, const Readings& readings)
      : trace_(trace), launches_(launches), names_(trace), tracks_(trace), threads_(trace.threads().size()), readings_(readings) {}

  // The gap in front of an operation.
  [[nodiscard]] IdleGap gap_of(GpuId gpu, TimeRange idle, const GpuOperation& next) const {
    IdleGap gap{gpu, idle, next.event, launches_.find(next.process, next.correlation, next.range.begin), {}};
    if (gap.launch.valid()) gap.launch_time = range_of(gap.launch);
    return gap;
  }

  // Replaces `parts` by the parts of the gap, which the operation ends.
  void attribute(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts) {
    parts.clear();
    attribute_to_launch(gap, next, parts);
    if (!readings_.empty()) attribute_to_readings(gap, parts);
  }

 private:
  void attribute_to_launch(const IdleGap& gap, const GpuOperation& next, std::vector<IdlePart>& parts) {
    if (!gap.launch.valid()) {
      parts.push_back({gap.range, moves_unified_memory(next) ? IdleCause::kMigration : IdleCause::kUnknown, 0, {}});
      return;
    }
    const TimeRange call = gap.launch_time;
    ThreadActivity& thread = activity_of(trace_.track_of(gap.launch.lane).key.thread);
    before_launch(thread, gap.range.intersected({gap.range.begin, call.begin}), parts);
    const IdlePart launching = launching_part(gap, next, thread, parts);
    append(parts, launching, gap.range.intersected(call));
    after_launch(gap, next, thread, call.end, launching, parts);
  }

  // While a kernel is run again for its counters it has the GPU to itself, whichever thread would launch next. This has also emptied the queue, which
  // would have hidden later launches and the code between them.
  void attribute_to_readings(const IdleGap& gap, std::vector<IdlePart>& parts) {
    const std::vector<Reading>& readings = readings_[gap.gpu];
    auto reading =
        std::upper_bound(readings.begin(), readings.end(), gap.range.begin, [](Nanoseconds t, const Reading& candidate) { return t < candidate.time.end; });
    if (reading == readings.end() || reading->time.begin >= gap.range.end) return;
    without_readings_.swap(parts);
    parts.clear();
    for (const IdlePart& part : without_readings_) {
      Nanoseconds t = part.range.begin;
      for (; reading != readings.end() && reading->time.begin < part.range.end; ++reading) {
        TimeRange time = reading->time;
        const auto next = std::next(reading);
        const Nanoseconds behind = next == readings.end() ? gap.range.end : std::min(gap.range.end, next->time.begin);
        if (behind - time.end <= kShortGap) time.end = std::max(time.end, behind);
        const TimeRange within = time.intersected(part.range);
        append(parts, part, {t, within.begin});
        append(parts, {{}, IdleCause::kOverhead, reading->call, part.nvtx}, within);
        t = within.end;
        if (time.end > part.range.end) break;
      }
      append(parts, part, {t, part.range.end});
    }
  }

  // Data about a launching call. For the launch of a graph it is needed for each of its operations.
  struct Surroundings {
    EventRef launch;
    EventRef range;              // the innermost NVTX range
    std::optional<NameId> wait;  // the call that makes a stream wait in front of it, once that was asked for
  };
  Surroundings& around(const IdleGap& gap, ThreadActivity& thread) {
    if (last_.launch != gap.launch) last_ = {gap.launch, thread.innermost_range(gap.launch_time.begin), std::nullopt};
    return last_;
  }
  NameId wait_before(const IdleGap& gap, ThreadActivity& thread) {
    Surroundings& known = around(gap, thread);
    if (!known.wait) known.wait = thread.stream_wait_before(gap.launch);
    return *known.wait;
  }

  [[nodiscard]] TimeRange range_of(EventRef event) const {
    const Lane& lane = trace_.lane(event.lane);
    return {lane.start(event.index), lane.end(event.index)};
  }

  ThreadActivity& activity_of(ThreadId thread) {
    if (!threads_[thread]) threads_[thread] = std::make_unique<ThreadActivity>(trace_, tracks_, thread, names_);
    return *threads_[thread];
  }

  static void append(std::vector<IdlePart>& parts, IdlePart part, TimeRange range) {
    if (range.empty()) return;
    part.range = range;
    IdlePart* const last = parts.empty() ? nullptr : &parts.back();
    const bool goes_on = last != nullptr && last->cause == part.cause && last->call == part.call && last->nvtx == part.nvtx;
    if (goes_on)
      last->range.end = range.end;
    else
      parts.push_back(part);
  }

  void before_launch(ThreadActivity& thread, TimeRange window, std::vector<IdlePart>& parts) {
    if (window.empty()) return;
    pieces_.clear();
    thread.describe(window, pieces_);
    for (const Activity& piece : pieces_) parts.push_back({piece.range, piece.cause, piece.call, piece.nvtx});
    // The call of an asynchronous copy that lasts longer than the work it enqueued did not return before the copy was done.
    IdlePart& first = parts.front();
    if (first.cause == IdleCause::kLaunch && trace_.name(first.call).find("Memcpy") != std::string_view::npos) first.cause = IdleCause::kCopy;
  }

  // True if a wait or a blocking copy, in which the gap started, has emptied the GPU's queue. The queue would have hidden what ended at `enqueued`.
  static bool has_emptied_queue(const std::vector<IdlePart>& before, Nanoseconds enqueued) {
    if (before.empty() || (before.front().cause != IdleCause::kSynchronize && before.front().cause != IdleCause::kCopy)) return false;
    const IdlePart& wait = before.front();
    Nanoseconds end = wait.range.end;
    for (const IdlePart& part : before)
      if (part.cause == wait.cause && part.call == wait.call && part.range.begin == end) end = part.range.end;
    return enqueued - end <= kLongLaunch;
  }

  // The launching call, and the way from there to the GPU. They are hidden behind earlier work unless a wait or a blocking copy of the same thread had
  // emptied the GPU's queue; then that is the cause.
  IdlePart launching_part(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, const std::vector<IdlePart>& before) {
    IdlePart part;
    if (has_emptied_queue(before, gap.launch_time.end)) {
      part.cause = before.front().cause;
      part.call = before.front().call;
      part.nvtx = before.front().nvtx;
      return part;
    }
    part.nvtx = around(gap, thread).range;
    part.call = trace_.lane(gap.launch.lane).name(gap.launch.index);
    const bool copies = names_.cuda_call(part.call) == CallClass::kCopy || copies_pageable_memory(next);
    part.cause = copies ? IdleCause::kCopy : IdleCause::kLaunch;
    const Lane& calls = trace_.lane(gap.launch.lane);
    if (names_.measured.contains(trace_.track_of(gap.launch.lane).key.process, calls.correlation(gap.launch.index))) part.cause = IdleCause::kOverhead;
    return part;
  }

  void after_launch(const IdleGap& gap, const GpuOperation& next, ThreadActivity& thread, Nanoseconds enqueued, const IdlePart& launching,
                    std::vector<IdlePart>& parts) {
    const TimeRange rest = gap.range.intersected({enqueued, gap.range.end});
    if (rest.empty()) return;
    if (enqueued > gap.range.begin && rest.length() <= kLaunchLatency) {
      append(parts, launching, rest);
      return;
    }
    IdlePart part;
    part.nvtx = around(gap, thread).range;
    part.call = wait_before(gap, thread);
    part.cause = is_communication(next) ? IdleCause::kCommunication : IdleCause::kDependency;
    append(parts, part, rest);
  }

  [[nodiscard]] const MemoryDetail* memory_detail(const GpuOperation& operation) const {
    return operation.kind == TrackKind::kMemory ? &trace_.memory_detail(operation.detail) : nullptr;
  }
  [[nodiscard]] bool copies_pageable_memory(const GpuOperation& operation) const {
    const MemoryDetail* detail = memory_detail(operation);
    return detail != nullptr && moves_pageable_memory(*detail);
  }
  [[nodiscard]] bool moves_unified_memory(const GpuOperation& operation) const {
    const MemoryDetail* detail = memory_detail(operation);
    return detail != nullptr && detail->copy_kind >= CopyKind::kUnifiedHostToDevice && detail->copy_kind <= CopyKind::kUnifiedDeviceToDevice;
  }

  [[nodiscard]] bool is_communication(const GpuOperation& operation) { return operation.kind == TrackKind::kKernels && names_.communication(operation.name); }

  const Trace& trace_;
  const LaunchIndex& launches_;
  NameClasses names_;
  ThreadTracks tracks_;
  std::vector<std::unique_ptr<ThreadActivity>> threads_;
  std::vector<Activity> pieces_;
  std::vector<IdlePart> without_readings_;
  Surroundings last_;
  const Readings& readings_;
};

// Visits the gaps in front of operations. If the GPU was busy before the first operation, the first gap starts at the end of that work.
class IdleOfOperations : public OperationVisitor {
 public:
  // `times`: only gaps that overlap or touch one of them are visited; null: all gaps.
  IdleOfOperations(Nanoseconds threshold, Attribution& attribution, const IdleVisitor& visitor, const IntervalUnion* times = nullptr)
      : threshold_(threshold), attribution_(attribution), visitor_(visitor), times_(times) {}

  [[nodiscard]] const GpuIdle& sums() const noexcept { return sums_; }    // of the current GPU, or of the last one
  [[nodiscard]] std::vector<GpuIdle> take() { return std::move(gpus_); }  // of all GPUs that have operations

  void begin(GpuId gpu) override { begin(gpu, std::nullopt); }
  void begin(GpuId gpu, std::optional<Nanoseconds> busy_before) {
    sums_ = {};
    sums_.gpu = gpu;
    time_ = {std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::min()};
    next_time_ = 0;
    has_extent_ = busy_before.has_value();
    if (busy_before) sums_.extent = {*busy_before, *busy_before};
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) visit(operation);
  }
  // Until then the GPU was kept busy by operations that come in between and are not visited.
  void pass(Nanoseconds busy_until) {
    begin_extent(busy_until);
    sums_.extent.end = std::max(sums_.extent.end, busy_until);
  }
  void end() override {
    if (sums_.operations > 0) gpus_.push_back(sums_);
  }

 private:
  void begin_extent(Nanoseconds t) {
    if (!std::exchange(has_extent_, true)) sums_.extent = {t, t};
  }
  void visit(const GpuOperation& operation) {
    ++sums_.operations;
    begin_extent(operation.range.begin);
    const TimeRange idle{sums_.extent.end, operation.range.begin};
    sums_.extent.end = std::max(sums_.extent.end, operation.range.end);
    if (idle.empty()) return;
    sums_.idle += idle.length();
    if (idle.length() < threshold_) {
      ++sums_.short_gaps;
      sums_.short_idle += idle.length();
      return;
    }
    ++sums_.gaps;
    if (times_ != nullptr && !touches_time(idle)) return;
    const IdleGap gap = attribution_.gap_of(sums_.gpu, idle, operation);
    attribution_.attribute(gap, operation, parts_);
    visitor_(gap, parts_);
  }

  // Gaps of a GPU come in order, and so do the times.
  [[nodiscard]] bool touches_time(TimeRange idle) noexcept {
    while (time_.end <= idle.begin && next_time_ < times_->size()) time_ = times_->range(next_time_++);
    return time_.end > idle.begin && time_.begin <= idle.end;
  }

  Nanoseconds threshold_;
  Attribution& attribution_;
  const IdleVisitor& visitor_;
  const IntervalUnion* times_;
  TimeRange time_;             // the first of these that ends behind the gap before
  std::size_t next_time_ = 0;  // behind it
  GpuIdle sums_;
  bool has_extent_ = false;
  std::vector<GpuIdle> gpus_;
  std::vector<IdlePart> parts_;
};

// Gaps with their parts, in order.
class GapList {
 public:
  void clear() noexcept {
    gaps_.clear();
    parts_.clear();
  }
  void add(const IdleGap& gap, std::span<const IdlePart> parts) {
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    gaps_.push_back({gap, parts_.size()});
  }
  void pass_on(const IdleVisitor& visitor) const {
    std::size_t begin = 0;
    for (const auto& [gap, end] : gaps_) {
      visitor(gap, std::span(parts_).subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  std::vector<std::pair<IdleGap, std::size_t>> gaps_;  // each with the end of its parts
  std::vector<IdlePart> parts_;
};

// What is found in operations that are visited together, by parts of them that follow each other; and in those before, which is passed on meanwhile.
struct FoundGaps {
  using Lists = std::vector<GapList>;
  std::array<Lists, 2> by_turn;
};

// Finds the gaps in front of a part of the operations that are visited together, beside others, each of which does so in another part.
class GapFinder final : public OperationVisitor {
 public:
  GapFinder(const Trace& trace, const LaunchIndex& launches, const Readings& readings, Nanoseconds threshold, std::size_t part, FoundGaps& found)
      : trace_(trace), launches_(launches), readings_(readings), threshold_(threshold), part_(part), found_(found) {}
  [[nodiscard]] std::span<const GpuIdle> gpus() const noexcept { return gpus_; }  // what these parts of each have

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    turn_ = 0;
    busy_until_.reset();
    if (idle_) idle_->begin(gpu);
  }
  void visit(std::span<const GpuOperation> operations) override {
    list_ = &found_.by_turn[turn_++ % 2][part_];
    list_->clear();
    const std::size_t parts = operations.size() < kWorthParts ? 1 : found_.by_turn.front().size();
    const auto end_of = [&](std::size_t part) { return operations.size() * std::min(part, parts) / parts; };
    const std::size_t begin = end_of(part_), end = end_of(part_ + 1);
    pass(operations.first(begin));
    if (begin < end) {
      if (!idle_) make();
      if (busy_until_) idle_->pass(*busy_until_);
      idle_->visit(operations.subspan(begin, end - begin));
    }
    pass(operations.subspan(begin));
  }
  void end() override { gpus_.push_back(idle_ ? idle_->sums() : GpuIdle()); }

 private:
  static constexpr std::size_t kWorthParts = 4'096;  // operations; fewer take less than memos of names

  void pass(std::span<const GpuOperation> operations) {
    for (const GpuOperation& operation : operations) busy_until_ = std::max(busy_until_.value_or(operation.range.end), operation.range.end);
  }
  void make() {
    attribution_.emplace(trace_, launches_, readings_);
    idle_.emplace(threshold_, *attribution_, visitor_);
    idle_->begin(gpu_);
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  const Readings& readings_;
  const Nanoseconds threshold_;
  const std::size_t part_;
  FoundGaps& found_;
  const IdleVisitor visitor_ = [this](const IdleGap& gap, std::span<const IdlePart> parts) { list_->add(gap, parts); };
  std::optional<Attribution> attribution_;  // once there is something to attribute
  std::optional<IdleOfOperations> idle_;
  GapList* list_ = nullptr;
  GpuId gpu_ = kNone;  // that is gone through
  std::size_t turn_ = 0;
  std::optional<Nanoseconds> busy_until_;
  std::vector<GpuIdle> gpus_;
};

// Passes on what was found in the operations before those that are visited.
class GapsPassedOn final : public OperationVisitor {
 public:
  GapsPassedOn(const IdleVisitor& visitor, const FoundGaps& found) : visitor_(visitor), found_(found) {}

  void begin(GpuId) override { turn_ = 0; }
  void visit(std::span<const GpuOperation>) override {
    pass_on();
    ++turn_;
  }
  void end() override { pass_on(); }

 private:
  void pass_on() const {
    if (turn_ == 0) return;
    for (const GapList& list : found_.by_turn[(turn_ - 1) % 2]) list.pass_on(visitor_);
  }

  const IdleVisitor& visitor_;
  const FoundGaps& found_;
  std::size_t turn_ = 0;
};

class GapsThatTouch final : public OperationVisitor {
 public:
  GapsThatTouch(const Trace& trace, const LaunchIndex& launches, std::vector<TimeRange> times, IdleVisitor visitor, const std::stop_token& stop)
      : times_(united(std::move(times))),
        visitor_(std::move(visitor)),
        readings_(find_readings(trace, launches, stop)),
        attribution_(trace, launches, readings_),
        gaps_(1, attribution_, visitor_, &times_) {}

  void begin(GpuId gpu) override { gaps_.begin(gpu); }
  void visit(std::span<const GpuOperation> operations) override { gaps_.visit(operations); }
  void end() override { gaps_.end(); }

 private:
  static IntervalUnion united(std::vector<TimeRange> times) {
    std::sort(times.begin(), times.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    IntervalUnion::Writer writer;
    for (const TimeRange& time : times) writer.add(time.begin, time.end + 1);  // so that the end is included, as touches_time() requires
    return writer.take();
  }

  const IntervalUnion times_;
  const IdleVisitor visitor_;
  const Readings readings_;
  Attribution attribution_;
  IdleOfOperations gaps_;
};

// Visits the operations that start within the time, each with the gap in front of it.
GpuIdle visit_gpu(const Trace& trace, GpuId gpu, std::span<const TrackId> tracks, TimeRange time, Nanoseconds threshold, Attribution& attribution,
                  const IdleVisitor& visitor, const std::stop_token& stop) {
  IdleOfOperations idle(threshold, attribution, visitor);
  idle.begin(gpu, GpuOperations::busy_until(trace, tracks, time.begin));
  GpuOperations operations(trace, tracks, time, stop);
  while (const std::optional<GpuOperation> operation = operations.next()) idle.visit({&*operation, 1});
  return idle.sums();
}

// Adds sums of the same GPU for the following stretch of time.
void add(GpuIdle& sums, const GpuIdle& behind) {
  if (behind.operations == 0) return;
  sums.extent = sums.operations == 0 ? behind.extent : TimeRange{sums.extent.begin, std::max(sums.extent.end, behind.extent.end)};
  sums.idle += behind.idle;
  sums.operations += behind.operations;
  sums.gaps += behind.gaps;
  sums.short_gaps += behind.short_gaps;
  sums.short_idle += behind.short_idle;
}

// Times that cut the GPU work into parts of about equal length; all times lie between the first and the last.
std::vector<Nanoseconds> cuts(const Trace& trace, std::size_t parts) {
  std::vector<Nanoseconds> starts;  // of segments, all of which have about the same number of events
  if (parts > 1)
    for (const Track& track : trace.tracks())
      if (is_gpu_work(track.key.kind))
        for (const LaneId id : track.lanes)
          for (std::size_t s = 0; s < trace.lane(id).segment_count(); ++s) starts.push_back(trace.lane(id).segment_start(s));
  std::sort(starts.begin(), starts.end());
  std::vector<Nanoseconds> times{std::numeric_limits<Nanoseconds>::min()};
  for (std::size_t part = 1; part < parts; ++part) times.push_back(starts.empty() ? times.front() : starts[starts.size() * part / parts]);
  times.push_back(std::numeric_limits<Nanoseconds>::max());
  return times;
}

}  // namespace

std::vector<GpuIdle> visit_idle(const Trace& trace, Nanoseconds threshold, const IdleVisitor& visitor, std::stop_token stop) {
  return visit_idle(trace, LaunchIndex(trace, stop), threshold, visitor, stop);
}

std::vector<GpuIdle> visit_idle(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, const IdleVisitor& visitor, std::stop_token stop) {
  return visit_idle_in_parts(trace, launches, threshold, {&visitor, 1}, std::move(stop));
}

std::vector<GpuIdle> visit_idle_in_parts(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, std::span<const IdleVisitor> visitors,
                                         std::stop_token stop) {
  const std::vector<Nanoseconds> times = cuts(trace, visitors.size());
  const GpuTracks tracks(trace);
  const Readings readings = find_readings(trace, launches, stop);
  std::vector<std::vector<GpuIdle>> parts(visitors.size());
  parallel_for(visitors.size(), [&](std::size_t part) {
    Attribution attribution(trace, launches, readings);
    for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu)
      parts[part].push_back(visit_gpu(trace, gpu, tracks.of(gpu), {times[part], times[part + 1]}, threshold, attribution, visitors[part], stop));
  });
  std::vector<GpuIdle> gpus;
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    GpuIdle sums;
    sums.gpu = gpu;
    for (const std::vector<GpuIdle>& part : parts) add(sums, part[gpu]);
    if (sums.operations > 0) gpus.push_back(sums);
  }
  return gpus;
}

std::vector<GpuIdle> visit_idle_beside(const Trace& trace, const LaunchIndex& launches, Nanoseconds threshold, std::span<const IdleVisitor> visitors,
                                       std::span<OperationVisitor* const> others, const std::stop_token& stop) {
  constexpr std::size_t kMostParts = 4;  // each has memos of the trace's names and threads
  const Readings readings = find_readings(trace, launches, stop);
  const std::size_t count = std::min<std::size_t>(usable_cores(), kMostParts);
  FoundGaps found;
  for (FoundGaps::Lists& lists : found.by_turn) lists.resize(count);
  std::vector<std::unique_ptr<OperationVisitor>> own;
  std::vector<GapFinder*> finders;
  for (std::size_t part = 0; part < count; ++part) {
    auto finder = std::make_unique<GapFinder>(trace, launches, readings, threshold, part, found);
    finders.push_back(finder.get());
    own.push_back(std::move(finder));
  }
  for (const IdleVisitor& visitor : visitors) own.push_back(std::make_unique<GapsPassedOn>(visitor, found));
  std::vector<OperationVisitor*> all;
  for (const auto& one : own) all.push_back(one.get());
  all.insert(all.end(), others.begin(), others.end());
  visit_operations(trace, GpuOperations::kEver, all, stop);
  std::vector<GpuIdle> gpus;
  for (GpuId gpu = 0; gpu < finders.front()->gpus().size(); ++gpu) {
    GpuIdle sums;
    sums.gpu = gpu;
    for (const GapFinder* const finder : finders) add(sums, finder->gpus()[gpu]);
    if (sums.operations > 0) gpus.push_back(sums);
  }
  return gpus;
}

std::unique_ptr<OperationVisitor> gaps_that_touch(const Trace& trace, const LaunchIndex& launches, std::vector<TimeRange> times, IdleVisitor visitor,
                                                  const std::stop_token& stop) {
  return std::make_unique<GapsThatTouch>(trace, launches, std::move(times), std::move(visitor), stop);
}

std::vector<GpuIdle> visit_idle_within(const Trace& trace, const LaunchIndex& launches, TimeRange window, Nanoseconds threshold, const IdleVisitor& visitor,
                                       const std::stop_token& stop) {
  std::vector<GpuIdle> gpus;
  const Readings readings = find_readings(trace, launches, stop);
  Attribution attribution(trace, launches, readings);
  const GpuTracks tracks_of_gpus(trace);
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    const std::span<const TrackId> tracks = tracks_of_gpus.of(gpu);
    if (tracks.empty()) continue;
    GpuIdle within;
    std::vector<IdlePart> cut;
    const auto visit = [&](const IdleGap& whole, std::span<const IdlePart> parts) {
      IdleGap gap = whole;
      gap.range = whole.range.intersected(window);
      if (gap.range.empty()) return;
      within.idle += gap.range.length();
      if (whole.range.length() < threshold) {
        ++within.short_gaps;
        within.short_idle += gap.range.length();
        return;
      }
      ++within.gaps;
      cut.clear();
      for (IdlePart part : parts) {
        part.range = part.range.intersected(window);
        if (!part.range.empty()) cut.push_back(part);
      }
      visitor(gap, cut);
    };
    // The gap in which the window ends is ended by an operation after the window.
    TimeRange time = window;
    if (const auto behind = GpuOperations(trace, tracks, {window.end, std::numeric_limits<Nanoseconds>::max()}, stop).next())
      time.end = behind->range.begin + 1;
    const GpuIdle sums = visit_gpu(trace, gpu, tracks, time, 1, attribution, visit, stop);
    within.gpu = gpu;
    within.extent = sums.extent;
    if (GpuOperations::busy_until(trace, tracks, window.begin)) within.extent.begin = window.begin;  // its first operation started before the window
    within.extent = within.extent.intersected(window);
    within.operations = sums.operations;
    for (GpuOperations behind(trace, tracks, {window.end, time.end}, stop); within.operations > 0 && behind.next();) --within.operations;
    if (!within.extent.empty()) gpus.push_back(within);
  }
  return gpus;
}

IdleCause Bubble::main_cause() const noexcept { return analysis::main_cause(parts); }

Bubbles find_bubbles(const Trace& trace, Nanoseconds threshold, std::stop_token stop) {
  Bubbles found;
  found.gpus = visit_idle(
      trace, threshold,
      [&](const IdleGap& gap, std::span<const IdlePart> parts) {
        found.bubbles.push_back({gap, {parts.begin(), parts.end()}});
      },
      stop);
  return found;
}

}  // namespace lanescope::analysis
