#include "idle_groups.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "idle/gpu_operations.h"
#include "lost_lead.h"
#include "own_rules.h"
#include "threads/range_lookup.h"
#include "threads/thread_tracks.h"

namespace lanescope::analysis {
namespace {

// The families of the ranges around moments of idle time, from the outermost to the innermost, each once.
class Enclosing {
 public:
  Enclosing(const Trace& trace, Families& families) : trace_(trace), families_(families), ranges_(trace) {}

  // The families of the thread that launches next, at the start of the part.
  const std::vector<FamilyId>& of(ThreadId thread, const IdlePart& part) {
    if (part.nvtx.valid() && part.nvtx == innermost_) return found_;
    innermost_ = part.nvtx;
    open_.clear();
    found_.clear();
    ranges_.for_each(ranges_.owner(thread, part.range.begin), part.range.begin, [&](EventRef range) { open_.push_back(range); });
    std::sort(open_.begin(), open_.end(), [&](EventRef a, EventRef b) {
      const Nanoseconds a_start = trace_.lane(a.lane).start(a.index), b_start = trace_.lane(b.lane).start(b.index);
      return a_start != b_start ? a_start < b_start : trace_.lane(a.lane).end(a.index) > trace_.lane(b.lane).end(b.index);
    });
    for (const EventRef range : open_)
      if (const FamilyId family = families_.of(range); std::find(found_.begin(), found_.end(), family) == found_.end()) found_.push_back(family);
    return found_;
  }

 private:
  const Trace& trace_;
  Families& families_;
  RangeLookup ranges_;
  EventRef innermost_;
  std::vector<EventRef> open_;
  std::vector<FamilyId> found_;
};

// The outermost range inside the loop's range, or the outermost of all if the loop's is not among them; 0 if there is none.
FamilyId phase_of(const std::vector<FamilyId>& enclosing, FamilyId loop) {
  const auto found = std::find(enclosing.begin(), enclosing.end(), loop);
  const auto phase = found == enclosing.end() ? enclosing.begin() : found + 1;
  return phase == enclosing.end() ? 0 : *phase;
}

// True if the thread was blocked for something that another thread may have held or had to provide.
bool is_blocked(IdleCause cause) noexcept { return cause == IdleCause::kOsBlocked || cause == IdleCause::kOsLock || cause == IdleCause::kOsQueue; }

// Attributes idle time of a gap to the waits in front of it: first the end of a wait itself, then launching and the code between launches. In a long
// gap the thread did something other than launching, perhaps with the data for which it had waited. The lead lost by the waits is used up there, and
// the code is what to look at.
void lay_to_waits(LostLead& lead, const IdleGap& gap, const std::array<Nanoseconds, kIdleCauses>& in_gap, IdleGroups& collected) {
  const auto of = [&](IdleCause cause) { return in_gap[static_cast<std::size_t>(cause)]; };
  static_cast<void>(lead.take(gap, of(IdleCause::kSynchronize) + of(IdleCause::kCopy)));
  for (const IdleCause cause : {IdleCause::kCpuCode, IdleCause::kLaunch}) {
    const Nanoseconds due = lead.take(gap, of(cause));
    if (gap.range.length() <= kShortGap) collected.recurring[static_cast<std::size_t>(cause)].behind_waits += due;
  }
}

struct ShortGaps {
  CauseSum all;
  Nanoseconds undisturbed = 0;  // the part of that time outside of iterations in which counters were read
};

// Sums the gaps below the threshold that start in the loop's part of each GPU.
class ShortGapsInLoop : public OperationVisitor {
 public:
  ShortGapsInLoop(const Trace& trace, const LoopWork& work, Nanoseconds threshold) : work_(work), threshold_(threshold), gpus_(trace.gpus().size()) {}
  [[nodiscard]] const ShortGaps& of(GpuId gpu) const { return gpus_[gpu]; }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    time_ = work_.of_gpu(gpu, kWholeTrace);
    busy_until_.reset();
  }
  void visit(std::span<const GpuOperation> operations) override {
    ShortGaps& sum = gpus_[gpu_];
    for (const GpuOperation& operation : operations) {
      const Nanoseconds begin = busy_until_.value_or(operation.range.begin);
      const Nanoseconds gap = operation.range.begin - begin;
      if (gap > 0 && gap < threshold_ && time_.contains(begin)) {
        sum.all.add(gap);
        if (!work_.is_disturbed(operation.process, begin)) sum.undisturbed += gap;
      }
      busy_until_ = std::max(busy_until_.value_or(operation.range.end), operation.range.end);
    }
  }
  void end() override {}

