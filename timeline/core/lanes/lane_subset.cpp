#include "timeline/core/lanes/lane_subset.h"

#include <algorithm>

#include "key_slots.h"

namespace lanescope::timeline {
namespace {

// The events of a part, for its pyramid.
struct SelectedEvents {
  const Lane& lane;
  const std::vector<EventIndex>& selected;
  [[nodiscard]] Nanoseconds duration(EventIndex i) const noexcept { return lane.duration(selected[i]); }
  [[nodiscard]] NameId name(EventIndex i) const noexcept { return lane.name(selected[i]); }
};

}  // namespace

LaneSubset::Part::Part(const Lane& lane, std::vector<EventIndex> events) : selected(std::move(events)) {
  selected.shrink_to_fit();
  const auto size = static_cast<EventIndex>(selected.size());
  std::vector<Nanoseconds> busy_before;
  busy_before.reserve((size + kBlock - 1) / kBlock + 1);
  Nanoseconds busy = 0;
  for (EventIndex i = 0; i < size; ++i) {
    if (i % kBlock == 0) busy_before.push_back(busy);
    busy += lane.duration(selected[i]);
  }
  busy_before.push_back(busy);
  busy_before_block = AscendingTimes(busy_before);
  summary = SummaryPyramid(SelectedEvents{lane, selected}, size);
}

void LaneSubset::append(std::shared_ptr<const Part> part) {
  size_ += static_cast<EventIndex>(part->selected.size());
  busy_before_part_.push_back(busy_before_part_.back() + part->busy_before_block.back());
  parts_.push_back(std::move(part));
}

EventIndex LaneSubset::rank(EventIndex source_index) const noexcept {
  const auto found =
      std::lower_bound(parts_.begin(), parts_.end(), source_index, [](const auto& part, EventIndex index) { return part->selected.back() < index; });
  if (found == parts_.end()) return size_;
  const std::vector<EventIndex>& selected = (*found)->selected;
  const auto within = std::lower_bound(selected.begin(), selected.end(), source_index) - selected.begin();
  return static_cast<EventIndex>(found - parts_.begin()) * kCapacity + static_cast<EventIndex>(within);
}

void LaneSubset::ranks(std::span<const EventIndex> source_indexes, std::span<EventIndex> into) const noexcept {
  std::size_t done = 0;
  auto reaches = parts_.begin();
  while (done < source_indexes.size()) {
    reaches = std::lower_bound(reaches, parts_.end(), source_indexes[done], [](const auto& part, EventIndex index) { return part->selected.back() < index; });
    if (reaches == parts_.end()) break;
    const std::vector<EventIndex>& selected = (*reaches)->selected;
    const auto offset = static_cast<EventIndex>(reaches - parts_.begin()) * kCapacity;
    auto from = std::lower_bound(selected.begin(), selected.end(), source_indexes[done]);
    for (EventIndex previous = source_indexes[done]; done < source_indexes.size() && source_indexes[done] <= selected.back(); ++done) {
      // Between two events of the lane, the subset has at most as many events as the lane.
      const auto room = std::min<std::ptrdiff_t>(selected.end() - from, source_indexes[done] - previous);
      previous = source_indexes[done];
      from = std::lower_bound(from, from + room, previous);
      into[done] = offset + static_cast<EventIndex>(from - selected.begin());
    }
  }
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), size_);
}

std::pair<EventIndex, EventIndex> LaneSubset::overlapping(TimeRange window) const noexcept {
  EventIndex first = lower_bound(window.begin);
  if (first > 0 && end(first - 1) > window.begin) --first;
  return {first, std::max(first, lower_bound(window.end))};
}

Nanoseconds LaneSubset::busy_before(Nanoseconds t, EventIndex first) const noexcept {
  if (first == 0) return 0;
  Nanoseconds busy = busy_before_part_[first / kCapacity];
  if (const EventIndex within = first % kCapacity; within != 0) {
    const Part& part = *parts_[first / kCapacity];
    busy += part.busy_before_block[within / kBlock];
    for (EventIndex i = within / kBlock * kBlock; i < within; ++i) busy += source_->duration(part.selected[i]);
  }
  const Nanoseconds reached = end(first - 1);  // it and t may be farther apart than Nanoseconds can represent
  return reached > t ? busy - (reached - t) : busy;
}

Nanoseconds LaneSubset::busy(TimeRange window) const noexcept {
  return busy_before(window.end, lower_bound(window.end)) - busy_before(window.begin, lower_bound(window.begin));
}

