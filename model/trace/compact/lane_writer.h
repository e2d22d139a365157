// Puts the events of tracks on lanes, cuts these into segments, and writes them, encoded on all cores while others come. What comes before it is known what
// else the file holds waits in a temporary file, as the frames that it will be. Internal to model/trace.
//
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <vector>

#include "event_runs.h"
#include "lane_order.h"
#include "model/file/result.h"
#include "model/file/scratch_file.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/lane_frames.h"

namespace lanescope {

class LaneWriter final : public EventRuns::EarlyTaker {
 public:
  using Rows = EventRuns::Rows;
  // The file is made in `folder` when it is needed. Fails once the segments make a file of more than `most_bytes`.
  LaneWriter(const std::filesystem::path& folder, std::uint64_t most_bytes) : most_bytes_(most_bytes), frames_(folder, std::string(EventRuns::kNeed)) {}

  // Is added to the starts of events. Requires: nothing was taken, or all was given back.
  void set_epoch(Nanoseconds epoch) noexcept { epoch_ = epoch; }
  [[nodiscard]] Nanoseconds epoch() const noexcept { return epoch_; }

  [[nodiscard]] Result<void> take_early(TrackId track, Rows rows) override;
  [[nodiscard]] Result<void> give_back(TrackId track, const std::function<Result<void>(Rows)>& use) override;
  [[nodiscard]] std::size_t held() const override { return held_; }

  // From now on segments go to the file; tracks come one after the other.
  [[nodiscard]] Result<void> begin(TraceFileWriter& file);
  // Of a track of this process, behind what was taken of it. Requires: between begin_track() and end_track().
  [[nodiscard]] Result<void> begin_track(TrackId track, std::uint32_t instance);
  [[nodiscard]] Result<void> add(Rows rows);
  [[nodiscard]] Result<void> end_track();
  [[nodiscard]] Result<void> finish();
  // Events in the file.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

 private:
  // A segment that waits in the temporary file.
  struct Waiting {
    std::uint32_t lane = 0;
    std::uint32_t events = 0;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    FrameContent content;
    std::string head;
  };
  struct Track {
    LaneOrder order;
    std::vector<std::vector<Event>> lanes;  // events that are in no segment yet
    std::vector<Waiting> waiting;
  };
  struct Segment {
    FileLane lane;
    std::uint32_t instance = 0;
    std::vector<Event> events;
    std::vector<std::byte> frame;
    FrameContent content;
    std::string head;
  };

  [[nodiscard]] Result<void> place(TrackId track, Rows rows);
  [[nodiscard]] Result<void> hand_over(FileLane lane);
  // Those that are ready are encoded on other threads; those that were before are put where they go.
  [[nodiscard]] Result<void> begin_encoding();
  [[nodiscard]] Result<void> write_encoded();
  // All that were handed over.
  [[nodiscard]] Result<void> write_ready();
  void encode(Segment& segment) const;
  [[nodiscard]] Result<void> put(Segment& segment);
  [[nodiscard]] Result<std::vector<std::byte>> frame_of(const Waiting& waiting) const;

  static constexpr std::size_t kMostHeld = std::size_t{8} << 20;            // events of a track that are in lanes, and in no segment
  static constexpr std::size_t kReadyPerCore = 4 * LaneSegment::kCapacity;  // events that wait to be encoded at once

  std::uint64_t most_bytes_;
  Nanoseconds epoch_ = 0;
  std::vector<Track> tracks_;
  std::size_t held_ = 0;
  std::size_t held_of_track_ = 0;  // of the one between begin_track() and end_track()
  std::vector<Segment> ready_;
  std::size_t events_ready_ = 0;
  ScratchFile frames_;
  TraceFileWriter* file_ = nullptr;
  TrackId track_ = kNone;
  std::uint32_t instance_ = 0;
  std::uint64_t written_ = 0;
  std::vector<Segment> encoding_;
  std::future<void> encoded_;  // last: what runs uses the above
};

}  // namespace lanescope
