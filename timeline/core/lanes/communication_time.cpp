#include "timeline/core/lanes/communication_time.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "lane_writer.h"
#include "model/analysis/threads/waits.h"

namespace lanescope::timeline {
namespace {

// Ascending; they neither overlap nor touch.
using Ranges = std::vector<TimeRange>;

// Requires: the range starts no earlier than the previous ones.
void append_range(Ranges& all, TimeRange range) {
  if (range.empty()) return;
  if (all.empty() || range.begin > all.back().end)
    all.push_back(range);
  else
    all.back().end = std::max(all.back().end, range.end);
}

Ranges united(const Ranges& a, const Ranges& b) {
  Ranges all;
  all.reserve(std::max(a.size(), b.size()));
  auto of_a = a.begin(), of_b = b.begin();
  while (of_a != a.end() && of_b != b.end()) append_range(all, of_a->begin < of_b->begin ? *of_a++ : *of_b++);
  for (; of_a != a.end(); ++of_a) append_range(all, *of_a);
  for (; of_b != b.end(); ++of_b) append_range(all, *of_b);
  return all;
}

// The union of the ranges of many lanes. Two partial unions are merged when they have the same number of lanes, so that each range is processed O(log lanes)
// times.
class UnitedTimes {
 public:
  void add(Ranges times) {
    if (times.empty()) return;
    parts_.push_back({std::move(times), 1});
    while (parts_.size() > 1 && parts_[parts_.size() - 2].lanes <= parts_.back().lanes) unite_last();
  }
  [[nodiscard]] Ranges take() {
    while (parts_.size() > 1) unite_last();
    return parts_.empty() ? Ranges() : std::move(parts_.front().times);
  }

 private:
  void unite_last() {
    const Part last = std::move(parts_.back());
    parts_.pop_back();
    parts_.back() = {united(parts_.back().times, last.times), parts_.back().lanes + last.lanes};
  }
  struct Part {
    Ranges times;
    std::size_t lanes = 0;
  };
  std::vector<Part> parts_;
};

// Visits the start, end and name of each event of a lane.
template <typename Visit>
void for_each_event(const Lane& lane, const Visit& visit) {
  for (std::size_t s = 0; s < lane.segment_count(); ++s) {
    const std::shared_ptr<const LaneSegment> segment = lane.segment(s);
    for (EventIndex i = 0; i < segment->size(); ++i) visit(TimeRange{segment->start(i), segment->start(i) + segment->duration(i)}, segment->name(i));
  }
}

// Indexes of a lane's events by name; those of one name in order.
class EventsByName {
 public:
  explicit EventsByName(const Lane& lane) : order_(lane.size()) {
    std::vector<NameId> names;
    names.reserve(lane.size());
    for_each_event(lane, [&](TimeRange, NameId name) { names.push_back(name); });
    std::iota(order_.begin(), order_.end(), EventIndex{0});
    const auto is_before = [&](EventIndex a, EventIndex b) { return names[a] < names[b]; };
    if (!std::is_sorted(order_.begin(), order_.end(), is_before)) std::stable_sort(order_.begin(), order_.end(), is_before);
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (i == 0 || names[order_[i]] != first_.back().first) first_.emplace_back(names[order_[i]], i);
  }
  [[nodiscard]] std::span<const EventIndex> of(NameId name) const {
    const auto found = std::lower_bound(first_.begin(), first_.end(), name, [](const auto& first, NameId wanted) { return first.first < wanted; });
    if (found == first_.end() || found->first != name) return {};
    const std::size_t end = found + 1 == first_.end() ? order_.size() : (found + 1)->second;
    return std::span(order_).subspan(found->second, end - found->second);
  }

 private:
  std::vector<EventIndex> order_;
  std::vector<std::pair<NameId, std::size_t>> first_;  // for each name that occurs: its first position in the order
};

}  // namespace

bool CommunicationTime::ByLanes::operator()(const Level& a, const Level& b) const noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const LaneSource& x, const LaneSource& y) {
    return std::tie(x.lane, x.name, x.memory, x.on_gpu, x.call_depth) < std::tie(y.lane, y.name, y.memory, y.on_gpu, y.call_depth);
  });
}

class CommunicationTime::Builder {
 public:
  Builder(const Trace& trace, const std::stop_token& stop, Parts parts) : trace_(trace), stop_(stop), parts_(parts) {}

  std::shared_ptr<const Times> build() {
    find_kernels();
    if (kernels_.empty()) return nullptr;
    const RowTree tree(trace_);
    for (const Row& row : tree.rows()) {
      if (stop_.stop_requested()) return nullptr;
      if (row.kind == RowKind::kGpuHardware && !row.all.empty()) add_gpu(row.all);
      const bool may_wait = row.kind == RowKind::kGpu || row.kind == RowKind::kGpuHardware || row.kind == RowKind::kKernels ||
                            row.kind == RowKind::kKernelFamily || row.kind == RowKind::kKernelName || row.kind == RowKind::kStream ||
                            row.kind == RowKind::kQuietStreams;
      if (!may_wait) continue;
      add_level(row.all);
      for (const Level& level : row.levels) add_level(level);
    }
    return stop_.stop_requested() ? nullptr : std::make_shared<const Times>(std::move(times_));
  }

