#include "nvtx_ranges.h"

#include <algorithm>
#include <functional>

namespace lanescope::stats {
namespace {

void collect(const Selection& selection, TrackKind kind, std::map<ThreadId, std::vector<NvtxRange>>& threads) {
  selection.for_each(kind, [&](const Track& track, const EventView& event) {
    if (kind == TrackKind::kNvtxProcessRanges) {
      const ThreadId end_thread = selection.trace().nvtx_detail(event.detail()).end_thread;
      if (end_thread != kNone && end_thread != track.key.thread) return;
    }
    NvtxRange range;
    range.time = {event.start(), event.end()};
    range.name = event.name();
    range.domain = track.key.domain;
    range.detail = event.detail();
    range.kind = kind;
    range.id = event.correlation();
    threads[track.key.thread].push_back(range);
  });
}

// Ranges of recordings without range numbers are numbered by start.
void number(std::map<ThreadId, std::vector<NvtxRange>>& threads) {
  std::vector<NvtxRange*> unnumbered;
  for (auto& [thread, ranges] : threads)
    for (NvtxRange& range : ranges)
      if (range.id == 0) unnumbered.push_back(&range);
  std::stable_sort(unnumbered.begin(), unnumbered.end(), [](const NvtxRange* a, const NvtxRange* b) {
    return a->time.begin != b->time.begin ? a->time.begin < b->time.begin : a->time.end > b->time.end;
  });
  std::int64_t id = 0;
  for (NvtxRange* range : unnumbered) range->id = ++id;
}

// Keeps ranges at places 0, 1, and so on, and answers which of those up to a place is the tightest; of equal ones the last that was added. O(log
// places) each, because a node of the tree (a Fenwick tree) holds the tightest of the places up to its own, as many as the lowest set bit of its number
// says.
class TightestBefore {
 public:
  TightestBefore(std::span<const NvtxRange> ranges, std::size_t places) : ranges_(ranges), nodes_(places + 1, kNoRange) {}

  // Requires: `range` is larger than all that were added before.
  void add(std::size_t place, std::size_t range) {
    for (std::size_t node = place + 1; node < nodes_.size(); node += node & (~node + 1)) nodes_[node] = tighter(nodes_[node], range);
  }
  [[nodiscard]] std::size_t up_to(std::size_t place) const {
    std::size_t found = kNoRange;
    for (std::size_t node = place + 1; node > 0; node &= node - 1) found = tighter(found, nodes_[node]);
    return found;
  }

 private:
  [[nodiscard]] std::size_t tighter(std::size_t a, std::size_t b) const {
    if (a == kNoRange || b == kNoRange) return std::min(a, b);  // kNoRange is larger than all other numbers
    const Nanoseconds of_a = ranges_[a].time.length(), of_b = ranges_[b].time.length();
    return of_a != of_b ? (of_a < of_b ? a : b) : std::max(a, b);
  }

  std::span<const NvtxRange> ranges_;
  std::vector<std::size_t> nodes_;
};

void nest(std::vector<NvtxRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NvtxRange& a, const NvtxRange& b) {
    if (a.time.begin != b.time.begin) return a.time.begin < b.time.begin;
    if (a.time.end != b.time.end) return a.time.end > b.time.end;
    return a.id < b.id;
  });
  // For each end that a range has: the tightest of the ranges that started before and end then or later.
  std::vector<Nanoseconds> ends;
  for (const NvtxRange& range : ranges) ends.push_back(range.time.end);
  std::sort(ends.begin(), ends.end(), std::greater<>());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  TightestBefore tightest(ranges, ends.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    NvtxRange& range = ranges[i];
    const auto place = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), range.time.end, std::greater<>()) - ends.begin());
    range.parent = static_cast<std::uint32_t>(tightest.up_to(place));
    tightest.add(place, i);
    if (range.parent == kNoRange) continue;
    NvtxRange& parent = ranges[range.parent];
    range.level = parent.level + 1;
    ++parent.children;
    parent.children_time += range.time.length();
  }
}

}  // namespace

std::map<ThreadId, std::vector<NvtxRange>> ranges_by_thread(const Selection& selection, RangeKinds kinds) {
  std::map<ThreadId, std::vector<NvtxRange>> threads;
  collect(selection, TrackKind::kNvtxRanges, threads);
  if (kinds == RangeKinds::kAll) collect(selection, TrackKind::kNvtxProcessRanges, threads);
  number(threads);
  for (auto& [thread, ranges] : threads) nest(ranges);
  return threads;
}

std::span<const std::size_t> EnclosingRanges::around(TimeRange call) {
  if (is_like_last(call)) return enclosing_;
  ++changes_;
  while (next_ < ranges_.size() && ranges_[next_].time.begin <= call.begin) open_.push_back(next_++);
  std::erase_if(open_, [&](std::size_t i) { return ranges_[i].time.end < call.begin; });
  enclosing_.clear();
  Nanoseconds first_end = std::numeric_limits<Nanoseconds>::max();
  for (const std::size_t i : open_) {
    first_end = std::min(first_end, ranges_[i].time.end);
    if (ranges_[i].time.end >= call.end) enclosing_.push_back(i);
  }
  const bool all_enclose = enclosing_.size() == open_.size();
  answer_holds_until_ = all_enclose ? first_end : std::numeric_limits<Nanoseconds>::min();
  return enclosing_;
}

std::size_t EnclosingRanges::tightest(std::span<const NvtxRange> ranges, std::span<const std::size_t> some) {
  std::size_t tightest = kNoRange;
  for (const std::size_t i : some)
    if (tightest == kNoRange || ranges[i].time.length() <= ranges[tightest].time.length()) tightest = i;
  return tightest;
}

std::string range_name(const Trace& trace, ProcessId process, std::uint32_t domain, NameId name) {
  std::string text(trace.domain_name(process, domain));
  text += ':';
  text += trace.name(name);
  return text;
}

std::string_view style_name(TrackKind kind) noexcept { return kind == TrackKind::kNvtxRanges ? "PushPop" : "StartEnd"; }

}  // namespace lanescope::stats
