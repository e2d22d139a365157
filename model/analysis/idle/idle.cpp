#include "model/analysis/idle/idle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "attribution.h"
#include "gpu_operations.h"
#include "model/trace/storage/interval_union.h"
#include "model/trace/workers/parallel.h"
#include "model/trace/workers/usable_cores.h"

namespace lanescope::analysis {
namespace {

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

// The sums of each GPU that has operations, of parts that follow each other.
std::vector<GpuIdle> sums_of_gpus(const std::vector<std::span<const GpuIdle>>& parts) {
  const std::size_t count = parts.empty() ? 0 : parts.front().size();
  std::vector<GpuIdle> gpus;
  for (GpuId gpu = 0; gpu < count; ++gpu) {
    GpuIdle sums;
    sums.gpu = gpu;
    for (const std::span<const GpuIdle> part : parts) add(sums, part[gpu]);
    if (sums.operations > 0) gpus.push_back(sums);
  }
  return gpus;
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
  return sums_of_gpus({parts.begin(), parts.end()});
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
  std::vector<std::span<const GpuIdle>> parts;
  for (const GapFinder* const finder : finders) parts.push_back(finder->gpus());
  return sums_of_gpus(parts);
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
