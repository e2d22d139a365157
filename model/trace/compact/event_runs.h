// Sorts the events of many tracks, of which memory holds only a part. Most tracks come nearly in order: events that lie far enough behind the latest
// event are handed on while others come, and the code that takes them early need not sort them again. Other events that exceed the memory go to a
// temporary file, as sorted runs that are merged when they are asked for.
// Internal to model/trace.
//
// Threads: one at a time, except where noted.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/file/scratch_file.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

class EventRuns final : public EventSink {
 public:
  static constexpr std::uint32_t kNoDepth = kNone;
  static constexpr std::string_view kNeed = "It takes about twice the recording's size for a while.";  // of room for temporary files
  struct Row {
    Nanoseconds start;
    Nanoseconds duration;
    NameId name;
    std::uint32_t correlation;
    DetailId detail;
    std::uint32_t depth;  // kNoDepth if none was given
    [[nodiscard]] Event event() const noexcept { return {start, duration, name, correlation, detail}; }
  };
  using Rows = std::span<const Row>;

  // Takes the first events of tracks while others still come.
  class EarlyTaker {
   public:
    virtual ~EarlyTaker() = default;
    // Takes events of a track, in order, after those that it took before. In a track without depths the order is that of all events, otherwise that of
    // the events of each depth.
    [[nodiscard]] virtual Result<void> take_early(TrackId track, Rows rows) = 0;
    // Calls use(rows) with all events of the track that it took, as several sorted runs, one after the other: each run is followed by empty rows.
    // Forgets the events.
    [[nodiscard]] virtual Result<void> give_back(TrackId track, const std::function<Result<void>(Rows)>& use) = 0;
    // Bytes of memory that the taken events need.
    [[nodiscard]] virtual std::uint64_t held_bytes() const = 0;
  };

  // Events take about `memory_bytes` at most. The file is created in `folder` when it is needed.
  EventRuns(std::uint64_t memory_bytes, std::filesystem::path folder);

  // From now on events without depths may go to the taker, which must outlive this object; null: no more.
  void hand_on_to(EarlyTaker* taker) noexcept { taker_ = taker; }
  // After a write has failed, events are no longer kept.
  void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) override;
  // Takes back the events of all tracks that were handed on.
  void take_back_all();
  // Must be called once all events are there. For tracks in which an event came after later ones had been handed on, it takes back the events that were
  // handed on.
  [[nodiscard]] Result<void> settle();
  // Why events could not be kept; success if all were kept.
  [[nodiscard]] const Result<void>& condition() const noexcept { return condition_; }
  // True if some could not be kept so far. Any thread may ask.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Number of events that went to the temporary file, some perhaps more than once.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] std::size_t track_count() const noexcept { return tracks_.size(); }

  // Calls use(rows) with all events of a track that are not handed on. They are sorted by start; events with the same start by duration, the longest
  // first; then by depth, the smallest first; then in the order in which they were taken. Stops if use() fails. The track is empty afterwards. O(n log
  // runs).
  [[nodiscard]] Result<void> drain(TrackId track, const std::function<Result<void>(Rows)>& use);

 private:
  class RunReader;
  // Rows of a run in the file.
  struct Block {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t rows = 0;
  };
  using Run = std::vector<Block>;
  enum class Handed : std::uint8_t {
    kNothing,
    kInOrder,   // no event has come since that belongs before `last_handed`
    kByDepths,  // all are handed on; each starts after the end of the previous event of its depth
    kTooEarly,
  };
  struct Track {
    std::vector<Row> rows;   // rows in memory
    std::size_t sorted = 0;  // number of the first rows that are in order
    std::vector<Run> runs;
    Handed handed = Handed::kNothing;
    bool has_depths = false;
    Row last_handed{};
    std::vector<Row> last_of_depths;
    Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();  // the latest start of any event
    Nanoseconds lateness = 0;                                      // the most that an event came behind the latest one before it
    std::size_t window = kWindow;                                  // number of rows from which on some may be handed on
  };
  static constexpr std::size_t kWindow = 16'384;

  void add(TrackId track, std::span<const Event> events, std::span<const std::uint32_t> depths);
  [[nodiscard]] std::uint64_t most_rows_now() const;
  [[nodiscard]] bool take_by_depths(TrackId track, std::span<const Event> events, std::span<const std::uint32_t> depths);
  void make_room();
  [[nodiscard]] bool may_hand_on(const Track& track) const;
  void hand_on_settled(TrackId track);
  void hand_on(TrackId track, std::size_t count);
  void spill(Track& track);
  void take_back(TrackId track);
  [[nodiscard]] Result<void> write(Rows rows, Run& run);
  static void sort(Track& track);

  const std::uint64_t most_rows_;  // in memory
  std::vector<Track> tracks_;
  std::uint64_t rows_in_memory_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t written_ = 0;
  EarlyTaker* taker_ = nullptr;
  ScratchFile file_;
  Result<void> condition_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace lanescope
