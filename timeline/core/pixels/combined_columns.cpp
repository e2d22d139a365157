// The columns of levels that combine lanes: their sums, and the time in which at least one lane is busy.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lane_columns.h"
#include "lanes/lane_groups.h"
#include "level_work.h"
#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/workers/usable_cores.h"
#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr EventIndex kFewOfTile = kTileWidth / 8;  // events of one of very many lanes: adding up to this many one by one is faster than columns
constexpr int kBridged = 8;                        // columns without overlaps that are processed all the same, because starting again behind them takes longer
constexpr std::uint64_t kFewestTimes = 4;          // times as many events in a part of the columns as are read for its neighbour, too
constexpr std::size_t kPartsOfCore = 4;            // so that all cores end at about the same time

// Calls use(first, end) for runs of wanted columns in [first, end), with a few others in between.
template <typename Number, typename IsWanted, typename Use>
void for_runs(Number first, Number end, IsWanted is_wanted, Use use) {
  while (first < end) {
    if (!is_wanted(first)) {
      ++first;
      continue;
    }
    Number behind = first + 1;
    for (Number x = behind; x < end && x <= behind + static_cast<Number>(kBridged); ++x)
      if (is_wanted(x)) behind = x + 1;
    use(first, behind);
    first = behind;
  }
}

}  // namespace

// For each column of neighbouring tiles, the number of lanes with events, and the longest busy time of one of them. The union of the lanes has to be computed
// only in columns that several lanes share and that none fills.
struct LevelRasterizer::Sharing {
  explicit Sharing(std::size_t columns) : lanes(columns), longest(columns) {}
  void add(std::size_t tile, std::span<const Column> of_lane) {
    for (std::size_t x = 0; x < of_lane.size(); ++x) {
      if (of_lane[x].busy == 0) continue;
      ++lanes[tile * kTileWidth + x];
      longest[tile * kTileWidth + x] = std::max(longest[tile * kTileWidth + x], of_lane[x].busy);
    }
  }
  // Adds lanes that were not examined one by one.
  void add_unknown(std::size_t tile) {
    for (std::size_t x = tile * kTileWidth; x < (tile + 1) * kTileWidth; ++x) lanes[x] += 2;
  }
  std::vector<std::uint32_t> lanes;
  std::vector<Nanoseconds> longest;
};

// The columns of a tile of very many lanes, most of which have few events there, or none. Such an event is added individually to the column in which it starts
// and to the one in which it ends; in the columns between, all events that start in one column, or end in one, are added up as one.
class LevelRasterizer::Crowd {
 public:
  Crowd(const TileTimes& times, std::vector<Column>& columns) : times_(times), columns_(columns) {}

  // Adds an event of the lane, by its index. Requires: part of it is in the tile.
  void add_single(const ContentLane& lane, EventIndex index, const LaneExtent& event) {
    const auto [begin, end] = event.time;
    std::size_t first_full = 0;
    if (begin >= times_.front()) {
      const std::size_t start = column_of(begin);
      Column& column = columns_[start];
      ++column.count;
      add(column, lane, index, event, std::min(end, times_[start + 1]) - begin);
      if (end <= times_[start + 1]) return;
      first_full = start + 1;
    }
    const std::size_t end_full = end >= times_.back() ? columns_.size() : column_of(end);
    if (end_full == columns_.size())
      add_whole(from_[first_full], lane, index, event);
    else if (first_full == 0)
      add_whole(until_[end_full], lane, index, event);
    else
      for (std::size_t x = first_full; x < end_full; ++x) add_whole(columns_[x], lane, index, event, times_[x + 1] - times_[x]);
    if (end_full < columns_.size() && end > times_[end_full]) add_whole(columns_[end_full], lane, index, event, end - times_[end_full]);
  }

