#include "timeline/core/pixels/level_pixels.h"

#include <algorithm>
#include <utility>

#include "column_sums.h"
#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr EventIndex kFewOfTile = kTileWidth / 8;  // events of one of very many lanes: adding up to this many one by one is faster than columns
constexpr std::size_t kBridged = 8;                // columns without overlaps that are processed all the same, because starting again behind them takes longer
constexpr std::size_t kAhead = 12;                 // columns: by then prefetched data has arrived
// The number of a lane's segments, or of segments whose times are decoded, for a part of its columns: large enough that the segments at the ends, which are
// decoded for both parts, hardly matter.
constexpr std::size_t kFewestSegments = 16, kFewestTimes = 4;

// Busy time before each edge of a column.
template <typename Events, typename Edges, typename Times>
Times busy_before_edges(const Events& lane, const Times& times, const Edges& edges) {
  Times busy;
  busy[0] = lane.busy_before(times[0], edges[0]);
  Nanoseconds last_end = edges[0] > 0 ? lane.end(edges[0] - 1) : times[0];
  for (std::size_t edge = 1; edge < kAhead; ++edge) lane.prefetch(edges[edge]);
  for (std::size_t edge = 1; edge < times.size(); ++edge) {
    if (edge + kAhead < edges.size()) lane.prefetch(edges[edge + kAhead]);
    if (edges[edge] == edges[edge - 1]) {
      busy[edge] = busy[edge - 1] + std::max<Nanoseconds>(0, std::min(last_end, times[edge]) - times[edge - 1]);
    } else {
      busy[edge] = lane.busy_before(times[edge], edges[edge]);
      last_end = lane.end(edges[edge] - 1);
    }
  }
  return busy;
}

template <typename Events, typename Edges, typename Times>
void fill_columns(const ContentLane& content, const Events& lane, const Times& times, const Edges& edges, std::vector<Column>& columns) {
  const Times busy_before = busy_before_edges(lane, times, edges);
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const Nanoseconds busy = busy_before[x + 1] - busy_before[x];
    if (busy == 0 && edges[x] == edges[x + 1]) continue;
    add_events(columns[x], content, lane, {times[x], times[x + 1]}, edges[x], edges[x + 1], busy);
    columns[x].busy = busy;
  }
}

// The lanes of a level whose columns and boxes are kept: none if there are so many that boxes could not be distinguished.
std::span<const ContentLane> kept_lanes(const LevelContent& content) noexcept {
  return content.lanes().size() <= LevelContent::kManyLanes ? std::span(content.lanes()) : std::span<const ContentLane>();
}

// The average of the lanes: each part of a level has a segment of each lane at its ends.
std::size_t segments_per_lane(const LevelContent& content) {
  std::size_t all = 0;
  for (const ContentLane& lane : content.lanes()) all += lane.lane->segment_count();
  return all / std::max<std::size_t>(1, content.lanes().size());
}

// Divides the tiles of lanes into parts for several cores and passes each part to `use`. Requires: numbers of tiles ascend.
template <typename Tile, typename Use>
void divide(std::span<Tile> tiles, std::size_t parts, Use use) {
  parts = std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(1, tiles.size()));
  for (std::size_t part = 0, first = 0; part < parts; ++part) {
    std::size_t end = (part + 1) * tiles.size() / parts;
    while (end < tiles.size() && end > 0 && tiles[end].number == tiles[end - 1].number) ++end;
    if (first < end) use(tiles.subspan(first, end - first));
    first = std::max(first, end);
  }
}

__extension__ using Wide = __int128;

}  // namespace

const Column LevelPixels::kNothing{};

Nanoseconds LevelRasterizer::Grid::time_at(std::int64_t column) const noexcept {
  const Wide product = static_cast<Wide>(column) * length + phase;
  const Wide quotient = product / width;
  return static_cast<Nanoseconds>(product % width < 0 ? quotient - 1 : quotient);
}

LevelRasterizer::Place LevelRasterizer::place_of(const Viewport& viewport) noexcept {
  const Wide begin = static_cast<Wide>(viewport.range.begin) * viewport.width + viewport.phase;
  const Nanoseconds length = viewport.range.length();
  const auto phase = static_cast<std::int64_t>((begin % length + length) % length);
  const auto first_column = static_cast<std::int64_t>((begin - phase) / length);
  const auto tile_of = [](std::int64_t column) { return (column - (column % kTileWidth + kTileWidth) % kTileWidth) / kTileWidth; };
  return {{length, viewport.width, phase}, first_column, tile_of(first_column), tile_of(first_column + viewport.width - 1) + 1};
}

