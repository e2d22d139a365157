// Helpers for recordings whose segments are decoded on demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../model/trace/compact/recordings.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "support/catch.h"
#include "timeline/core/navigation.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/view/view_content.h"

namespace lanescope::test {

namespace fs = std::filesystem;
using namespace timeline;

// Sets the budget during its lifetime.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) { SegmentCache::of_process().set_budget(bytes); }
  ~Budget() { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
};

inline std::uint64_t decoded() { return SegmentCache::of_process().use().decoded; }

// One recording, in memory and in its file.
struct Both {
  Both(const fs::path& recording, const fs::path& folder) {
    compacted(recording, folder / "compact.trace");
    memory = loaded(folder / "compact.trace");
    auto opened = load_trace(folder / "compact.trace", {}, EventPlace::kInFile);
    REQUIRE(opened);
    file = *opened;
  }
  std::shared_ptr<const Trace> memory, file;
};

// What every row shows, opened or not, without levels that differ if they are asked for twice.
inline std::vector<Level> levels_of(const RowTree& tree) {
  std::vector<Level> levels;
  for (const Row& row : tree.rows()) {
    if (!row.all.empty()) levels.push_back(row.all);
    levels.insert(levels.end(), row.levels.begin(), row.levels.end());
  }
  std::erase_if(levels,
                [](const Level& level) { return std::any_of(level.begin(), level.end(), [](const LaneSource& source) { return source.is_derived(); }); });
  return levels;
}

inline std::vector<TimeRange> some_ranges(TimeRange extent, std::mt19937& random, int count) {
  std::vector<TimeRange> ranges{padded(extent, 0.01)};
  for (int i = 0; i < count; ++i) {
    const Nanoseconds length = std::max<Nanoseconds>(200, extent.length() >> (random() % 20));
    const Nanoseconds begin = extent.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 1)) - length / 2;
    ranges.push_back({begin, begin + length});
  }
  return ranges;
}

inline bool same_pixels(const LevelPixels& a, const LevelPixels& b) {
  if (a.width() != b.width() || a.boxes() != b.boxes()) return false;
  for (std::int32_t x = 0; x < a.width(); ++x)
    if (!(a.column(x) == b.column(x))) return false;
  return true;
}

inline std::vector<const Level*> pointers(const std::vector<Level>& levels) {
  std::vector<const Level*> all;
  for (const Level& level : levels) all.push_back(&level);
  return all;
}

// Paints as the view does: the first painting needs no segment; then another thread makes the picture.
inline Painted painted_exactly(ViewContent& content, Pane pane, const std::vector<Level>& levels, const Viewport& viewport) {
  const std::uint64_t before = decoded();
  const Painted first = content.painted(pane, pointers(levels), viewport);
  REQUIRE(first.contents.size() == levels.size());
  for (const LevelContent* level : first.contents) (void)first.rasterizer->rasterize(*level, viewport);
  REQUIRE(decoded() == before);
  if (first.detail == Painted::Detail::kExact) return first;
  Picture picture = content.take_picture();
  picture.want(pane, levels, viewport);
  std::jthread([&] { picture.make({}); }).join();
  content.put(std::move(picture));
  const std::uint64_t made = decoded();
  const Painted exact = content.painted(pane, pointers(levels), viewport);
  REQUIRE(exact.detail == Painted::Detail::kExact);
  for (const LevelContent* level : exact.contents) (void)exact.rasterizer->rasterize(*level, viewport);
  REQUIRE(decoded() == made);  // painting waits for nothing
  return exact;
}

}  // namespace lanescope::test