  // Adds the events that run through columns to them.
  void finish() {
    Column through;
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      merge(through, from_[x]);
      add_through(x, through);
    }
    through = {};
    for (std::size_t x = columns_.size(); x-- > 0;) {
      merge(through, until_[x + 1]);
      add_through(x, through);
    }
  }

 private:
  [[nodiscard]] std::size_t column_of(Nanoseconds time) const {
    const auto behind = std::upper_bound(times_.begin(), times_.end(), time);
    return std::min(static_cast<std::size_t>(behind - times_.begin()) - 1, columns_.size() - 1);
  }
  static void add(Column& column, const ContentLane& lane, EventIndex index, const LaneExtent& event, Nanoseconds busy) {
    column.total += busy;
    if (const Nanoseconds duration = event.time.length(); duration > column.longest_duration)
      lane.visit([&](const auto& events) { consider_longest(column, lane, events, index, duration); });
    vote(column, event.name, busy, event.kind);
  }
  static void add_whole(Column& column, const ContentLane& lane, EventIndex index, const LaneExtent& event, Nanoseconds busy = 1) {
    ++column.carried;
    add(column, lane, index, event, busy);
  }
  void add_through(std::size_t x, Column column) {
    column.total *= times_[x + 1] - times_[x];
    column.weight *= times_[x + 1] - times_[x];
    merge(columns_[x], column);
  }

  const TileTimes& times_;
  std::vector<Column>& columns_;
  std::array<Column, kTileWidth + 1> from_{};   // in each column from this one on; per ns
  std::array<Column, kTileWidth + 1> until_{};  // in each column before this one
};

void LevelRasterizer::gather(const LevelContent& content, std::span<const OfLevel> tiles, Sharing& sharing) const {
  const std::span<const LaneExtent> extents = content.extents();
  std::vector<TileTimes> times;
  std::vector<std::vector<Column>> columns(tiles.size(), std::vector<Column>(kTileWidth));
  std::vector<Crowd> crowds;
  for (std::size_t i = 0; i < tiles.size(); ++i) times.push_back(times_in(tiles[i].number));
  for (std::size_t i = 0; i < tiles.size(); ++i) crowds.emplace_back(times[i], columns[i]);
  std::vector<std::uint8_t> has_any(tiles.size());
  std::vector<Column> of_lane;
  EdgesInTile edges;
  for (std::size_t l = 0; l < content.lanes().size(); ++l) {
    const ContentLane& lane = content.lanes()[l];
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const TimeRange window{times[i].front(), times[i].back()};
      if (!extents.empty()) {
        const LaneExtent& extent = extents[l];
        if (extent.time.begin >= window.end || extent.time.end < window.begin) continue;
        if (extent.is_one) {
          if (extent.time.begin < window.begin && extent.time.end == window.begin) continue;
          crowds[i].add_single(lane, 0, extent);
          has_any[i] = 1;
          continue;
        }
      }
      lane.visit([&](const auto& events) {
        if (!extents.empty()) {
          const EventIndex behind = events.lower_bound(window.begin), last = events.lower_bound(window.end);
          const EventIndex first = behind > 0 && events.end(behind - 1) > window.begin ? behind - 1 : behind;
          if (last - first <= kFewOfTile) {
            for (EventIndex index = first; index < last; ++index)
              crowds[i].add_single(lane, index, {{events.start(index), events.end(index)}, true, lane.kind, events.name(index)});
            if (first < last) has_any[i] = 1;
            return;
          }
        }
        lane.lane->lower_bounds(times[i], edges);
        if (lane.subset) lane.subset->ranks(std::array(edges), edges);
        const bool carried = edges.front() > 0 && events.end(edges.front() - 1) > window.begin;
        if (edges.front() == edges.back() && !carried) return;
        of_lane.assign(kTileWidth, Column());
        fill_columns(lane, events, times[i], edges, of_lane);
        for (std::size_t x = 0; x < of_lane.size(); ++x) merge(columns[i][x], of_lane[x]);
        sharing.add(i, of_lane);
        has_any[i] = 1;
      });
    }
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (has_any[i] == 0) continue;
    crowds[i].finish();
    tiles[i].tile->columns = std::move(columns[i]);
    if (!extents.empty()) sharing.add_unknown(i);
  }
}

struct LevelRasterizer::Combination {
  std::span<OfLevel> tiles;  // neighbours of one level
  Sharing sharing;
  std::vector<Nanoseconds> times;       // edges of the columns
  std::vector<Nanoseconds> busy;        // of each column: the sum over the lanes, then their union
  std::vector<std::uint8_t> has_union;  // the columns in which these may differ

  explicit Combination(std::span<OfLevel> of) : tiles(of), sharing(of.size() * kTileWidth) {}
  [[nodiscard]] const LevelContent& content() const noexcept { return *tiles.front().content; }
  [[nodiscard]] std::int64_t first_column() const noexcept { return tiles.front().number * kTileWidth; }
};