void LevelRasterizer::look_at(const Viewport& viewport) {
  if (viewport == viewport_ && tile_count_ > 0) return;
  viewport_ = viewport;
  const Place place = place_of(viewport);
  const bool panned = place.grid == grid_ && tile_count_ > 0;
  grid_ = place.grid;
  first_column_ = place.first_column;
  first_tile_ = place.first_tile;
  end_tile_ = place.end_tile;
  tile_count_ = static_cast<std::size_t>(viewport.width / kTileWidth + 2);
  if (!panned) return forget();
  for (auto& [key, pixels] : lanes_) show(pixels);
  for (auto& [key, pixels] : combined_) show(pixels);
}

std::size_t LevelRasterizer::place_of(std::int64_t tile) const noexcept {
  const auto count = static_cast<std::int64_t>(tile_count_);
  return static_cast<std::size_t>((tile % count + count) % count);
}

void LevelRasterizer::show(LevelPixels& pixels) const {
  pixels.width_ = viewport_.width;
  pixels.first_tile_ = place_of(first_tile_);
  pixels.offset_ = static_cast<std::int32_t>(first_column_ - first_tile_ * kTileWidth);
  pixels.boxes_are_current_ = false;
}

void LevelRasterizer::forget() {
  for (auto& [key, pixels] : lanes_) spare_.push_back(std::move(pixels));
  for (auto& [key, pixels] : combined_) spare_.push_back(std::move(pixels));
  edges_.clear();
  lanes_.clear();
  combined_.clear();
}

LevelPixels LevelRasterizer::take_spare() {
  LevelPixels pixels;
  if (!spare_.empty()) {
    pixels = std::move(spare_.back());
    spare_.pop_back();
  }
  pixels.tiles_.resize(tile_count_);
  for (LevelPixels::Tile& tile : pixels.tiles_) tile.number = LevelPixels::kNoTile;
  show(pixels);
  return pixels;
}

// A tile of a level that combines lanes.
struct LevelRasterizer::OfLevel {
  const LevelContent* content;
  LevelPixels::Tile* tile;
  std::int64_t number;
  bool done = false;
};

// The work of one thread: columns of lanes, tile by tile, then columns of levels that combine lanes, in runs of neighbouring tiles.
struct LevelRasterizer::Job {
  struct OfLane {
    const ContentLane* content;
    TileEdges* edges;
    LevelPixels::Tile* tile;  // null if only edges are needed
    std::int64_t number;
    bool finds_edges;  // else an earlier job does
    bool done = false;
  };
  std::vector<OfLane> lanes;
  std::vector<OfLevel> levels;
};

