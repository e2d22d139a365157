#include "call_ranges.h"

#include "model/trace/workers/parallel.h"

namespace lanescope::stats {

CallRanges::CallRanges(const Selection& selection, std::map<ThreadId, std::vector<NvtxRange>> ranges)
    : ranges_(std::move(ranges)), lanes_(selection.trace().lanes().size()) {
  struct Work {
    LaneId lane;
    const std::vector<NvtxRange>* ranges;
  };
  std::vector<Work> work;
  selection.for_each_lane(TrackKind::kCudaApi, [&](const Track& track, LaneId lane) {
    if (const auto found = ranges_.find(track.key.thread); found != ranges_.end()) work.push_back({lane, &found->second});
  });
  parallel_for(work.size(), [&](std::size_t i) { lanes_[work[i].lane] = enclose(selection.trace().lane(work[i].lane), *work[i].ranges); });
}

CallRanges::Calls CallRanges::enclose(const Lane& lane, const std::vector<NvtxRange>& ranges) {
  Calls calls;
  calls.set_of_call.reserve(lane.size());
  EnclosingRanges enclosing(ranges);
  std::uint64_t known = 0;  // the state of the ranges from which the last set was made
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const auto segment = lane.segment(s);
    for (EventIndex i = 0; i < segment->size(); ++i) {
      const Nanoseconds begin = segment->start(i);
      const auto around = enclosing.around({begin, begin + segment->duration(i)});
      if (calls.sets.empty() || known != enclosing.changes()) {
        known = enclosing.changes();
        Set set{static_cast<std::uint32_t>(calls.members.size()), 0, 0};
        for (const std::size_t range : around) calls.members.push_back(&ranges[range]);
        set.last = static_cast<std::uint32_t>(calls.members.size());
        if (const std::size_t tightest = EnclosingRanges::tightest(ranges, around); tightest != kNoRange) set.innermost = ranges[tightest].name;
        calls.sets.push_back(set);
      }
      calls.set_of_call.push_back(static_cast<std::uint32_t>(calls.sets.size() - 1));
    }
  }
  return calls;
}

std::span<const NvtxRange* const> CallRanges::around(EventRef call) const {
  if (!call.valid() || lanes_[call.lane].set_of_call.empty()) return {};
  const Calls& calls = lanes_[call.lane];
  const Set& set = calls.sets[calls.set_of_call[call.index]];
  return std::span(calls.members).subspan(set.first, set.last - set.first);
}

NameId CallRanges::innermost(EventRef call) const {
  if (!call.valid() || lanes_.empty() || lanes_[call.lane].set_of_call.empty()) return 0;
  const Calls& calls = lanes_[call.lane];
  return calls.sets[calls.set_of_call[call.index]].innermost;
}

}  // namespace lanescope::stats
