#include "awaited_work.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop_work.h"
#include "threads/call_class.h"
#include "threads/lane_cursor.h"
#include "threads/thread_activity.h"

namespace lanescope::analysis {
namespace {

constexpr Nanoseconds kShortestGap = 5'000;        // between operations of a full queue
constexpr Nanoseconds kLaunchLatency = 10'000;     // between the end of a call and its work on an empty GPU
constexpr Nanoseconds kBetweenQuestions = 50'000;  // of a thread that asks repeatedly whether the GPU is done
constexpr std::size_t kMostThreads = 64;           // of a process, that are looked at for each gap

}  // namespace

// Works on one GPU, whose operations must come in order of start.
class AwaitedWork::Sections {
 public:
  Sections(const Trace& trace, const LaunchIndex& launches, std::map<KernelsOfGpu, Times>& times)
      : trace_(trace),
        launches_(launches),
        times_(times),
        names_(trace),
        tracks_(trace),
        threads_(trace.threads().size()),
        ends_waits_outside_of_calls_(ends_waits_outside_of_calls(trace)) {}

  void begin(GpuId gpu) { gpu_ = gpu; }

  // Called for the operation that ends a gap, or follows without one.
  void move_to(const GpuOperation& operation) {
    if (!end_) begin_ = operation.range.begin;
    if (end_ && operation.range.begin - *end_ >= kShortestGap) cut({*end_, operation.range.begin}, operation);
    end_ = std::max(end_.value_or(operation.range.end), operation.range.end);
  }

  void add(NameId kernel, Nanoseconds duration) { section_[kernel] += duration; }

  // Called if nothing is known of what follows.
  void finish() {
    if (end_) close(*end_ - begin_);
    end_.reset();
  }

 private:
  // Adds the section's work; `waited` is the time for which it was awaited.
  void close(Nanoseconds waited) {
    for (const auto& [kernel, time] : section_) {
      Times& times = times_[{gpu_, kernel}];
      times.total += time;
      if (waited == 0) continue;
      times.awaited += time;
      times.waited += waited;
    }
    section_.clear();
  }

  void cut(TimeRange gap, const GpuOperation& next) {
    const std::optional<Nanoseconds> waited = waited_for(gap, next);
    if (!waited) return;  // the following operation had been enqueued: the GPU went on by itself
    close(*waited);
    begin_ = gap.end;
  }

  // For how long a thread had waited for the section's work when the gap started; nothing if the next operation had been enqueued by then.
  std::optional<Nanoseconds> waited_for(TimeRange gap, const GpuOperation& next) {
    const Nanoseconds all = gap.begin - begin_;
    const EventRef launch = launches_.find(next.process, next.correlation, next.range.begin);
    if (!launch.valid()) return all;
    const Lane& calls = trace_.lane(launch.lane);
    if (calls.end(launch.index) + kLaunchLatency <= gap.begin) return std::nullopt;
    if (const Nanoseconds waited = waited_in_calls(next.process, gap.begin); waited > 0) return std::min(waited, all);
    if (const Nanoseconds enqueuing = gap.begin - calls.start(launch.index); enqueuing >= 0) return enqueuing < kLongLaunch ? 0 : all;
    return goes_its_way(trace_.track_of(launch.lane).key, gap.begin) ? 0 : all;
  }

  // True if a thread may wait for the GPU outside of CUDA's calls: if the GPU calls functions of a process, or if pages of unified memory move.
  static bool ends_waits_outside_of_calls(const Trace& trace) {
    constexpr std::string_view kMigrations = "[CUDA memcpy Unified";
    for (NameId name = 0; name < trace.name_count(); ++name)
      if (enqueues_host_function(trace.name(name)) || trace.name(name).starts_with(kMigrations)) return true;
    return std::any_of(trace.tracks().begin(), trace.tracks().end(), [](const Track& track) { return track.key.kind == TrackKind::kPageFaults; });
  }

