// Sorts the events of many tracks, of which memory holds a part: what is beyond goes to a temporary file, as runs that are in order and are
// merged when they are asked for. Internal to model/trace.
//
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <functional>
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

  // Events take about `memory_bytes` at most. The file is made in `folder` when it is needed.
  EventRuns(std::uint64_t memory_bytes, std::filesystem::path folder);

  // Once writing has failed, events are no longer kept.
  void take(TrackId track, std::span<const Event> events, std::span<const std::uint32_t> depths) override;
  // Why events could not be kept; success where all were.
  [[nodiscard]] const Result<void>& condition() const noexcept { return condition_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t track_count() const noexcept { return tracks_.size(); }

  // Calls use(row) with all events of a track: those that begin first come first, of these the longest, of these those that were taken
  // first. Ends where use() fails. The track is empty afterwards. O(n log runs).
  [[nodiscard]] Result<void> drain(TrackId track, const std::function<Result<void>(const Row&)>& use);

 private:
  class RunReader;
  // Rows of a run in the file.
  struct Block {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t rows = 0;
  };
  using Run = std::vector<Block>;
  struct Track {
    std::vector<Row> rows;  // that are in memory
    std::vector<Run> runs;
  };

  void spill();
  [[nodiscard]] Result<void> write(std::span<const Row> rows, Run& run);

  const std::uint64_t most_rows_;  // in memory
  std::vector<Track> tracks_;
  std::uint64_t rows_in_memory_ = 0;
  std::uint64_t size_ = 0;
  ScratchFile file_;
  Result<void> condition_;
};

}  // namespace lanescope