LevelRasterizer::Combination LevelRasterizer::merged(std::span<OfLevel> tiles) const {
  Combination made(tiles);
  const LevelContent& content = made.content();
  for (const OfLevel& each : tiles) each.tile->columns.clear();
  if (kept_lanes(content).empty()) gather(content, tiles, made.sharing);
  for (const ContentLane& lane : kept_lanes(content)) {
    const LevelPixels& of_lane = lanes_.at({lane.lane.get(), lane.subset.get()});
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const std::vector<Column>& columns = of_lane.tiles_[place_of(tiles[i].number)].columns;
      std::vector<Column>& into = tiles[i].tile->columns;
      if (columns.empty()) continue;
      if (into.empty())
        into = columns;
      else
        for (std::size_t x = 0; x < into.size(); ++x) merge(into[x], columns[x]);
      made.sharing.add(i, columns);
    }
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileTimes of_tile = times_in(tiles[i].number);
    made.times.insert(made.times.end(), of_tile.begin(), of_tile.end() - 1);
    if (i + 1 == tiles.size()) made.times.push_back(of_tile.back());
    const std::vector<Column>& columns = tiles[i].tile->columns;
    for (std::size_t x = 0; x < kTileWidth; ++x) made.busy.push_back(columns.empty() ? 0 : columns[x].total);
  }
  for (std::size_t x = 0; x < made.busy.size(); ++x) {
    const Nanoseconds length = made.times[x + 1] - made.times[x];
    made.has_union.push_back(made.sharing.lanes[x] > 1 && made.sharing.longest[x] < length ? 1 : 0);
    if (made.sharing.lanes[x] > 1 && made.has_union[x] == 0) made.busy[x] = length;
  }
  return made;
}

void LevelRasterizer::finish(const Combination& combination) {
  for (std::size_t i = 0; i < combination.tiles.size(); ++i) {
    std::vector<Column>& columns = combination.tiles[i].tile->columns;
    for (std::size_t x = 0; x < columns.size(); ++x) columns[x].busy = std::max<Nanoseconds>(0, combination.busy[i * kTileWidth + x]);  // if a file is damaged
    combination.tiles[i].done = true;
  }
}

void LevelRasterizer::combine(std::span<OfLevel> tiles) const {
  Combination combination = merged(tiles);
  std::vector<Nanoseconds> united;
  for_runs(
      std::size_t{0}, combination.busy.size(), [&](std::size_t x) { return combination.has_union[x] != 0; },
      [&](std::size_t first, std::size_t end) {
        united.assign(combination.busy.begin() + static_cast<std::ptrdiff_t>(first), combination.busy.begin() + static_cast<std::ptrdiff_t>(end));
        combination.content().unite(std::span(combination.times).subspan(first, end - first + 1), united, lanes_within(combination, first, end));
        for (std::size_t x = first; x < end; ++x)
          if (combination.has_union[x] != 0) combination.busy[x] = united[x - first];
      });
  finish(combination);
}