 private:
  void find_kernels() {
    analysis::WaitFinder finder(trace_);
    for (const Track& track : trace_.tracks()) {
      if (track.key.kind != TrackKind::kKernels) continue;
      for (const LaneId id : track.lanes) {
        if (stop_.stop_requested()) return;
        find_kernels(finder, id);
      }
    }
    std::map<LaneId, LaneWriter> waits;
    std::pair<LaneId, LaneWriter*> last{kNone, nullptr};
    finder.for_each_collective_wait(
        [&](EventRef kernel, const analysis::WaitFinder::CollectiveWait& wait) {
          if (kernel.lane != last.first) last = {kernel.lane, &waits[kernel.lane]};
          const Lane& lane = trace_.lane(kernel.lane);
          const Nanoseconds start = lane.start(kernel.index);
          last.second->add({start, start + wait.waited}, lane.name(kernel.index));
        },
        stop_);
    for (auto& [lane, writer] : waits) times_.waits.emplace(lane, writer.take());
  }

  void find_kernels(analysis::WaitFinder& finder, LaneId id) {
    const Lane& lane = trace_.lane(id);
    std::size_t communicating = 0;
    for_each_event(lane, [&](TimeRange, NameId name) { communicating += finder.communicates(name) ? 1 : 0; });
    if (communicating == 0) return;
    if (communicating == lane.size() && lane.holds_segments()) {
      kernels_.emplace(id, lane);
      return;
    }
    LaneWriter kernels;
    for_each_event(lane, [&](TimeRange time, NameId name) {
      if (finder.communicates(name)) kernels.add(time, name);
    });
    kernels_.emplace(id, kernels.take());
  }

  // The parts of the times of `these` in the level, by lane, in which nothing else of the level runs.
  [[nodiscard]] Lane alone(const Level& level, const std::map<LaneId, Lane>& these) {
    UnitedTimes times, others;
    for (const LaneSource& source : level)
      if (const auto found = these.find(source.lane); found != these.end() && !source.memory) times.add(times_of(found->second, source.name));
    const Ranges left = times.take();
    for (const LaneSource& source : level) others.add(others_of(source, these, left));
    const Ranges taken = others.take();
    LaneWriter writer;
    auto other = taken.begin();
    for (const TimeRange& range : left) {
      while (other != taken.end() && other->end <= range.begin) ++other;
      Nanoseconds from = range.begin;
      for (; other != taken.end() && other->begin < range.end; ++other) {
        if (other->begin > from) writer.add({from, other->begin}, 1);
        from = std::max(from, other->end);
        if (from >= range.end) break;  // it may extend into the next range
      }
      if (range.end > from) writer.add({from, range.end}, 1);
    }
    return writer.take();
  }

  // Of events of a name, or of all events.
  [[nodiscard]] Ranges times_of(const Lane& lane, std::optional<NameId> name) {
    Ranges times;
    if (name)
      for (const EventIndex i : by_name(lane).of(*name)) append_range(times, {lane.start(i), lane.end(i)});
    else
      for_each_event(lane, [&](TimeRange range, NameId) { append_range(times, range); });
    return times;
  }

  // The times of the events of the source, except their parts that are in `these`: their starts, or all of an event. Events that overlap none of the ranges may
  // be left out.
  [[nodiscard]] Ranges others_of(const LaneSource& source, const std::map<LaneId, Lane>& these, const Ranges& ranges) {
    Ranges others;
    const auto found = these.find(source.lane);
    const Lane none, &own = found != these.end() ? found->second : none;
    EventIndex next = 0;  // next index in `own`
    const auto add = [&](TimeRange other) {
      while (next < own.size() && own.start(next) < other.begin) ++next;
      if (next < own.size() && own.start(next) == other.begin) other.begin = own.end(next);
      append_range(others, other);
    };
    const Lane& lane = trace_.lane(source.lane);
    if (source.name) {
      // Communication kernels are in a lane of their own. For other names, for example of the same family, the whole lane is indexed, once.
      const auto kernels = kernels_.find(source.lane);
      const Lane* of = kernels != kernels_.end() ? &kernels->second : &lane;
      if (by_name(*of).of(*source.name).empty()) of = &lane;
      for (const EventIndex i : by_name(*of).of(*source.name)) add({of->start(i), of->end(i)});
      return others;
    }
    constexpr std::size_t kEventsOfSearch = 16;  // events that can be visited in the time of a search
    if (source.whole() && ranges.size() < lane.size() / kEventsOfSearch) {
      EventIndex looked_at = 0;
      for (const TimeRange& range : ranges) {
        const auto [first, last] = lane.overlapping(range);
        for (EventIndex i = std::max(looked_at, first); i < last; ++i) add({lane.start(i), lane.end(i)});
        looked_at = std::max(looked_at, last);
      }
    } else if (source.whole()) {
      for_each_event(lane, [&](TimeRange range, NameId) { add(range); });
    } else {
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (source.matches(trace_, lane.event(i))) add({lane.start(i), lane.end(i)});
    }
    return others;
  }