LaneSummary LaneSubset::summarize(EventIndex first, EventIndex last) const noexcept {
  LaneSummary summary;
  while (first < last) {
    const Part& part = *parts_[first / kCapacity];
    const EventIndex offset = first / kCapacity * kCapacity;
    const EventIndex stop = std::min(last, offset + static_cast<EventIndex>(part.selected.size()));
    part.summary.summarize(SelectedEvents{*source_, part.selected}, first - offset, stop - offset, summary, offset);
    first = stop;
  }
  return summary;
}

std::size_t LaneSubset::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& part : parts_)
    bytes += sizeof(Part) + part->selected.capacity() * sizeof(EventIndex) + part->busy_before_block.memory_bytes() + part->summary.memory_bytes();
  return bytes;
}

// Sorts the events of a lane into the subsets of a split, starting with the first event that an earlier state of the lane does not share.
class LaneSplit::Sorter {
 public:
  Sorter(LaneSplit& split, const LaneSplit* before) : split_(split), slots_(split.lane_->size()) {
    if (before == nullptr || !before->lane_) return;
    unchanged_ = split_.lane_->common_prefix(*before->lane_);
    for (const auto& [key, subset] : before->subsets_) keep(open(key), subset);
  }

  void run(const KeyOf& key_of) {
    constexpr EventIndex kAtOnce = 4096;
    const Lane& lane = *split_.lane_;
    std::vector<Key> keys(kAtOnce);
    for (EventIndex first = unchanged_; first < lane.size();) {
      const EventIndex count = std::min(kAtOnce, lane.size() - first);
      key_of(lane, first, std::span(keys).first(count));
      for (EventIndex i = 0; i < count; ++i)
        if (keys[i] != kNone) add(open(keys[i]), first + i);
      first += count;
    }
    for (std::size_t slot = 0; slot < open_.size(); ++slot) {
      Open& last = open_[slot];
      if (last.kept && last.kept->selected.size() == last.events.size())
        split_.subsets_[slot].second.append(last.kept);
      else if (!last.events.empty())
        close(slot);
    }
  }

 private:
  // The last part of a subset, which is still growing.
  struct Open {
    std::vector<EventIndex> events;
    std::shared_ptr<const LaneSubset::Part> kept;  // the part of the earlier state if it has exactly these events; it is used if no more events follow
  };

  std::size_t open(Key key) {
    std::uint32_t& slot = slots_.slot(key);
    if (slot == KeySlots::kNew) {
      slot = static_cast<std::uint32_t>(open_.size());
      open_.emplace_back();
      split_.subsets_.emplace_back(key, LaneSubset());
    }
    return slot;
  }

  // Reuses parts whose events are unchanged.
  void keep(std::size_t slot, const LaneSubset& before) {
    for (const auto& part : before.parts_) {
      const bool same = part->selected.back() < unchanged_;
      if (same && part->selected.size() == LaneSubset::kCapacity) {
        split_.subsets_[slot].second.append(part);
        continue;
      }
      const auto end = std::lower_bound(part->selected.begin(), part->selected.end(), unchanged_);
      open_[slot].events.assign(part->selected.begin(), end);
      if (same) open_[slot].kept = part;
      return;
    }
  }

  void add(std::size_t slot, EventIndex index) {
    open_[slot].events.push_back(index);
    if (open_[slot].events.size() == LaneSubset::kCapacity) close(slot);
  }

  void close(std::size_t slot) {
    const Open full = std::exchange(open_[slot], {});
    split_.subsets_[slot].second.append(std::make_shared<const LaneSubset::Part>(*split_.lane_, full.events));
  }

  LaneSplit& split_;
  EventIndex unchanged_ = 0;
  KeySlots slots_;          // indexes into open_
  std::vector<Open> open_;  // by slot, like the subsets of the split
};

LaneSplit::LaneSplit(std::shared_ptr<const Lane> lane, const KeyOf& key_of, const LaneSplit* before) : lane_(std::move(lane)) {
  Sorter(*this, before).run(key_of);
  for (auto& [key, subset] : subsets_) subset.source_ = lane_;
  std::sort(subsets_.begin(), subsets_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

const LaneSubset& LaneSplit::subset(Key key) const noexcept {
  static const LaneSubset none;
  const auto found = std::lower_bound(subsets_.begin(), subsets_.end(), key, [](const auto& entry, Key value) { return entry.first < value; });
  return found != subsets_.end() && found->first == key ? found->second : none;
}

std::size_t LaneSplit::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [key, subset] : subsets_) bytes += subset.memory_bytes();
  return bytes;
}

}  // namespace lanescope::timeline
