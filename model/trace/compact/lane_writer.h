// Puts the events of tracks on lanes, cuts the lanes into segments, and writes these; they are encoded on all cores while others come. Segments that
// are complete before the other contents of the file are known wait in a temporary file, as the frames that they will be. Internal to model/trace.
//
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "event_runs.h"
#include "lane_order.h"
#include "model/file/result.h"
#include "model/file/scratch_file.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/lane_frames.h"
#include "segment_encoder.h"

namespace lanescope {

class LaneWriter final : public EventRuns::EarlyTaker {
 public:
  using Rows = EventRuns::Rows;
  // The files are created in `folder` when they are needed. Events that are in no segment yet go there, too, if they take more than `memory_bytes`,
  // except the last 1,024 of each lane. Fails once the segments make a file of more than `most_bytes`.
  LaneWriter(const std::filesystem::path& folder, std::uint64_t memory_bytes, std::uint64_t most_bytes)
      : memory_bytes_(memory_bytes), most_bytes_(most_bytes), frames_(folder, std::string(EventRuns::kNeed)), parts_(folder, std::string(EventRuns::kNeed)) {}

  // The epoch is added to the starts of events. Requires: nothing was taken, or all was given back.
  void set_epoch(Nanoseconds epoch) noexcept { epoch_ = epoch; }
  [[nodiscard]] Nanoseconds epoch() const noexcept { return epoch_; }

  [[nodiscard]] Result<void> take_early(TrackId track, Rows rows) override;
  [[nodiscard]] Result<void> give_back(TrackId track, const std::function<Result<void>(Rows)>& use) override;
  [[nodiscard]] std::uint64_t held_bytes() const override { return held_bytes_; }

  // From now on segments go to the file; tracks must come one after the other.
  [[nodiscard]] Result<void> begin(TraceFileWriter& file);
  // Adds events of a track of this process, after those that were taken early. Requires: between begin_track() and end_track().
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
    Event last;
  };
  static constexpr std::size_t kEncodedAtOnce = SegmentHead::kPartEvents;
  // Events that are in no segment yet: the latest as they came, those before them in the form of the frame.
  struct OpenLane {
    std::unique_ptr<SegmentEncoder> encoder;  // null while there are none
    std::vector<Event> last;
    std::size_t most_last = kEncodedAtOnce;  // number of these that fill a part of the segment
    [[nodiscard]] std::size_t size() const noexcept { return last.size() + (encoder ? encoder->size() : 0); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return last.size() * sizeof(Event) + (encoder ? encoder->memory_bytes() : 0); }
  };
  struct Track {
    LaneOrder order;
    std::vector<OpenLane> lanes;
    std::size_t held = 0;    // number of events in the lanes
    bool by_depths = false;  // events were taken in the order of their depths, each to its own lane
    std::vector<Waiting> waiting;
  };
  struct Segment {
    FileLane lane;
    std::uint32_t instance = 0;
    std::unique_ptr<SegmentEncoder> events;
    std::vector<std::byte> frame;
    FrameContent content;
    std::string head;
  };

  [[nodiscard]] Result<void> place(TrackId track, Rows rows);
  // Returns the lane that must be handed over then; kNone if there is none.
  [[nodiscard]] std::uint32_t append(Track& track, std::uint32_t lane, const EventRuns::Row& row);
  void encode(OpenLane& lane);
  [[nodiscard]] Result<void> set_aside();
  [[nodiscard]] Result<void> hand_over(FileLane lane);
  // Starts encoding the ready segments on other threads, and writes those that were encoded before.
  [[nodiscard]] Result<void> begin_encoding();
  [[nodiscard]] Result<void> write_encoded();
  // Writes all segments that were handed over.
  [[nodiscard]] Result<void> write_ready();
  void encode(Segment& segment) const;
  [[nodiscard]] Result<void> put(Segment& segment);
  [[nodiscard]] Result<std::vector<std::byte>> frame_of(const Waiting& waiting) const;

  static constexpr std::size_t kMostHeld = std::size_t{8} << 20;  // events of a track that are on lanes, but in no segment
  static constexpr std::size_t kMostReady = 1'024;                // segments, which may have one event each
  static constexpr std::size_t kMostSpare = 64;
  static constexpr std::size_t kLeastEncoded = 64;
  static constexpr std::size_t kLeastAside = 1'024;                         // bytes of a lane that are written at once
  static constexpr std::size_t kReadyPerCore = 4 * LaneSegment::kCapacity;  // events that wait to be encoded together

  const std::uint64_t memory_bytes_;
  const std::uint64_t most_bytes_;
  Nanoseconds epoch_ = 0;
  std::vector<Track> tracks_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t aside_from_ = memory_bytes_;  // held bytes from which on some are set aside
  std::vector<Segment> ready_;
  std::size_t events_ready_ = 0;
  ScratchFile frames_;
  ScratchFile parts_;  // parts of segments
  TraceFileWriter* file_ = nullptr;
  TrackId track_ = kNone;
  std::uint32_t instance_ = 0;
  std::uint64_t written_ = 0;
  std::vector<std::unique_ptr<SegmentEncoder>> spare_;  // their memory is used again for the next segments
  std::vector<Segment> encoding_;
  std::future<void> encoded_;  // last: what runs uses the above
};

}  // namespace lanescope