 private:
  const LoopWork& work_;
  Nanoseconds threshold_;
  std::vector<ShortGaps> gpus_;
  GpuId gpu_ = kNone;  // the current GPU
  TimeRange time_;     // the loop's part of the GPU
  std::optional<Nanoseconds> busy_until_;
};

// Sorts parts of idle time into groups as they come.
class Grouping {
 public:
  Grouping(const RuleContext& context, Families& families, const LoopWork& work)
      : trace_(context.trace),
        families_(families),
        work_(work),
        loop_(work.loop()),
        samples_(context.trace),
        enclosing_(context.trace, families),
        lead_(context.trace, work.loop()) {
    sums_.time = context.time;
  }

  void add(const IdleGap& gap, std::span<const IdlePart> parts) {
    std::array<IdleGroups::OfGpu, 2>& of_gpu = sums_.by_gpu[gap.gpu];
    const ProcessId process = trace_.track_of(gap.next.lane).key.process;
    const ThreadId thread = gap.launch.valid() ? trace_.track_of(gap.launch.lane).key.thread : kNone;
    std::array<Nanoseconds, kIdleCauses> in_gap{};  // for recurring idle time
    Nanoseconds reading = 0;
    for (const IdlePart& part : parts) {
      const auto cause = static_cast<std::size_t>(part.cause);
      const Recurrence recurrence = work_.recurrence(gap, part);
      of_gpu[static_cast<std::size_t>(recurrence)].causes[cause].add(part.range.length());
      if (is_reading(gap, part)) {
        sums_.reading += recurrence == Recurrence::kRecurring ? part.range.length() : 0;
        reading += part.range.length();
      } else if (recurrence == Recurrence::kRecurring) {
        in_gap[cause] += part.range.length();
        add_recurring(part, process, thread);
      } else {
        sums_.once.add(part.range.length());
      }
      Group& group = group_of(recurrence, gap, part);
      add(group, gap, part.range);
      if (part.cause != IdleCause::kCpuCode || thread == kNone) continue;
      samples_.count(thread, part.range, group.samples);
      group.ran.insert(process);
    }
    if (gap.launch.valid()) lay_to_waits(lead_, gap, in_gap, sums_);
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      if (in_gap[i] == 0) continue;
      sums_.recurring[i].all.add(gap, in_gap[i], reading, waits_of(process));
      sums_.recurring[i].gpus[gap.gpu].add(gap, in_gap[i], reading, waits_of(process));
    }
  }

  // Returns everything that the parts determine. Nothing may be added afterwards.
  [[nodiscard]] IdleGroups take() {
    sums_.waiting_call = lead_.call();
    for (const auto& [key, group] : groups_) {
      sums_.groups.push_back(group);
      if (group.recurrence == Recurrence::kOnce) continue;
      CauseInLoop& cause = sums_.recurring[static_cast<std::size_t>(group.cause)];
      for (const auto& [chain, count] : group.samples) cause.samples[chain] += count;
      cause.ran.insert(group.ran.begin(), group.ran.end());
    }
    std::stable_sort(sums_.groups.begin(), sums_.groups.end(), [](const Group& a, const Group& b) { return a.total > b.total; });
    return std::move(sums_);
  }

 private:
  [[nodiscard]] GapsOfCause::Waits waits_of(ProcessId process) {
    const auto [known, is_new] = waits_.try_emplace(process, GapsOfCause::Waits::kAreNotShown);
    if (is_new && shows_waits(trace_, process)) known->second = GapsOfCause::Waits::kAreShown;
    return known->second;
  }
  void add_recurring(const IdlePart& part, ProcessId process, ThreadId thread) {
    CauseInLoop& cause = sums_.recurring[static_cast<std::size_t>(part.cause)];
    cause.calls[part.call] += part.range.length();
    if (thread == kNone) return;
    if (is_blocked(part.cause)) cause.still.add(thread, part.range);
    const std::vector<FamilyId>& around = enclosing_.of(thread, part);
    // A range around the iterations, such as an epoch, says nothing about where in them the time is.
    const auto iteration = std::find(around.begin(), around.end(), loop_.family(process));
    for (auto depth = static_cast<std::size_t>(iteration == around.end() ? 0 : iteration - around.begin()); depth < around.size(); ++depth) {
      CauseInLoop::Within& within = cause.within[around[depth]];
      within.time += part.range.length();
      within.depth = std::max(within.depth, depth);
    }
    cause.phases[phase_of(around, loop_.family(process))] += part.range.length();
  }

