#include "timeline/core/pixels/level_pixels.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "column_sums.h"
#include "lanes/lane_groups.h"
#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

constexpr EventIndex kFewOfTile = kTileWidth / 8;  // events of one of very many lanes: adding up to this many one by one is faster than columns
constexpr int kBridged = 8;                        // columns without overlaps that are processed all the same, because starting again behind them takes longer
constexpr std::size_t kAhead = 12;                 // columns: by then prefetched data has arrived
// The number of a lane's segments, or of segments of each lane of which only times are decoded, for a part of the columns: large enough that the segments at
// the ends, which are read for both parts, hardly matter.
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

// Passes tiles of levels to `use`, neighbouring ones of a level together.
template <typename Tile, typename Use>
void for_neighbours(std::vector<Tile>& tiles, Use use) {
  for (auto first = tiles.begin(); first != tiles.end();) {
    auto end = first + 1;
    while (end != tiles.end() && end->content == first->content && end->number == (end - 1)->number + 1) ++end;
    use(std::span(first, end));
    first = end;
  }
}

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
  // for all levels at once, so that each is decoded once or twice if there is no room for those of all lanes.
  std::vector<Job> jobs(static_cast<std::size_t>(end_tile_ - first_tile_));
  std::map<const Lane*, std::vector<Job::OfLane>> of_lanes_on_demand;
  std::vector<std::vector<OfLevel>> levels_on_demand;
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
      levels_on_demand.push_back(std::move(tiles));
  }
  std::erase_if(jobs, [](const Job& job) { return job.lanes.empty() && job.levels.empty(); });
  for (auto& [lane, tiles] : of_lanes_on_demand) {
    // All subsets of a lane take their events of a segment at once.
    std::stable_sort(tiles.begin(), tiles.end(), [](const Job::OfLane& a, const Job::OfLane& b) { return a.number < b.number; });
    divide(std::span(tiles), lane->segment_count() / kFewestSegments, [&](auto part) { jobs.push_back({{part.begin(), part.end()}, {}}); });
  }
  work_in_parts(jobs.size(), [&](std::size_t index) { run(jobs[index], stop); });
  const auto forget_undone = [](const std::vector<OfLevel>& tiles) {
    for (const OfLevel& each : tiles)
      if (!each.done) each.tile->number = LevelPixels::kNoTile;
  };
  for (const Job& job : jobs) {
    for (const Job::OfLane& each : job.lanes) {
      if (each.done) continue;
      each.edges->number = LevelPixels::kNoTile;
      if (each.tile != nullptr) each.tile->number = LevelPixels::kNoTile;
    }
    forget_undone(job.levels);
  }
  std::vector<std::span<OfLevel>> neighbours;
  for (std::vector<OfLevel>& tiles : levels_on_demand) for_neighbours(tiles, [&](std::span<OfLevel> some) { neighbours.push_back(some); });
  combine_together(neighbours, stop);
  for (const std::vector<OfLevel>& tiles : levels_on_demand) forget_undone(tiles);
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

void LevelRasterizer::take(const LevelRasterizer& other, std::span<const LevelContent* const> contents) {
  look_at(other.viewport_);
  for (const LevelContent* content : contents) {
    if (const auto drawn = other.combined_.find(content); drawn != other.combined_.end()) combined_.try_emplace(content, drawn->second);
    for (const ContentLane& lane : kept_lanes(*content)) {
      const LaneKey key{lane.lane.get(), lane.subset.get()};
      const auto drawn = other.lanes_.find(key);
      if (drawn == other.lanes_.end() || lanes_.contains(key)) continue;
      lanes_.emplace(key, drawn->second);
      edges_[key.first] = other.edges_.at(key.first);
    }
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
  for_neighbours(job.levels, [&](std::span<OfLevel> tiles) {
    if (!stop.stop_requested()) combine(tiles);
  });
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
    for (std::size_t x = 0; x < columns.size(); ++x) columns[x].busy = combination.busy[i * kTileWidth + x];
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

// Levels that have lanes in common are worked on together. The others are for other cores, and so are parts of the time, if there is more than one segment of
// a lane for each of them.
void LevelRasterizer::combine_together(std::span<const std::span<OfLevel>> levels, const std::stop_token& stop) const {
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
    std::size_t segments = 0;
    for (const Lane* lane : group.lanes) segments += lane->segment_count();
    const auto count = static_cast<std::int64_t>(1 + segments / group.lanes.size() / kFewestTimes);
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