// Levels that have lanes in common are worked on together. The others are for other cores, and so are parts of the time. Where two of these meet, both read a
// segment of each lane, or decode a part of one if segments are kept.
void LevelRasterizer::combine_together(std::span<const std::span<OfLevel>> levels, Segments segments, const std::stop_token& stop) const {
  std::vector<std::optional<Combination>> combinations(levels.size());
  work_in_parts(levels.size(), [&](std::size_t index) {
    if (!stop.stop_requested()) combinations[index] = merged(levels[index]);
  });
  if (stop.stop_requested()) return;

  std::vector<Combination*> united;
  std::vector<std::set<const Lane*>> lanes;
  for (std::optional<Combination>& combination : combinations) {
    if (std::find(combination->has_union.begin(), combination->has_union.end(), 1) == combination->has_union.end()) continue;
    united.push_back(&*combination);
    lanes.emplace_back();
    for (const ContentLane& lane : combination->content().lanes()) lanes.back().insert(lane.lane.get());
  }
  struct Part {
    std::vector<Combination*> levels;
    std::int64_t first, end;  // columns
  };
  std::vector<Part> parts;
  for (const LaneGroup& group : groups_by_lanes(std::move(lanes))) {
    Part all{{}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (const std::size_t set : group.sets) {
      const Combination& each = *all.levels.emplace_back(united[set]);
      all.first = std::min(all.first, each.first_column());
      all.end = std::max(all.end, each.first_column() + static_cast<std::int64_t>(each.busy.size()));
    }
    const TimeRange time{grid_.time_at(all.first), grid_.time_at(all.end)};
    const EventIndex at_once = segments == Segments::kAreKept ? SegmentParts::kPart : LaneSegment::kCapacity;
    double events = 0;  // of the lanes in this time, if they are spread evenly
    std::uint64_t at_end = 1;
    for (const Lane* lane : group.lanes) {
      const TimeRange extent = lane->extent();
      const TimeRange within{std::max(time.begin, extent.begin), std::min(time.end, extent.end)};
      if (within.empty()) continue;
      events += static_cast<double>(lane->size()) * static_cast<double>(within.length()) / static_cast<double>(extent.length());
      at_end += std::min(lane->size(), at_once);
    }
    const auto count =
        static_cast<std::int64_t>(std::min(1 + events / static_cast<double>(at_end * kFewestTimes), static_cast<double>(kPartsOfCore * usable_cores())));
    for (std::int64_t part = 0; part < count; ++part)
      parts.push_back({all.levels, all.first + (all.end - all.first) * part / count, all.first + (all.end - all.first) * (part + 1) / count});
  }
  work_in_parts(parts.size(), [&](std::size_t index) { unite_together(parts[index].levels, parts[index].first, parts[index].end, stop); });
  if (stop.stop_requested()) return;
  for (const std::optional<Combination>& combination : combinations) finish(*combination);
}

void LevelRasterizer::unite_together(std::span<Combination* const> levels, std::int64_t first, std::int64_t end, const std::stop_token& stop) const {
  EventUnions unions;
  const auto has_union = [](const Combination& level, std::int64_t column) {
    const std::int64_t x = column - level.first_column();
    return x >= 0 && x < static_cast<std::int64_t>(level.has_union.size()) && level.has_union[static_cast<std::size_t>(x)] != 0;
  };
  const auto any_has_union = [&](std::int64_t column) {
    return std::any_of(levels.begin(), levels.end(), [&](const Combination* level) { return has_union(*level, column); });
  };
  std::vector<Nanoseconds> times;
  for_runs(first, end, any_has_union, [&](std::int64_t begin, std::int64_t behind) {
    if (stop.stop_requested()) return;
    times.clear();
    for (std::int64_t column = begin; column <= behind; ++column) times.push_back(grid_.time_at(column));
    std::map<LaneKey, std::size_t> places;
    std::vector<BusyLane> lanes;
    struct United {
      Combination* level;
      std::vector<std::size_t> lanes;
      std::vector<Nanoseconds> busy;
    };
    std::vector<United> united;
    for (Combination* const level : levels) {
      const std::int64_t from = std::max(begin, level->first_column()) - level->first_column();
      const std::int64_t until = std::min(behind, level->first_column() + static_cast<std::int64_t>(level->busy.size())) - level->first_column();
      if (from >= until) continue;
      const auto running = lanes_within(*level, static_cast<std::size_t>(from), static_cast<std::size_t>(until));
      if (running.size() < 2) continue;
      United& made = united.emplace_back(United{level, {}, std::vector<Nanoseconds>(times.size() - 1)});
      for (std::int64_t x = from; x < until; ++x)
        made.busy[static_cast<std::size_t>(level->first_column() + x - begin)] = level->busy[static_cast<std::size_t>(x)];
      for (const ContentLane* lane : running) {
        const auto [place, is_new] = places.try_emplace({lane->lane.get(), lane->subset.get()}, lanes.size());
        if (is_new) lanes.push_back({lane->lane.get(), lane->subset.get()});
        made.lanes.push_back(place->second);
      }
    }
    std::vector<EventUnions::Wanted> wanted;
    for (United& each : united) wanted.push_back({std::move(each.lanes), each.busy});
    unions.unite(lanes, times, wanted);
    for (const United& each : united)
      for (std::int64_t column = begin; column < behind; ++column)
        if (has_union(*each.level, column))
          each.level->busy[static_cast<std::size_t>(column - each.level->first_column())] = each.busy[static_cast<std::size_t>(column - begin)];
  });
}

std::vector<const ContentLane*> LevelRasterizer::lanes_within(const Combination& combination, std::size_t first, std::size_t end) const {
  std::vector<const ContentLane*> lanes;
  for (const ContentLane& lane : combination.content().lanes()) {
    bool is_busy = kept_lanes(combination.content()).empty();
    const LevelPixels* const pixels = is_busy ? nullptr : &lanes_.at({lane.lane.get(), lane.subset.get()});
    for (std::size_t x = first; x < end && !is_busy; ++x) {
      const std::vector<Column>& columns = pixels->tiles_[place_of(combination.tiles[x / kTileWidth].number)].columns;
      is_busy = combination.has_union[x] != 0 && !columns.empty() && columns[x % kTileWidth].busy > 0;
    }
    if (is_busy) lanes.push_back(&lane);
  }
  return lanes;
}

}  // namespace lanescope::timeline