  // The longest time for which a thread of the process has been in a call that waits for the GPU, at t.
  Nanoseconds waited_in_calls(ProcessId process, Nanoseconds t) {
    const std::span<const TrackId> tracks = trace_.tracks_of(process, TrackKind::kCudaApi);
    if (tracks.size() > kMostThreads) return std::numeric_limits<Nanoseconds>::max();
    Nanoseconds longest = 0;
    for (const TrackId track : tracks) {
      const LaneId id = trace_.tracks()[track].lanes.front();  // of outermost calls
      LaneCursor& cursor = cursors_.try_emplace(id, trace_.lane(id)).first->second;
      const Lane& calls = cursor.lane();
      const EventIndex at = cursor.seek(t);
      if (at < calls.size() && calls.start(at) <= t && waits(calls.name(at), t - calls.start(at))) longest = std::max(longest, t - calls.start(at) + 1);
      if (at > 0 && t - calls.end(at - 1) <= kBetweenQuestions && asks_gpu(trace_.name(calls.name(at - 1)))) return std::numeric_limits<Nanoseconds>::max();
    }
    return longest;
  }

  // An asynchronous copy that takes long waits as well: pageable memory causes that.
  bool waits(NameId call, Nanoseconds since) {
    const CallClass kind = names_.cuda_call(call);
    if (kind == CallClass::kSynchronize || kind == CallClass::kCopy) return true;
    return since >= kLaunchLatency && trace_.name(call).find("Memcpy") != std::string_view::npos;
  }

  // True if a thread of the process was in a call at t that may wait for the GPU: calls that allocate, free or load code do so as well. Requires: at
  // most kMostThreads threads.
  bool any_in_setup(ProcessId process, Nanoseconds t) {
    const auto is_in_setup = [&](TrackId track) {
      const LaneId id = trace_.tracks()[track].lanes.front();
      LaneCursor& cursor = cursors_.try_emplace(id, trace_.lane(id)).first->second;
      const EventIndex at = cursor.seek(t);
      return at < cursor.lane().size() && cursor.lane().start(at) <= t && names_.cuda_call(cursor.lane().name(at)) == CallClass::kSetup;
    };
    const std::span<const TrackId> tracks = trace_.tracks_of(process, TrackKind::kCudaApi);
    return std::any_of(tracks.begin(), tracks.end(), is_in_setup);
  }

  // True if the thread did something of its own at t. False if it was held back by something that may depend on the GPU: in that case another thread of
  // its process is in a call that depends on it, or the GPU itself ends the wait.
  bool goes_its_way(const TrackKey& calls, Nanoseconds t) {
    const ThreadId thread = calls.thread;
    if (thread == kNone) return false;
    if (!threads_[thread]) threads_[thread] = std::make_unique<ThreadActivity>(trace_, tracks_, thread, names_);
    pieces_.clear();
    threads_[thread]->describe({t, t + 1}, pieces_);
    switch (pieces_.empty() ? IdleCause::kUnknown : pieces_.front().cause) {
      case IdleCause::kOsLock:
      case IdleCause::kOsSleep:
      case IdleCause::kOsQueue:
      case IdleCause::kOsOther:
      case IdleCause::kOsBlocked:
        return !ends_waits_outside_of_calls_ && !any_in_setup(calls.process, t);
      case IdleCause::kCpuCode:
      case IdleCause::kLaunch:
      case IdleCause::kOsIo:
      case IdleCause::kOsProcessor:
      case IdleCause::kOverhead:
        return true;
      default:
        return false;
    }
  }

