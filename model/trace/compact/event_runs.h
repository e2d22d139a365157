// Sorts the events of many tracks, of which memory holds a part. Most tracks come nearly in order: what lies far enough behind the latest event is handed
// on while others come, and who takes it early need not sort it again. What else is beyond memory goes to a temporary file, as runs that are in order and
// are merged when they are asked for.
// Internal to model/trace.
//
// Threads: one at a time, but for what says otherwise.
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
    std::uint32_t depth;  // kNoDepth where none was given
    [[nodiscard]] Event event() const noexcept { return {start, duration, name, correlation, detail}; }
  };
  using Rows = std::span<const Row>;

  // Takes the first events of tracks while others still come.
  class EarlyTaker {
   public:
    virtual ~EarlyTaker() = default;
    // Of a track, in order, behind those that it took before: of one without depths, of all of them, else of those of their depth.
    [[nodiscard]] virtual Result<void> take_early(TrackId track, Rows rows) = 0;
    // Calls use(rows) with all that it took of the track, as some runs that are in order, one after the other: run by run, with empty rows behind
    // each. Forgets them.
    [[nodiscard]] virtual Result<void> give_back(TrackId track, const std::function<Result<void>(Rows)>& use) = 0;
    // What those that it took take in memory.
    [[nodiscard]] virtual std::uint64_t held_bytes() const = 0;
  };

  // Events take about `memory_bytes` at most. The file is made in `folder` when it is needed.
  EventRuns(std::uint64_t memory_bytes, std::filesystem::path folder);

  // From now on events of no depth may go to the taker, which outlives this; null: no more.
  void hand_on_to(EarlyTaker* taker) noexcept { taker_ = taker; }
  // Once writing has failed, events are no longer kept.
  void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) override;
  // Takes back what was handed on of all tracks.
  void take_back_all();
  // To be called once all events are there: takes back what was handed on of tracks of which something came later that comes before it.
  [[nodiscard]] Result<void> settle();
  // Why events could not be kept; success where all were.
  [[nodiscard]] const Result<void>& condition() const noexcept { return condition_; }
  // Whether some could not, so far. Any thread may ask.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // How many of them went to the temporary file, some perhaps more than once.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] std::size_t track_count() const noexcept { return tracks_.size(); }

  // Calls use(rows) with all events of a track that are not handed on: those that begin first come first, of these the longest, of these those
  // of less depth, of these those that were taken first. Ends where use() fails. The track is empty afterwards. O(n log runs).
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
    kInOrder,   // none has come since that comes before `last_handed`
    kByDepths,  // all are, each behind the end of the one before of its depth
    kTooEarly,
  };
  struct Track {
    std::vector<Row> rows;   // that are in memory
    std::size_t sorted = 0;  // the first of them, which are in order
    std::vector<Run> runs;
    Handed handed = Handed::kNothing;
    bool has_depths = false;
    Row last_handed{};
    std::vector<Row> last_of_depths;
    Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();  // start of any
    Nanoseconds lateness = 0;                                      // how far one came behind the latest before it, at most
    std::size_t window = kWindow;                                  // rows of which some may be handed on
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