void LevelRasterizer::prepare(std::span<const LevelContent* const> contents, const Viewport& viewport, const std::stop_token& stop) {
  look_at(viewport);
  // For lanes in memory, jobs are made tile by tile, so that all cores have work. Segments that are decoded on demand are processed lane by lane, and then
  // level by level, so that each is decoded once or twice if there is no room for those of all lanes.
  std::vector<Job> jobs(static_cast<std::size_t>(end_tile_ - first_tile_));
  std::map<const Lane*, std::vector<Job::OfLane>> of_lanes_on_demand;
  std::vector<Job> then;
  // Returns true once for each tile that holds something else.
  const auto take = [](std::int64_t& number, std::int64_t wanted) { return std::exchange(number, wanted) != wanted; };
  const auto entry_of = [this](auto& map, const auto& key) -> LevelPixels& {
    const auto found = map.find(key);
    return found != map.end() ? found->second : map.emplace(key, take_spare()).first->second;
  };
  for (const LevelContent* content : contents) {
    for (const ContentLane& lane : kept_lanes(*content)) {
      LaneEdges& edges = edges_[lane.lane.get()];
      edges.resize(tile_count_);
      LevelPixels& pixels = entry_of(lanes_, LaneKey{lane.lane.get(), lane.subset.get()});
      for (std::int64_t number = first_tile_; number < end_tile_; ++number) {
        const std::size_t place = place_of(number);
        const bool finds_edges = take(edges[place].number, number);
        LevelPixels::Tile* const tile = take(pixels.tiles_[place].number, number) ? &pixels.tiles_[place] : nullptr;
        if (!finds_edges && tile == nullptr) continue;
        auto& work = lane.lane->holds_segments() ? jobs[static_cast<std::size_t>(number - first_tile_)].lanes : of_lanes_on_demand[lane.lane.get()];
        work.push_back({&lane, &edges[place], tile, number, finds_edges});
      }
    }
    if (content->lanes().size() == 1) continue;
    const bool in_memory = content->holds_segments();
    LevelPixels& pixels = entry_of(combined_, content);
    std::vector<OfLevel> tiles;
    for (std::int64_t number = first_tile_; number < end_tile_; ++number)
      if (LevelPixels::Tile& tile = pixels.tiles_[place_of(number)]; take(tile.number, number)) tiles.push_back({content, &tile, number});
    if (in_memory)
      for (const OfLevel& tile : tiles) jobs[static_cast<std::size_t>(tile.number - first_tile_)].levels.push_back(tile);
    else
      divide(std::span(tiles), 1 + segments_per_lane(*content) / kFewestTimes, [&](auto part) { then.push_back({{}, {part.begin(), part.end()}}); });
  }
  std::erase_if(jobs, [](const Job& job) { return job.lanes.empty() && job.levels.empty(); });
  for (auto& [lane, tiles] : of_lanes_on_demand) {
    // All subsets of a lane take their events of a segment at once.
    std::stable_sort(tiles.begin(), tiles.end(), [](const Job::OfLane& a, const Job::OfLane& b) { return a.number < b.number; });
    divide(std::span(tiles), lane->segment_count() / kFewestSegments, [&](auto part) { jobs.push_back({{part.begin(), part.end()}, {}}); });
  }
  for (std::vector<Job>* const all : {&jobs, &then}) {
    work_in_parts(all->size(), [&](std::size_t index) { run((*all)[index], stop); });
    for (const Job& job : *all) {
      for (const Job::OfLane& each : job.lanes) {
        if (each.done) continue;
        each.edges->number = LevelPixels::kNoTile;
        if (each.tile != nullptr) each.tile->number = LevelPixels::kNoTile;
      }
      for (const OfLevel& each : job.levels)
        if (!each.done) each.tile->number = LevelPixels::kNoTile;
    }
  }
}

bool LevelRasterizer::has(std::span<const LevelContent* const> contents, const Viewport& viewport) const {
  if (tile_count_ == 0) return false;  // no viewport yet
  const Place place = place_of(viewport);
  if (!(place.grid == grid_)) return false;
  const auto has_tiles = [&](const auto& map, const auto& key) {
    const auto found = map.find(key);
    if (found == map.end()) return false;
    for (std::int64_t number = place.first_tile; number < place.end_tile; ++number)
      if (found->second.tiles_[place_of(number)].number != number) return false;
    return true;
  };
  return std::all_of(contents.begin(), contents.end(), [&](const LevelContent* content) {
    const std::span<const ContentLane> lanes = kept_lanes(*content);
    return std::all_of(lanes.begin(), lanes.end(),
                       [&](const ContentLane& lane) {
                         return has_tiles(lanes_, LaneKey{lane.lane.get(), lane.subset.get()});
                       }) &&
           (content->lanes().size() == 1 || has_tiles(combined_, content));
  });
}

void LevelRasterizer::take_lanes(const LevelRasterizer& other, std::span<const LevelContent* const> contents) {
  look_at(other.viewport_);
  for (const LevelContent* content : contents)
    for (const ContentLane& lane : kept_lanes(*content)) {
      const LaneKey key{lane.lane.get(), lane.subset.get()};
      const auto drawn = other.lanes_.find(key);
      if (drawn == other.lanes_.end() || lanes_.contains(key)) continue;
      lanes_.emplace(key, drawn->second);
      edges_[key.first] = other.edges_.at(key.first);
    }
}

