// Reads a compacted file (docs/file-format.md, Compacted files) a segment at a time. The heads of all segments are known at once, and any segment can
// be decoded without the others. Traces with more events than memory holds are built on it.
//
// Times are ns since the trace's epoch. Ids are those of surroundings(): names, details, tracks.
//
// Threads: any number may call any function at once, without locks; all are const. The caller owns what decode() returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "model/file/result.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/lane.h"
#include "model/trace/load.h"
#include "model/trace/segments/lane_in_parts.h"
#include "model/trace/trace.h"

namespace lanescope {

class SegmentReader {
 public:
  // A run of up to 65,536 consecutive events of a lane, which lies in one frame.
  struct Segment {
    SegmentHead head;          // head.lane.track is a position in tracks()
    EventIndex first = 0;      // position of its first event in its lane
    EventIndex count = 0;      // events
    std::uint64_t offset = 0;  // offset of its frame in the file; then the bytes that are stored there
    std::uint32_t stored_bytes = 0;
  };

  // Reads the index, the tables, and all frames except lane segments and values of counters. Fails with one sentence if the file can't be read, is not
  // compacted, or has no sound index. O(index + tables): for a billion events about 16,000 heads of up to 2 KB.
  static Result<SegmentReader> open(const std::filesystem::path& path);

  SegmentReader(SegmentReader&&) noexcept;
  SegmentReader& operator=(SegmentReader&&) noexcept;
  ~SegmentReader();

  // The trace without events and values of counters: processes, threads, GPUs, names, details. It has no lanes, and so no tracks and no extent.
  [[nodiscard]] const std::shared_ptr<const Trace>& surroundings() const noexcept;
  // Indexed by the track numbers that segments have.
  [[nodiscard]] std::span<const TrackKey> tracks() const noexcept;
  // Number of lanes of a track; 0 if it has none. O(1).
  [[nodiscard]] std::uint32_t lane_count(std::uint32_t track) const noexcept;
  // All segments of a lane, by time; empty if there is no such lane. O(1).
  [[nodiscard]] std::span<const Segment> segments(FileLane lane) const noexcept;
  // The segments with events that overlap the window, or start in it. O(log segments).
  [[nodiscard]] std::span<const Segment> overlapping(FileLane lane, TimeRange window) const noexcept;
  [[nodiscard]] std::uint64_t event_count() const noexcept;

  // The events of a segment, as a lane has them. Fails with one sentence if the file was changed, or if the frame is damaged or does not match its
  // head. O(events): it reads the bytes of this frame once, and of no other.
  [[nodiscard]] Result<std::shared_ptr<const LaneSegment>> decode(const Segment& segment) const;

  // As decode(), but only the times (SegmentTimes). The other columns are not looked at.
  [[nodiscard]] Result<std::shared_ptr<const LaneSegment>> decode_times(const Segment& segment) const;

  // The segment, of which single parts are decoded; null if its head does not have its parts. The result keeps the file open. O(1): its frame is read when the
  // first part is decoded, in O(bytes), but a fraction of the time of decode(). If it can't be read in parts, decode() may read it all the same. `identity` is
  // the number under which the cache may keep it undecoded; 0: none.
  [[nodiscard]] std::unique_ptr<SegmentParts> parts(const Segment& segment, std::uint64_t identity = 0) const;

  // The whole trace, as load_trace() would return it, with lanes and counters whose segments are decoded when they are needed (demanded_segments.h,
  // demanded_counters.h); it keeps the file open. Fails if the file has events outside of its segments, or holds more than a file of its size can (limits.h).
  // Must be called once, on one thread. O(segments + chunks of counters), plus O(values) of chunks without heads (format before 1.7), plus O(events) for tracks
  // of memory usage, whose totals are counters, and for lanes whose segments are not full; on all cores.
  //
  // Calls progress, if given, after O(segments) with the trace, which lacks totals of memory, and values of counters in chunks without heads;
  // then with the fraction done. If progress says to stop, returns what was read: the same trace.
  [[nodiscard]] Result<std::shared_ptr<const Trace>> trace(const LoadProgress& progress = {}) const;

 private:
  struct State;
  class LaneOnDemand;
  class PartsOfSegment;
  [[nodiscard]] Result<std::string> payload_of(const Segment& segment) const;
  [[nodiscard]] std::optional<LaneSegmentParts> read_parts(const Segment& segment) const;
  explicit SegmentReader(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace lanescope
