#include "timeline/core/pixels/level_pixels.h"

#include <algorithm>
#include <utility>

#include "level_work.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/parallel.h"

namespace lanescope::timeline {
namespace {

// The number of a lane's segments for a part of the columns: large enough that the segments at the ends, which are read for both parts, hardly matter.
constexpr std::size_t kFewestSegments = 16;

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

// What remains to be made of levels whose lanes are on demand.
struct LevelRasterizer::OnDemand {
  std::map<const Lane*, std::vector<Job::OfLane>> lanes;  // by number
  std::vector<std::vector<OfLevel>> levels;               // the tiles of each, by number
};

void LevelRasterizer::prepare(std::span<const LevelContent* const> contents, const Viewport& viewport, const std::stop_token& stop) {
  look_at(viewport);
  // For lanes in memory, jobs are made tile by tile, so that all cores have work. Segments that are decoded on demand are processed lane by lane, and then
  // for all levels at once, so that each is decoded once or twice if there is no room for those of all lanes.
  std::vector<Job> jobs(static_cast<std::size_t>(end_tile_ - first_tile_));
  OnDemand on_demand;
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
        auto& work = lane.lane->holds_segments() ? jobs[static_cast<std::size_t>(number - first_tile_)].lanes : on_demand.lanes[lane.lane.get()];
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
      on_demand.levels.push_back(std::move(tiles));
  }
  std::erase_if(jobs, [](const Job& job) { return job.lanes.empty() && job.levels.empty(); });
  // All subsets of a lane take their events of a segment at once.
  for (auto& [lane, tiles] : on_demand.lanes)
    std::stable_sort(tiles.begin(), tiles.end(), [](const Job::OfLane& a, const Job::OfLane& b) { return a.number < b.number; });
  run(jobs, stop);
  prepare(on_demand, stop);
}

// What is read of lanes stays undecoded for what they cover together. So that there is room for it, the time is divided into runs of tiles. If there is no room
// for the segments of two tiles, they are read again.
void LevelRasterizer::prepare(OnDemand& work, const std::stop_token& stop) const {
  if (work.lanes.empty() && work.levels.empty()) return;
  const auto bytes_between = [&](std::int64_t first, std::int64_t end) {
    std::uint64_t bytes = 0;
    for (const auto& [lane, tiles] : work.lanes)
      bytes +=
          segments_within(*lane, {time_of_tile(first), time_of_tile(end)}) * std::min(lane->size(), LaneSegment::kCapacity) * SegmentCache::kUndecodedEvent;
    return bytes;
  };
  // Segments that were used in the run before are still there when those of the next run come.
  const std::uint64_t room = SegmentCache::of_process().room_for_undecoded();
  Segments segments = Segments::kAreKept;
  for (std::int64_t tile = first_tile_; tile < end_tile_ && segments == Segments::kAreKept; ++tile)
    if (bytes_between(std::max(first_tile_, tile - 1), tile + 1) > room) segments = Segments::kAreReadAgain;
  for (std::int64_t before = first_tile_, first = first_tile_, end = end_tile_; first < end_tile_; before = first, first = std::exchange(end, end_tile_)) {
    while (segments == Segments::kAreKept && end - first > 1 && bytes_between(before, end) > room) end = first + (end - first) / 2;
    const auto within = [&](auto& tiles) {
      const auto is_before = [](std::int64_t number) { return [number](const auto& tile) { return tile.number < number; }; };
      const auto begin = std::partition_point(tiles.begin(), tiles.end(), is_before(first));
      return std::span(begin, std::partition_point(begin, tiles.end(), is_before(end)));
    };
    std::vector<Job> jobs;
    for (auto& [lane, of_lane] : work.lanes) {
      const std::size_t parts = segments_within(*lane, {time_of_tile(first), time_of_tile(end)}) / kFewestSegments;
      divide(within(of_lane), parts, [&](auto part) { jobs.push_back({{part.begin(), part.end()}, {}}); });
    }
    run(jobs, stop);
    std::vector<std::span<OfLevel>> neighbours;
    for (std::vector<OfLevel>& of_level : work.levels) for_neighbours(within(of_level), [&](std::span<OfLevel> some) { neighbours.push_back(some); });
    combine_together(neighbours, segments, stop);
  }
  for (const std::vector<OfLevel>& of_level : work.levels) forget_undone(of_level);
}

void LevelRasterizer::run(std::span<Job> jobs, const std::stop_token& stop) const {
  work_in_parts(jobs.size(), [&](std::size_t index) { run(jobs[index], stop); });
  for (const Job& job : jobs) {
    for (const Job::OfLane& each : job.lanes) {
      if (each.done) continue;
      each.edges->number = LevelPixels::kNoTile;
      if (each.tile != nullptr) each.tile->number = LevelPixels::kNoTile;
    }
    forget_undone(job.levels);
  }
}

void LevelRasterizer::forget_undone(std::span<const OfLevel> tiles) {
  for (const OfLevel& each : tiles)
    if (!each.done) each.tile->number = LevelPixels::kNoTile;
}

Nanoseconds LevelRasterizer::time_of_tile(std::int64_t number) const noexcept { return grid_.time_at(number * kTileWidth); }

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
  for_neighbours(std::span(job.levels), [&](std::span<OfLevel> tiles) {
    if (!stop.stop_requested()) combine(tiles);
  });
}

LevelRasterizer::TileTimes LevelRasterizer::times_in(std::int64_t tile) const {
  TileTimes times;
  for (std::size_t edge = 0; edge < times.size(); ++edge) times[edge] = grid_.time_at(tile * kTileWidth + static_cast<std::int64_t>(edge));
  return times;
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