std::optional<LevelRasterizer::Sum> LevelRasterizer::sum(const LevelContent& content, TimeRange range) const {
  const LevelContent* const only[] = {&content};
  if (content.lanes().empty() || !has(only, viewport_)) return std::nullopt;
  const std::int64_t end_column = first_column_ + viewport_.width;
  if (range.begin < grid_.time_at(first_column_) || range.end > grid_.time_at(end_column)) return std::nullopt;
  const bool is_one = content.lanes().size() == 1;
  const ContentLane& first = content.lanes().front();
  const LevelPixels& pixels = is_one ? lanes_.at({first.lane.get(), first.subset.get()}) : combined_.at(&content);
  bool any_before = false, any_behind = false;
  for (const ContentLane& lane : content.lanes()) {
    const TimeRange extent = lane.lane->extent();
    any_before |= extent.begin < range.begin;
    any_behind |= extent.end > range.end || lane.lane->segment_at(range.end) < lane.lane->segment_count();
  }
  Sum sum;
  bool is_known = true;
  pixels.for_each_column([&](std::int32_t x, const Column& column) {
    if (column.count == 0 && column.carried == 0) return;
    const Nanoseconds begin = grid_.time_at(first_column_ + x), end = grid_.time_at(first_column_ + x + 1);
    if (end <= range.begin || begin >= range.end) return;
    is_known &= (begin >= range.begin || !any_before) && (end <= range.end || !any_behind);
    sum.busy += column.busy;
    sum.total += column.total;
    sum.count += column.count;
  });
  if (!is_known) return std::nullopt;
  return sum;
}

// Returns the event if it is wide enough.
template <typename Events>
std::optional<LevelPixels::Single> LevelRasterizer::single(const Events& events, EventIndex index) const {
  if (!is_wide(events.duration(index))) return std::nullopt;
  return LevelPixels::Single{index, events.name(index), events.detail(index), {events.start(index), events.end(index)}};
}

void LevelRasterizer::run(Job& job, const std::stop_token& stop) const {
  TileTimes times;
  std::optional<std::int64_t> times_of;
  // Lanes on demand of which all events are shown are read in parts. A subset has events of its lane decoded anyway.
  const auto has_parts = [](const Job::OfLane& each) { return !each.content->lane->holds_segments() && !each.content->subset; };
  const bool by_parts = !job.lanes.empty() && std::all_of(job.lanes.begin(), job.lanes.end(), has_parts);
  std::optional<LaneInParts> in_parts;
  const Lane* of_parts = nullptr;
  for (Job::OfLane& each : job.lanes) {
    if (stop.stop_requested()) return;
    if (times_of != each.number) times = times_in(each.number);
    times_of = each.number;
    if (by_parts && each.finds_edges && each.tile != nullptr) {
      if (std::exchange(of_parts, each.content->lane.get()) != each.content->lane.get()) in_parts.emplace(*each.content->lane);
      fill_by_parts(*each.content, *in_parts, times, each.edges->edges, *each.tile);
      each.done = true;
      continue;
    }
    if (each.finds_edges) each.content->lane->lower_bounds(times, each.edges->edges);
    if (each.tile != nullptr) fill(*each.content, times, each.edges->edges, *each.tile);
    each.done = true;
  }
  for (auto first = job.levels.begin(); first != job.levels.end();) {
    if (stop.stop_requested()) return;
    auto end = first + 1;
    while (end != job.levels.end() && end->content == first->content && end->number == (end - 1)->number + 1) ++end;
    combine(*first->content, std::span(first, end));
    for (; first != end; ++first) first->done = true;
  }
}

LevelRasterizer::TileTimes LevelRasterizer::times_in(std::int64_t tile) const {
  TileTimes times;
  for (std::size_t edge = 0; edge < times.size(); ++edge) times[edge] = grid_.time_at(tile * kTileWidth + static_cast<std::int64_t>(edge));
  return times;
}

void LevelRasterizer::fill(const ContentLane& content, const TileTimes& times, const EdgesInTile& of_lane, LevelPixels::Tile& tile) const {
  content.visit([&](const auto& events) {
    auto edges = of_lane;
    if (content.subset) content.subset->ranks(of_lane, edges);
    tile.columns.clear();
    tile.singles.clear();
    tile.carried.reset();
    const bool carried = edges.front() > 0 && events.end(edges.front() - 1) > times.front();
    if (edges.front() == edges.back() && !carried) return;
    tile.columns.resize(kTileWidth);
    fill_columns(content, events, times, edges, tile.columns);
    // The event before an edge is seen singly if no other starts before the next edge: so every box is found at an edge, however many events there are.
    if (carried) tile.carried = single(events, edges.front() - 1);
    for (std::size_t edge = 1; edge < edges.size(); ++edge) {
      if (edges[edge] == edges[edge - 1]) continue;
      if (const auto seen = single(events, edges[edge] - 1)) tile.singles.push_back(*seen);
    }
  });
}

