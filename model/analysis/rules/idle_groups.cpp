#include "idle_groups.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "../own_rules.h"
#include "idle/gpu_operations.h"
#include "lost_lead.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

// The families of the ranges around moments of idle time, from the outermost to the innermost, each once.
class Enclosing {
 public:
  Enclosing(const Trace& trace, Families& families) : trace_(trace), families_(families), ranges_(trace) {}

  // Those of the thread that launches next, at the beginning of the part.
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

// The outermost range inside the loop's, or of all where the loop's is not among them; 0 where there is none.
FamilyId phase_of(const std::vector<FamilyId>& enclosing, FamilyId loop) {
  const auto found = std::find(enclosing.begin(), enclosing.end(), loop);
  const auto phase = found == enclosing.end() ? enclosing.begin() : found + 1;
  return phase == enclosing.end() ? 0 : *phase;
}

// Whether the thread stood still for what another one may have held or owed.
bool is_blocked(IdleCause cause) noexcept { return cause == IdleCause::kOsBlocked || cause == IdleCause::kOsLock || cause == IdleCause::kOsQueue; }

// Lays idle time of a gap to the waits in front of it: the end of a wait itself first, then launching and the code between. In a long gap the thread did
// something else than to launch, perhaps with what it had waited for: what the waits cost is used up there, and the code is what to look at.
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
  Nanoseconds undisturbed = 0;  // what of their time lies outside of iterations in which counters were read
};

// Of the gaps below the threshold, those that begin in the loop's part of each GPU.
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
  GpuId gpu_ = kNone;  // that is gone through
  TimeRange time_;     // the loop's part of it
  std::optional<Nanoseconds> busy_until_;
};

}  // namespace

void GapsOfCause::add(const IdleGap& gap, Nanoseconds part) {
  ++gaps;
  total += part;
  if (gap.range.length() <= kShortGap) in_short_gaps += part;
  if (part <= longest) return;
  longest = part;
  longest_gap = gap;
}

IdleGroups group_idle(const RuleContext& context, Families& families, const LoopWork& work, Nanoseconds threshold) {
  const Trace& trace = context.trace;
  const Loop& loop = work.loop();
  IdleGroups collected;
  collected.time = context.time;
  collected.are_counters_read = reads_counters(trace);
  const samples::ThreadSamples samples(trace);
  Enclosing enclosing(trace, families);
  LostLead lead(trace, loop);
  std::map<std::tuple<Recurrence, IdleCause, FamilyId, NameId>, Group> groups;
  std::array<Group*, kIdleCauses> last{};  // of each cause, the group of its last part: the next mostly is of the same
  const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    std::array<IdleGroups::OfGpu, 2>& of_gpu = collected.by_gpu[gap.gpu];
    const Nanoseconds enqueued = gap.launch.valid() ? trace.lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
    const ProcessId process = trace.track_of(gap.next.lane).key.process;
    const ThreadId thread = gap.launch.valid() ? trace.track_of(gap.launch.lane).key.thread : kNone;
    std::array<Nanoseconds, kIdleCauses> in_gap{};  // of what recurs
    for (const IdlePart& part : parts) {
      const Recurrence recurrence = loop.recurrence(process, part.range.begin, enqueued);
      of_gpu[static_cast<std::size_t>(recurrence)].causes[static_cast<std::size_t>(part.cause)].add(part.range.length());
      if (recurrence == Recurrence::kOnce) {
        if (part.cause != IdleCause::kOverhead || !collected.are_counters_read) collected.once.add(part.range.length());
      } else {
        CauseInLoop& cause = collected.recurring[static_cast<std::size_t>(part.cause)];
        in_gap[static_cast<std::size_t>(part.cause)] += part.range.length();
        cause.calls[part.call] += part.range.length();
        if (thread != kNone && is_blocked(part.cause)) cause.still.add(thread, part.range);
        if (thread != kNone) {
          const std::vector<FamilyId>& around = enclosing.of(thread, part);
          for (std::size_t depth = 0; depth < around.size(); ++depth) {
            CauseInLoop::Within& within = cause.within[around[depth]];
            within.time += part.range.length();
            within.depth = std::max(within.depth, depth);
          }
          cause.phases[phase_of(around, loop.family())] += part.range.length();
        }
      }
      const FamilyId family = families.of(part.nvtx);
      Group*& same = last[static_cast<std::size_t>(part.cause)];
      if (same == nullptr || same->recurrence != recurrence || same->family != family || same->call != part.call)
        same = &groups[{recurrence, part.cause, family, part.call}];
      Group& group = *same;
      group.recurrence = recurrence;
      group.cause = part.cause;
      group.family = family;
      group.call = part.call;
      ++group.parts;
      group.total += part.range.length();
      if (part.cause == IdleCause::kCpuCode) samples.count(thread, part.range, group.samples);
      if (part.range.length() > group.longest) {
        group.longest = part.range.length();
        group.longest_gap = gap;
      }
      Group::OfGpu& of_this_gpu = group.by_gpu[gap.gpu];
      ++of_this_gpu.parts;
      of_this_gpu.total += part.range.length();
      if (part.range.length() > of_this_gpu.longest) {
        of_this_gpu.longest = part.range.length();
        of_this_gpu.longest_gap_begin = gap.range.begin;
      }
    }
    if (gap.launch.valid()) lay_to_waits(lead, gap, in_gap, collected);
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      if (in_gap[i] == 0) continue;
      collected.recurring[i].all.add(gap, in_gap[i]);
      collected.recurring[i].gpus[gap.gpu].add(gap, in_gap[i]);
    }
  };
  ShortGapsInLoop short_gaps(trace, work, threshold);
  OperationVisitor* const beside = &short_gaps;
  collected.gpus = visit_idle(context, threshold, add, {&beside, loop.known() ? std::size_t{1} : 0});
  collected.waiting_call = lead.call();
  for (const GpuIdle& gpu : collected.gpus) {
    const TimeRange loop_time = work.of_gpu(gpu.gpu, gpu.extent);
    collected.spans[gpu.gpu] = work.undisturbed_span(gpu.gpu, loop_time);
    collected.span += collected.spans[gpu.gpu];
    const CauseSum all{gpu.short_gaps, gpu.short_idle};
    const ShortGaps in_loop = loop.known() ? short_gaps.of(gpu.gpu) : ShortGaps{all, all.total};
    collected.short_idle += in_loop.undisturbed;
    std::array<IdleGroups::OfGpu, 2>& of_gpu = collected.by_gpu[gpu.gpu];
    of_gpu[static_cast<std::size_t>(Recurrence::kRecurring)].in_short_gaps = in_loop.all;
    of_gpu[static_cast<std::size_t>(Recurrence::kOnce)].in_short_gaps = {all.parts - in_loop.all.parts, all.total - in_loop.all.total};
  }
  for (const auto& [key, group] : groups) {
    collected.groups.push_back(group);
    if (group.recurrence == Recurrence::kOnce) continue;
    samples::ChainCounts& all = collected.recurring[static_cast<std::size_t>(group.cause)].samples;
    for (const auto& [chain, count] : group.samples) all[chain] += count;
  }
  std::stable_sort(collected.groups.begin(), collected.groups.end(), [](const Group& a, const Group& b) { return a.total > b.total; });
  return collected;
}

}  // namespace lanescope::analysis
