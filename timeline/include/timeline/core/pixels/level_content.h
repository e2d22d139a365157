// What a level of a row shows, ready to be asked for pixels: its lanes, or the events that it takes of them, and the union of their busy
// time where they are several.
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
  std::shared_ptr<const LaneSubset> subset;  // null where all events are taken
  // Where `lane` is no lane of the trace, but of ranges as they are on a GPU, or of calls that samples were seen in: the index in the source of
  // each, or of its first sample. Else null.
  std::shared_ptr<const std::vector<EventIndex>> projected;

  // Calls function(const Lane&) or function(const LaneSubset&), whichever has the events that are taken; both answer the same queries.
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

// Where the events of a lane lie, beside each other for very many lanes: most of them have nothing in a part of the time, or one event all through.
struct LaneExtent {
  TimeRange time;       // from the first start to the last end
  bool is_one = false;  // event alone
  TrackKind kind = TrackKind::kKernels;
  NameId name = 0;  // of that one
};

class LevelContent {
 public:
  // More lanes than this are very many: no box of one could be told from others.
  static constexpr std::size_t kManyLanes = 512;

  LevelContent(const std::shared_ptr<const Trace>& trace, const Level& level);

  [[nodiscard]] const std::vector<ContentLane>& lanes() const noexcept { return lanes_; }
  // Of very many lanes, where each lies; else none, and where segments are decoded when they are needed.
  [[nodiscard]] std::span<const LaneExtent> extents() const noexcept { return extents_; }
  // Of all lanes. Lanes whose segments are decoded when they are needed have none: it would take memory for each event.
  [[nodiscard]] const BusyUnion& merged() const noexcept { return merged_; }
  // As BusyUnion::unite(), of all lanes. Where there is no union, also O(events from the first time to the last); but of an outline of lanes in
  // memory, the sum over the lanes, and no more than the time there is.
  void unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy) const;
  // The same where it is known which lanes something runs in within those times.
  void unite(std::span<const Nanoseconds> times, std::span<Nanoseconds> busy, std::span<const ContentLane* const> running) const;
  // Whether all lanes have their events in memory.
  [[nodiscard]] bool holds_segments() const noexcept;
  // Time within the window in which at least one event runs. O(lanes · log n), and as unite().
  [[nodiscard]] Nanoseconds busy(TimeRange window) const noexcept;
  // The same of neighbouring windows: into[i] is of [edges[i], edges[i + 1]). Requires: edges ascend and are one more than `into`. Lanes cost
  // something in those windows alone in which they have events.
  void busy(std::span<const Nanoseconds> edges, std::span<Nanoseconds> into) const noexcept;
  // Events that start within the window. O(lanes · log n).
  [[nodiscard]] std::uint64_t count(TimeRange window) const noexcept;

 private:
  friend class ContentCache;
  // The lanes, without their union.
  LevelContent(LaneIndexes& indexes, const Level& level);
  // The first time from which on the level of an earlier snapshot may be another.
  [[nodiscard]] Nanoseconds unchanged_until(LaneIndexes& indexes, const LevelContent& before) const;
  // `before`, where given, is the same level of an earlier snapshot: its union holds up to that time.
  void merge(const LevelContent* before, Nanoseconds unchanged_until);

  [[nodiscard]] std::vector<BusyLane> busy_lanes() const;

  enum class Uniting : std::uint8_t { kExact, kBounded };
  std::vector<ContentLane> lanes_;
  std::vector<LaneExtent> extents_;
  Uniting uniting_ = Uniting::kExact;
  BusyUnion merged_;
};

// Contents of one trace, made when first asked for and kept while they are of use. One thread at a time; a copy, which shares the contents,
// may go on in another one. O(levels).
class ContentCache {
 public:
  ContentCache() = default;
  explicit ContentCache(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked, Lanes lanes = Lanes::kWhole)
      : indexes_(std::move(trace), projecting, lanes) {}
  // The same recording has grown: brings the contents up to date that were asked for since it grew the last few times, on all cores;
  // others when they are next asked for. References to contents end here.
  void grow(std::shared_ptr<const Trace> trace, Projecting projecting = Projecting::kWhenAsked);
  // What another cache has of an earlier snapshot, or of the same, and this one has not, is brought up to date when it is asked for.
  void take_over(const ContentCache& other);
  // What another cache of the same snapshot has, this one has, too. O(levels).
  void add(const ContentCache& other);
  // Of each level, in order; those that are new are made at once, on all cores. First call for a level: O(events of its lanes) where it
  // combines or filters lanes, else O(segments); after grow(), O(events that came). References stay valid until grow(), or a
  // forget_unused() that tells otherwise.
  [[nodiscard]] std::vector<const LevelContent*> contents(std::span<const Level* const> levels);
  const LevelContent& content(const Level& level);
  // The same, unless about more than `most` events would be looked at for those that are new: then none is made. Ranges on GPUs and stack charts do
  // not count: whether they are worked out is for Projecting to say.
  [[nodiscard]] std::optional<std::vector<const LevelContent*>> contents_within(std::uint64_t most, std::span<const Level* const> levels);
  // The same, but null where it was not made yet. O(log levels).
  [[nodiscard]] const LevelContent* find(const Level& level) const;
  // Frees what was not asked for in the last kKept calls. True where there was any: then references to contents and to their subsets of
  // lanes end.
  bool forget_unused();
  static constexpr std::uint64_t kKept = 1'000;
  // Whether a content may lack NVTX ranges on a GPU that are still to be worked out (Projecting::kAsBefore).
  [[nodiscard]] bool lacks_projections() const noexcept { return indexes_.lacks_projections(); }
  // Of indexes and unions, beyond the trace's own.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  using Key = std::array<std::uint64_t, 3>;  // the number of lanes, and two hashes of them: levels may have hundreds of thousands
  struct Entry {
    Level level;
    std::shared_ptr<const LevelContent> content;
    unsigned growths = 0;       // of the recording, since it was asked for
    std::uint64_t used_in = 0;  // when it was asked for: after which call of forget_unused()
  };
  using Contents = std::map<Key, Entry>;
  struct Merge {
    LevelContent* content;
    const LevelContent* before = nullptr;
    Nanoseconds unchanged_until = 0;
  };
  static void run(const std::vector<Merge>& merges);
  // How many events are looked at for levels that are not there, and were not in an earlier snapshot.
  [[nodiscard]] std::uint64_t events_of(const std::vector<Contents::iterator>& made) const;
  // The lanes of a level, and what is to be done for their union.
  std::shared_ptr<LevelContent> start(const Level& level, const LevelContent* before, std::vector<Merge>& merges);

  LaneIndexes indexes_;
  Contents contents_;
  Contents before_;  // of earlier snapshots, as far as not yet brought up to date
  std::uint64_t calls_ = 0;
};

}  // namespace lanescope::timeline