void LevelRasterizer::fill_by_parts(const ContentLane& content, const LaneInParts& events, const TileTimes& times, EdgesInTile& edges,
                                    LevelPixels::Tile& tile) const {
  tile.columns.clear();
  tile.singles.clear();
  tile.carried.reset();
  edges.front() = events.lower_bound(times.front());
  Nanoseconds last_end = edges.front() > 0 ? events.end(edges.front() - 1) : times.front();
  if (last_end > times.front()) tile.carried = single(events, edges.front() - 1);
  Nanoseconds busy_before = events.busy_before(times.front(), edges.front());
  for (std::size_t x = 0; x < static_cast<std::size_t>(kTileWidth); ++x) {
    const EventIndex edge = edges[x + 1] = std::max(edges[x], events.lower_bound(times[x + 1]));  // a damaged segment may be replaced meanwhile
    Nanoseconds busy = std::max<Nanoseconds>(0, std::min(last_end, times[x + 1]) - times[x]);
    if (edge != edges[x]) {
      const Nanoseconds before = std::exchange(busy_before, events.busy_before(times[x + 1], edge));
      busy = busy_before - before;
      last_end = events.end(edge - 1);
      if (const auto seen = single(events, edge - 1)) tile.singles.push_back(*seen);
    } else {
      busy_before += busy;
    }
    if (busy == 0 && edge == edges[x]) continue;
    tile.columns.resize(kTileWidth);
    add_events(tile.columns[x], content, events, {times[x], times[x + 1]}, edges[x], edge, busy);
    tile.columns[x].busy = busy;
  }
}

bool LevelRasterizer::is_wide(Nanoseconds duration) const noexcept {
  return static_cast<double>(duration) * grid_.width >= kNarrowestBox * static_cast<double>(grid_.length);
}

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

void LevelRasterizer::combine(const LevelContent& content, std::span<const OfLevel> tiles) const {
  Sharing sharing(tiles.size() * kTileWidth);
  for (const OfLevel& each : tiles) each.tile->columns.clear();
  if (kept_lanes(content).empty()) gather(content, tiles, sharing);
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
      sharing.add(i, columns);
    }
  }

  std::vector<Nanoseconds> times, busy;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileTimes of_tile = times_in(tiles[i].number);
    times.insert(times.end(), of_tile.begin(), of_tile.end() - 1);
    if (i + 1 == tiles.size()) times.push_back(of_tile.back());
    const std::vector<Column>& columns = tiles[i].tile->columns;
    for (std::size_t x = 0; x < kTileWidth; ++x) busy.push_back(columns.empty() ? 0 : columns[x].total);
  }
  const auto is_shared = [&](std::size_t x) { return sharing.lanes[x] > 1 && sharing.longest[x] < times[x + 1] - times[x]; };
  for (std::size_t first = 0; first < busy.size();) {
    if (!is_shared(first)) {
      ++first;
      continue;
    }
    std::size_t end = first + 1;
    for (std::size_t x = end; x < busy.size() && x <= end + kBridged; ++x)
      if (is_shared(x)) end = x + 1;
    const auto all_times = std::span(times).subspan(first, end - first + 1);
    content.unite(all_times, std::span(busy).subspan(first, end - first), lanes_within(content, tiles, first, end));
    first = end;
  }
  for (std::size_t x = 0; x < busy.size(); ++x)
    if (sharing.lanes[x] > 1 && !is_shared(x)) busy[x] = times[x + 1] - times[x];
  for (std::size_t i = 0; i < tiles.size(); ++i)
    for (std::size_t x = 0; x < tiles[i].tile->columns.size(); ++x) tiles[i].tile->columns[x].busy = busy[i * kTileWidth + x];
}