  // Counters of kernels were read, as was asked for.
  [[nodiscard]] bool is_reading(const IdleGap& gap, const IdlePart& part) const {
    return part.cause == IdleCause::kOverhead && work_.with_readings().contains(gap.gpu);
  }

  // The next part of a cause is mostly in the same group as its previous one.
  Group& group_of(Recurrence recurrence, const IdleGap& gap, const IdlePart& part) {
    const bool is_reading = this->is_reading(gap, part);
    const FamilyId family = families_.of(part.nvtx);
    Group*& last = last_[static_cast<std::size_t>(part.cause)];
    if (last != nullptr && last->recurrence == recurrence && last->family == family && last->call == part.call && last->is_reading == is_reading) return *last;
    last = &groups_[{recurrence, part.cause, family, part.call, is_reading}];
    last->recurrence = recurrence;
    last->cause = part.cause;
    last->family = family;
    last->call = part.call;
    last->is_reading = is_reading;
    return *last;
  }

  static void add(Group& group, const IdleGap& gap, TimeRange part) {
    ++group.parts;
    group.total += part.length();
    if (part.length() > group.longest) {
      group.longest = part.length();
      group.longest_gap = gap;
    }
    Group::OfGpu& of_gpu = group.by_gpu[gap.gpu];
    ++of_gpu.parts;
    of_gpu.total += part.length();
    if (part.length() > of_gpu.longest) {
      of_gpu.longest = part.length();
      of_gpu.longest_gap_begin = gap.range.begin;
    }
  }

  const Trace& trace_;
  Families& families_;
  const LoopWork& work_;
  const Loop& loop_;
  const samples::ThreadSamples samples_;
  Enclosing enclosing_;
  LostLead lead_;
  IdleGroups sums_;
  std::map<std::tuple<Recurrence, IdleCause, FamilyId, NameId, bool>, Group> groups_;
  std::array<Group*, kIdleCauses> last_{};  // for each cause
  std::unordered_map<ProcessId, GapsOfCause::Waits> waits_;
};

// Adds the time of the loop on each GPU, and the idle time below the threshold.
void add_spans(const LoopWork& work, const ShortGapsInLoop& short_gaps, IdleGroups& sums) {
  for (const GpuIdle& gpu : sums.gpus) {
    const TimeRange loop_time = work.of_gpu(gpu.gpu, gpu.extent);
    sums.spans[gpu.gpu] = work.undisturbed_span(gpu.gpu, loop_time);
    sums.span += sums.spans[gpu.gpu];
    const CauseSum all{gpu.short_gaps, gpu.short_idle};
    const ShortGaps in_loop = work.loop().known() ? short_gaps.of(gpu.gpu) : ShortGaps{all, all.total};
    sums.short_idle += in_loop.undisturbed;
    std::array<IdleGroups::OfGpu, 2>& of_gpu = sums.by_gpu[gpu.gpu];
    of_gpu[static_cast<std::size_t>(Recurrence::kRecurring)].in_short_gaps = in_loop.all;
    of_gpu[static_cast<std::size_t>(Recurrence::kOnce)].in_short_gaps = {all.parts - in_loop.all.parts, all.total - in_loop.all.total};
  }
}

}  // namespace

void GapsOfCause::add(const IdleGap& gap, Nanoseconds part, Nanoseconds reading_in_gap, Waits waits) {
  ++gaps;
  total += part;
  if (waits == Waits::kAreNotShown) without_waits += part;
  if (gap.range.length() <= kShortGap) in_short_gaps += part;
  if (part <= longest) return;
  longest = part;
  longest_gap = gap;
  reading = reading_in_gap;
}

IdleGroups group_idle(const RuleContext& context, Families& families, const LoopWork& work, Nanoseconds threshold) {
  Grouping grouping(context, families, work);
  ShortGapsInLoop short_gaps(context.trace, work, threshold);
  OperationVisitor* const beside = &short_gaps;
  std::vector<GpuIdle> gpus = visit_idle(context, threshold, [&grouping](const IdleGap& gap, std::span<const IdlePart> parts) { grouping.add(gap, parts); },
                                         {&beside, work.loop().known() ? std::size_t{1} : 0});
  IdleGroups sums = grouping.take();
  sums.gpus = std::move(gpus);
  add_spans(work, short_gaps, sums);
  return sums;
}

}  // namespace lanescope::analysis
