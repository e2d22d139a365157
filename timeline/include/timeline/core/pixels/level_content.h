// The content of a level of a row, ready for drawing: its lanes or the events that it selects of them, and the union of their busy time if they are several.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "timeline/core/lanes/busy_union.h"
#include "timeline/core/lanes/lane_indexes.h"
#include "timeline/core/rows/row_tree.h"

namespace lanescope::timeline {

// A lane of a level, or some of its events.
struct ContentLane {
  TrackKind kind = TrackKind::kKernels;
  LaneId source = kNone;
  std::shared_ptr<const Lane> lane;
  std::shared_ptr<const LaneSubset> subset;  // null if all events are selected
  // If `lane` is not a lane of the trace, but holds ranges projected on a GPU or calls of samples: the index of each range in the source, or of the first
  // sample of each call. Else null.
  std::shared_ptr<const std::vector<EventIndex>> projected;

  // Calls function(const Lane&) or function(const LaneSubset&), depending on which has the selected events; both have the same queries.
  template <typename Function>
  decltype(auto) visit(Function&& function) const {
    return subset ? function(*subset) : function(*lane);
  }
  [[nodiscard]] EventIndex size() const noexcept { return subset ? subset->size() : lane->size(); }
  [[nodiscard]] EventRef ref(EventIndex index) const noexcept {
    if (projected) return {source, (*projected)[index]};
    return {source, subset ? subset->source_index(index) : index};
  }
};

// The extent of a lane's events. Stored side by side for very many lanes, because most lanes have nothing in a part of the time, or one event throughout.
struct LaneExtent {
  TimeRange time;       // from the first start to the last end
  bool is_one = false;  // the lane has only one event
  TrackKind kind = TrackKind::kKernels;
  NameId name = 0;  // of that event
};

class LevelContent {
 public:
  // Number of lanes above which a level has very many lanes: boxes of single lanes could not be distinguished.
  static constexpr std::size_t kManyLanes = 512;

  LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level);

  [[nodiscard]] const std::vector<ContentLane>& lanes() const noexcept { return lanes_; }
  // The extents of the lanes if there are very many; empty otherwise, and if segments are decoded on demand.
  [[nodiscard]] std::span<const LaneExtent> extents() const noexcept { return extents_; }
  // Of all lanes. Empty if segments are decoded on demand, because it would take memory for each event.
  [[nodiscard]] const BusyUnion& merged() const noexcept { return merged_; }
  // As BusyUnion::unite(), of all lanes. If there is no union, also O(events from the first time to the last); but for an outline of lanes in memory, the sum
  // over the lanes, limited to the elapsed time.
  void unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) const;
  // The same if the lanes with events within those times are known.
  void unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy, std::span<const ContentLane* const> running) const;
  // True if all lanes have their events in memory.
  [[nodiscard]] bool holds_segments() const noexcept;
  // Time within the window in which at least one event runs. O(lanes · log n), and as unite().
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept;
  // The same for neighbouring windows: into[i] is for [edges[i], edges[i + 1]). Requires: edges ascend and have one more element than `into`. Lanes cost time
  // only in windows in which they have events.
  void busy(std::span<const Nanoseconds> edges, std::span<Nanoseconds> into) const noexcept;
  // Events that start within the window. O(lanes · log n).
  [[nodiscard]] std::uint64_t count(TimeRange window) const noexcept;

 private:
  friend class ContentCache;
  // The lanes, without their union.
  LevelContent(LaneIndexes& indexes, const Level& level);
  // The first time from which the level may differ from that of an earlier snapshot.
  [[nodiscard]] Nanoseconds unchanged_until(LaneIndexes& indexes, const LevelContent& before) const;
  // `before`, if given, is the same level of an earlier snapshot: its union is valid until that time.
  void merge(const LevelContent* before, Nanoseconds unchanged_until);

  [[nodiscard]] std::vector<BusyLane> busy_lanes() const;

  enum class Uniting : std::uint8_t { kExact, kBounded };
  std::vector<ContentLane> lanes_;
  std::vector<LaneExtent> extents_;
  Uniting uniting_ = Uniting::kExact;
  BusyUnion merged_;
};

// Contents of one trace, created on demand and kept while they are used. Threads: one at a time; a copy, which shares the contents, may be used in another
// thread. Copying is O(levels).
class ContentCache {
 public:
  ContentCache() = default;
  explicit ContentCache(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Lanes lanes = Lanes::kWhole)
      : indexes_(std::move(trace), projecting, lanes) {}
  // Continues with a later state of the same recording: updates the contents that were requested during the last few growths, on all cores; others when they
  // are requested again. References to contents become invalid.
  void grow(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked);
  // Takes contents that another cache has of an earlier or of the same snapshot and this one lacks; they are updated on demand.
  void take_over(const ContentCache& other);
  // Takes all contents of another cache of the same snapshot. O(levels).
  void add(const ContentCache& other);
  // The content of each level, in order; missing ones are created at once, on all cores. First call for a level: O(events of its lanes) if it combines or
  // filters lanes, else O(segments); after grow(), O(added events). References stay valid until grow(), or until forget_unused() returns true.
  [[nodiscard]] std::vector<const LevelContent*> contents(std::span<const Level* const> levels);
  const LevelContent& content(const Level& level);
  // The same, except if more than about `most` events would have to be read for missing contents: then none is created. Ranges on GPUs and stack charts do not
  // count: Projecting decides about them.
  [[nodiscard]] std::optional<std::vector<const LevelContent*>> contents_within(std::uint64_t most, std::span<const Level* const> levels);
  // The same, but null if it was not created yet. O(log levels).
  [[nodiscard]] const LevelContent* find(const Level& level) const;
  // Frees contents that were not requested in the last kKept calls. Returns true if there were any: then references to contents and to their subsets of lanes
  // become invalid.
  bool forget_unused();
  static constexpr std::uint64_t kKept = 1'000;
  // True if a content may lack NVTX ranges on a GPU that are still to be computed (Projecting::kAsBefore).
  [[nodiscard]] bool lacks_projections() const noexcept { return indexes_.lacks_projections(); }
  // Of indexes and unions, without the trace itself.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  using Key = std::array<std::uint64_t, 3>;  // the number of lanes and two hashes of them, because levels may have hundreds of thousands
  struct Entry {
    Level level;
    std::shared_ptr<const LevelContent> content;
    unsigned growths = 0;       // of the recording, since the last request
    std::uint64_t used_in = 0;  // time of the last request: the number of calls of forget_unused() before it
  };
  using Contents = std::map<Key, Entry>;
  struct Merge {
    LevelContent* content;
    const LevelContent* before = nullptr;
    Nanoseconds unchanged_until = 0;
  };
  static void run(const std::vector<Merge>& merges);
  // The number of events to be read for levels that are missing here and in the earlier snapshot.
  [[nodiscard]] std::uint64_t events_of(const std::vector<Contents::iterator>& made) const;
  // Creates the lanes of a level, and adds the work for their union to `merges`.
  std::shared_ptr<LevelContent> start(const Level& level, const LevelContent* before, std::vector<Merge>& merges);

  LaneIndexes indexes_;
  Contents contents_;
  Contents before_;  // of earlier snapshots, as far as not yet updated
  std::uint64_t calls_ = 0;
};

}  // namespace lanescope::timeline
