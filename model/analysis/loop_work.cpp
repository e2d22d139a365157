#include "loop_work.h"

#include "own_rules.h"
#include "wording.h"

namespace lanescope::analysis {

LoopWork::LoopWork(const RuleContext& context, Families& families)
    : context_(context), families_(families), loop_(loop_of(context, families)) {
  if (!loop_.known()) return;
  for (const Track& track : context.trace.tracks()) {
    const std::optional<TimeRange> loop = loop_.of(track.key.process);
    if (!loop || !is_gpu_work(track.key.kind)) continue;
    TimeRange& time = gpus_.try_emplace(track.key.gpu, *loop).first->second;
    time = {std::min(time.begin, loop->begin), std::max(time.end, loop->end)};
    for (const LaneId id : track.lanes) {
      const Lane& lane = context.trace.lane(id);
      for (EventIndex i = lane.size(); i > 0 && lane.end(i - 1) > time.end; --i)
        if (has({id, i - 1})) time.end = lane.end(i - 1);
    }
  }
}

TimeRange LoopWork::of_gpu(GpuId gpu, TimeRange extent) const noexcept {
  const auto time = gpus_.find(gpu);
  return time == gpus_.end() ? extent : extent.intersected(time->second);
}

bool LoopWork::has(EventRef operation) const {
  const ProcessId process = context_.trace.track_of(operation.lane).key.process;
  const std::optional<TimeRange> loop = loop_.of(process);
  if (!loop) return true;
  const Lane& lane = context_.trace.lane(operation.lane);
  const Nanoseconds begin = lane.start(operation.index);
  if (begin < loop->begin) return false;
  if (begin < loop->end) return true;
  const EventRef launch = context_.launches().find(process, lane.correlation(operation.index), begin);
  return launch.valid() && context_.trace.lane(launch.lane).start(launch.index) < loop->end;
}

bool LoopWork::has(const IdleGap& gap, const IdlePart& part) const {
  const Nanoseconds enqueued = gap.launch.valid() ? context_.trace.lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
  const ProcessId process = context_.trace.track_of(gap.next.lane).key.process;
  return loop_.recurrence(process, part.range.begin, enqueued) == Recurrence::kRecurring;
}

std::vector<RankWork> LoopWork::of_ranks() const {
  const auto counts = [this](EventRef operation) { return has(operation); };
  std::vector<RankWork> ranks = loop_.known() ? rank_work(context_.trace, context_.time, counts, context_.stop)
                                              : rank_work(context_.trace, context_.time, {}, context_.stop);
  if (!loop_.known()) return ranks;
  for (RankWork& rank : ranks)
    if (const std::optional<TimeRange> loop = loop_.of(rank.process)) rank.extent = {loop->begin, std::max(loop->end, rank.extent.end)};
  return ranks;
}

std::string loop_time_text(const Families& families, const Loop& loop) {
  if (!loop.known()) return "the time";
  return loop.family() == 0 ? "the time in which its work repeats" : loop_text(families.text(loop.family()));
}

}  // namespace lanescope::analysis