  // Of a lane that stays at its address.
  [[nodiscard]] const EventsByName& by_name(const Lane& lane) { return by_name_.try_emplace(&lane, lane).first->second; }

  void add_level(const Level& level) {
    const bool waits = std::any_of(level.begin(), level.end(), [this](const LaneSource& source) { return times_.waits.contains(source.lane); });
    if (!waits || times_.levels.contains(level)) return;
    // Rows of a stream, a family or a name may show the same events.
    Level events = level;
    for (LaneSource& source : events)
      if (source.name)
        if (const auto found = kernels_.find(source.lane); found != kernels_.end() && found->second.size() == trace_.lane(source.lane).size())
          if (by_name(found->second).of(*source.name).size() == found->second.size()) source.name.reset();
    if (const auto known = alone_.find(events); known != alone_.end()) {
      if (!known->second.empty()) times_.levels.emplace(level, known->second);
      return;
    }
    Lane lane = alone(events, times_.waits);
    if (!lane.empty()) times_.levels.emplace(level, lane);
    alone_.emplace(std::move(events), std::move(lane));
  }

  void add_gpu(const Level& hardware) {
    const bool communicates = std::any_of(hardware.begin(), hardware.end(), [this](const LaneSource& source) { return kernels_.contains(source.lane); });
    if (!communicates) return;
    const GpuId id = trace_.track_of(hardware.front().lane).key.gpu;
    if (parts_ == Parts::kWaits) {
      times_.gpus.emplace(id, GpuLanes{{}, {}, hardware});
      return;
    }
    UnitedTimes times;
    for (const LaneSource& source : hardware)
      if (const auto found = kernels_.find(source.lane); found != kernels_.end()) times.add(times_of(found->second, std::nullopt));
    LaneWriter communication;
    const Ranges communicating = times.take();
    if (communicating.empty()) return;
    for (const TimeRange& range : communicating) communication.add(range, 1);
    times_.gpus.emplace(id, GpuLanes{communication.take(), alone(hardware, kernels_), hardware});
  }

  const Trace& trace_;
  const std::stop_token& stop_;
  const Parts parts_;
  std::map<LaneId, Lane> kernels_;  // communication kernels only
  std::map<const Lane*, EventsByName> by_name_;
  std::map<Level, Lane, ByLanes> alone_;  // of levels of waits that have been computed
  Times times_;
};

CommunicationTime::CommunicationTime(const Trace& trace, const std::stop_token& stop, Parts parts) : of_(Builder(trace, stop, parts).build()) {}

std::optional<TimeRange> CommunicationTime::wait_of(LaneId lane, Nanoseconds start_of_kernel) const {
  if (!of_) return std::nullopt;
  const auto found = of_->waits.find(lane);
  if (found == of_->waits.end()) return std::nullopt;
  const auto index = found->second.at(start_of_kernel);
  if (!index || found->second.start(*index) != start_of_kernel) return std::nullopt;
  return TimeRange{start_of_kernel, found->second.end(*index)};
}

Nanoseconds CommunicationTime::waited(const Level& level, TimeRange window) const {
  if (!of_) return 0;
  const auto found = of_->levels.find(level);
  return found == of_->levels.end() ? 0 : found->second.busy(window);
}

std::vector<float> CommunicationTime::waiting_columns(const Level& level, const Viewport& viewport) const {
  if (!of_) return {};
  const auto found = of_->levels.find(level);
  if (found == of_->levels.end()) return {};
  const Lane& waits = found->second;
  std::vector<float> columns(static_cast<std::size_t>(viewport.width));
  for (std::int32_t x = 0; x < viewport.width; ++x) {
    const TimeRange pixel{viewport.time_at(x), viewport.time_at(x + 1)};
    if (pixel.empty())  // a pixel of less than a nanosecond
      columns[static_cast<std::size_t>(x)] = waits.at(pixel.begin) ? 1.0F : 0.0F;
    else
      columns[static_cast<std::size_t>(x)] = static_cast<float>(static_cast<double>(waits.busy(pixel)) / static_cast<double>(pixel.length()));
  }
  return columns;
}

std::vector<CommunicationTime::OfGpu> CommunicationTime::within(TimeRange window) const {
  std::vector<OfGpu> all;
  if (!of_) return all;
  for (const auto& [gpu, lanes] : of_->gpus) all.push_back({gpu, lanes.communication.busy(window), lanes.alone.busy(window), waited(lanes.hardware, window)});
  return all;
}

}  // namespace lanescope::timeline