// The lanes that are busy in a part of the columns of these tiles; all lanes if that is not known.
std::vector<const ContentLane*> LevelRasterizer::lanes_within(const LevelContent& content, std::span<const OfLevel> tiles, std::size_t first,
                                                              std::size_t end) const {
  std::vector<const ContentLane*> lanes;
  for (const ContentLane& lane : content.lanes()) {
    bool is_busy = kept_lanes(content).empty();
    const LevelPixels* const pixels = is_busy ? nullptr : &lanes_.at({lane.lane.get(), lane.subset.get()});
    for (std::size_t x = first; x < end && !is_busy; ++x) {
      const std::vector<Column>& columns = pixels->tiles_[place_of(tiles[x / kTileWidth].number)].columns;
      is_busy = !columns.empty() && columns[x % kTileWidth].busy > 0;
    }
    if (is_busy) lanes.push_back(&lane);
  }
  return lanes;
}

void LevelRasterizer::collect_boxes(const ContentLane& content, const LevelPixels& of_lane, std::vector<Box>& into) const {
  const auto add = [&](const LevelPixels::Single& seen) {
    if (seen.time.end <= viewport_.range.begin || seen.time.begin >= viewport_.range.end) return;
    into.push_back({viewport_.x_at(seen.time.begin), viewport_.x_at(seen.time.end), content.ref(seen.index), content.kind, seen.name, seen.detail});
  };
  if (const auto& carried = of_lane.tiles_[place_of(first_tile_)].carried) add(*carried);
  for (std::int64_t number = first_tile_; number < end_tile_; ++number)
    for (const LevelPixels::Single& seen : of_lane.tiles_[place_of(number)].singles) add(seen);
}

const LevelPixels& LevelRasterizer::rasterize(const LevelContent& content, const Viewport& viewport) {
  const LevelContent* const only[] = {&content};
  prepare(only, viewport);
  const auto of_lane = [this](const ContentLane& lane) -> LevelPixels& { return lanes_.at({lane.lane.get(), lane.subset.get()}); };
  LevelPixels& pixels = content.lanes().size() == 1 ? of_lane(content.lanes().front()) : combined_.at(&content);
  if (pixels.boxes_are_current_) return pixels;
  pixels.boxes_are_current_ = true;
  pixels.boxes_.clear();
  for (const ContentLane& lane : kept_lanes(content)) collect_boxes(lane, of_lane(lane), pixels.boxes_);
  if (content.lanes().size() > 1) std::sort(pixels.boxes_.begin(), pixels.boxes_.end(), [](const Box& a, const Box& b) { return a.left < b.left; });
  return pixels;
}

std::vector<std::uint8_t> LevelRasterizer::matching_columns(const LevelContent& content, EventMatches& matches) const {
  std::vector<std::uint8_t> matching(static_cast<std::size_t>(viewport_.width));
  const auto mark = [&](std::int64_t column) {
    if (column >= first_column_ && column < first_column_ + viewport_.width) matching[static_cast<std::size_t>(column - first_column_)] = 1;
  };
  if (kept_lanes(content).empty())
    combined_.at(&content).for_each_column([&](std::int32_t x, const Column& shown) {
      if (shown.longest.valid() && matches.matches(shown.dominant)) mark(first_column_ + x);
    });
  for (const ContentLane& lane : kept_lanes(content)) {
    const LevelPixels& pixels = lanes_.at({lane.lane.get(), lane.subset.get()});
    // If all events have one name, or are wide, or if reading them all would take too long.
    const bool by_dominant = lane.subset || lane.projected || !matches.is_at_hand(lane.source);
    const LaneSubset* found = by_dominant ? nullptr : &matches.in_lane(lane.source);
    if (found != nullptr && found->empty()) continue;
    for (std::int64_t number = first_tile_; number < end_tile_; ++number) {
      const LevelPixels::Tile& tile = pixels.tiles_[place_of(number)];
      if (tile.columns.empty()) continue;
      const auto& edges = edges_.at(lane.lane.get())[place_of(number)].edges;
      auto ranks = edges;
      if (found != nullptr) found->ranks(edges, ranks);
      for (std::size_t x = 0; x < tile.columns.size(); ++x) {
        const std::int64_t column = number * kTileWidth + static_cast<std::int64_t>(x);
        const Column& shown = tile.columns[x];
        if (found == nullptr ? shown.longest.valid() && matches.matches(shown.dominant)
                             : ranks[x + 1] > ranks[x] || (ranks[x] > 0 && found->end(ranks[x] - 1) > grid_.time_at(column)))
          mark(column);
      }
    }
  }
  return matching;
}

}  // namespace lanescope::timeline
