#include "timeline/core/lanes/segment_sums.h"

#include <algorithm>
#include <optional>

#include "key_slots.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/parallel.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {
namespace {

using Sum = SegmentSums::Sum;

// Adds up durations by key.
class Totals {
 public:
  explicit Totals(std::size_t events) : slots_(events) {}
  void add(std::uint32_t key, Nanoseconds duration) {
    std::uint32_t& slot = slots_.slot(key);
    if (slot == KeySlots::kNew) {
      slot = static_cast<std::uint32_t>(sums_.size());
      sums_.push_back({key, 0});
    }
    sums_[slot].total += duration;
  }
  [[nodiscard]] std::vector<Sum> take() {
    std::sort(sums_.begin(), sums_.end(), [](const Sum& a, const Sum& b) { return a.key < b.key; });
    return std::move(sums_);
  }

 private:
  KeySlots slots_;  // indexes into sums_
  std::vector<Sum> sums_;
};

// There may be as many details as events, so their ids are not small.
std::vector<Sum> sums_by_detail(const LaneSegment& segment) {
  std::vector<Sum> sums;
  for (EventIndex i = 0; i < segment.size(); ++i) sums.push_back({segment.detail(i), segment.duration(i)});
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.key < b.key; });
  std::size_t kept = 0;
  for (const Sum& each : sums) {
    if (kept > 0 && sums[kept - 1].key == each.key)
      sums[kept - 1].total += each.total;
    else
      sums[kept++] = each;
  }
  sums.resize(kept);
  return sums;
}

std::vector<Sum> sums_of(const Trace& trace, const LaneSegment& segment, SegmentSums::By by) {
  if (by == SegmentSums::By::kDetail) return sums_by_detail(segment);
  Totals totals(segment.size());
  for (EventIndex i = 0; i < segment.size(); ++i) {
    const std::uint32_t key = by == SegmentSums::By::kName ? segment.name(i) : static_cast<std::uint32_t>(memory_class(trace.memory_detail(segment.detail(i))));
    totals.add(key, segment.duration(i));
  }
  return totals.take();
}

// From what a head has of each name; nothing if it does not say enough.
std::optional<std::vector<Sum>> known_sums_of(const Trace& trace, std::span<const NameTime> names, SegmentSums::By by) {
  if (names.empty() || by == SegmentSums::By::kDetail) return std::nullopt;
  Totals totals(names.size());
  for (const NameTime& each : names) {
    const std::optional<MemoryClass> operation = by == SegmentSums::By::kMemoryClass ? memory_class_of(trace.name(each.name)) : std::nullopt;
    if (by == SegmentSums::By::kMemoryClass && !operation) return std::nullopt;
    totals.add(operation ? static_cast<std::uint32_t>(*operation) : each.name, each.total);
  }
  return totals.take();
}

}  // namespace

std::vector<Sum> SegmentSums::of_lane(const Trace& trace, LaneId lane, By by) {
  struct Unknown {
    Entry* entry;
    std::size_t segment;
  };
  std::vector<Unknown> unknown;
  const Lane& of = trace.lane(lane);
  const DemandedSegments* demanded = demanded_segments(of);
  for (std::size_t segment = 0; segment < of.segment_count(); ++segment) {
    const auto entry = entries_.find(of.segment_identity(segment));
    if (entry != entries_.end()) {
      entry->second.used = true;
      continue;
    }
    auto known = demanded != nullptr ? known_sums_of(trace, demanded->bounds()[segment].names, by) : std::nullopt;
    if (decoding_ == Decoding::kMayNot && !known && !of.holds_segments()) continue;
    Entry& added = entries_[of.segment_identity(segment)];
    added.used = true;
    if (known)
      added.sums = std::make_shared<const std::vector<Sum>>(*std::move(known));
    else
      unknown.push_back({&added, segment});
  }
  work_in_parts(unknown.size(), [&](std::size_t index) {
    std::shared_ptr<const LaneSegment> segment = of.segment(unknown[index].segment);
    unknown[index].entry->sums = std::make_shared<const std::vector<Sum>>(sums_of(trace, *segment, by));
    if (of.holds_segments()) unknown[index].entry->segment = std::move(segment);
  });
  if (of.segment_count() == 1)
    if (const auto found = entries_.find(of.segment_identity(0)); found != entries_.end()) return *found->second.sums;
  Totals totals(of.size());
  for (std::size_t segment = 0; segment < of.segment_count(); ++segment)
    if (const auto found = entries_.find(of.segment_identity(segment)); found != entries_.end())
      for (const Sum& sum : *found->second.sums) totals.add(sum.key, sum.total);
  return totals.take();
}

void SegmentSums::forget_unused() {
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.used; });
  for (auto& [segment, entry] : entries_) entry.used = false;
}

}  // namespace lanescope::timeline