  const Trace& trace_;
  const LaunchIndex& launches_;
  std::map<KernelsOfGpu, Times>& times_;
  NameClasses names_;
  ThreadTracks tracks_;
  std::vector<std::unique_ptr<ThreadActivity>> threads_;
  std::unordered_map<LaneId, LaneCursor> cursors_;
  std::vector<Activity> pieces_;
  const bool ends_waits_outside_of_calls_;
  GpuId gpu_ = kNone;
  Nanoseconds begin_ = 0;           // of the section
  std::optional<Nanoseconds> end_;  // of the work so far
  std::unordered_map<NameId, Nanoseconds> section_;
};

AwaitedWork::AwaitedWork(const Trace& trace, const LoopWork& work, const LaunchIndex& launches, TimeRange time, const std::stop_token& stop) {
  std::map<GpuId, std::set<ProcessId>> users;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind)) users[track.key.gpu].insert(track.key.process);
  Sections sections(trace, launches, times_);
  for (const auto& [gpu, processes] : users) {
    if (processes.size() > 1) continue;  // it is not examined whose thread waits for whose work
    if (work.with_readings().contains(gpu) && work.disturbed(*processes.begin()).empty()) continue;
    GpuOperations operations(trace, gpu, work.of_gpu(gpu, trace.extent()).intersected(time), stop);
    sections.begin(gpu);
    while (const std::optional<GpuOperation> operation = operations.next()) {
      const bool counts = operation->kind == TrackKind::kKernels && work.has(*operation);
      if (work.is_disturbed(operation->process, operation->range.begin)) {
        sections.finish();
        if (counts) times_[{gpu, operation->name}].disturbed += operation->range.length();
        continue;
      }
      sections.move_to(*operation);
      if (counts) sections.add(operation->name, operation->range.length());
    }
    sections.finish();
  }
  count_disturbed();
}

void AwaitedWork::count_disturbed() noexcept {
  for (auto& [kernel, times] : times_) {
    if (times.disturbed == 0) continue;
    const auto as_the_others = [&](Nanoseconds part) {
      if (times.total == 0) return times.disturbed;
      return static_cast<Nanoseconds>(static_cast<double>(part) / static_cast<double>(times.total) * static_cast<double>(times.disturbed));
    };
    const Nanoseconds awaited = as_the_others(times.awaited), waited = as_the_others(times.waited);
    times.awaited += awaited;
    times.waited += waited;
  }
}

Nanoseconds AwaitedWork::awaited_of(Nanoseconds saved, Nanoseconds time, std::span<const KernelsOfGpu> kernels) const {
  Times sum;
  for (const KernelsOfGpu& kernel : kernels) {
    const auto found = times_.find(kernel);
    if (found == times_.end()) return saved;
    sum.awaited += found->second.awaited;
    sum.waited += found->second.waited;
  }
  if (sum.awaited >= time) return std::min(saved, sum.waited);
  const double share = static_cast<double>(sum.awaited) / static_cast<double>(time);
  return std::min(static_cast<Nanoseconds>(share * static_cast<double>(saved)), sum.waited);
}

void tell_hidden(const AwaitedWork& awaited, Nanoseconds time, std::span<const KernelsOfGpu> kernels, Finding& finding) {
  if (finding.recurrence == Recurrence::kOnce || finding.cost <= 0) return;
  constexpr double kTold = 0.05;  // of the cost: a smaller part is not mentioned
  const Nanoseconds won = awaited.awaited_of(finding.cost, time, kernels);
  if (static_cast<double>(finding.cost - won) < kTold * static_cast<double>(finding.cost)) return;
  finding.hidden = finding.cost - won;
  const bool is_any = static_cast<double>(won) >= kTold * static_cast<double>(finding.cost);
  finding.seen = followed_by(finding.seen, is_any ? Message("The program waits for {time} of that at most; behind the rest, the GPU runs out of work, since "
                                                            "the CPU enqueues it too slowly.",
                                                            {{"time", duration_text(won)}})
                                                  : Message("The program hardly waits for it: behind these kernels the GPU runs out of work, since the CPU "
                                                            "enqueues it too slowly."));
}

}  // namespace lanescope::analysis
