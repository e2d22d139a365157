// Turns frames of a recording into a trace: the same code for a finished file, a cut file and a live recording.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/file/frame_codec.h"
#include "model/file/open_range.h"
#include "model/file/result.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

// The cost of reading a frame, in the terms of limits.h.
struct FrameCost {
  std::uint64_t unpacked = 0;  // bytes of its payload once decompressed; 0 for a frame that is skipped
  std::uint64_t entries = 0;   // texts and messages within its message
  std::uint64_t memory = 0;    // bytes that its message takes
};
// What is known of the cost before the frame is decoded: `unpacked`.
[[nodiscard]] FrameCost cost_to_decode(const FrameHeader& header) noexcept;

struct CounterHead;

// A frame with its payload decompressed and parsed: the part of ingest that needs no order, and so may run on any thread.
class DecodedFrame {
 public:
  explicit DecodedFrame(const FrameView& frame);
  DecodedFrame(DecodedFrame&&) noexcept;
  DecodedFrame& operator=(DecodedFrame&&) noexcept;
  ~DecodedFrame();
  [[nodiscard]] FrameCost cost() const noexcept;
  // True if it is a chunk of counters, which are not events of lanes.
  [[nodiscard]] bool holds_counter_samples() const noexcept;
  // What the index of a compacted file says of such a chunk (compact/counter_frames.h); nothing if it is none, or none that a series can have. O(values).
  [[nodiscard]] std::optional<CounterHead> counter_head() const;

 private:
  friend class FrameIngest;
  struct Content;
  std::unique_ptr<Content> content_;
};

// "2 frames could not be understood and were skipped."
[[nodiscard]] std::string malformed_frames(std::uint64_t count);

// Threads: one thread at a time.
class FrameIngest {
 public:
  explicit FrameIngest(TraceBuilder& builder);
  ~FrameIngest();
  FrameIngest(const FrameIngest&) = delete;
  FrameIngest& operator=(const FrameIngest&) = delete;

  // Adds the contents of one frame. A payload that does not parse, exceeds the limits of a frame (limits.h), or whose columns disagree, is skipped as a
  // whole and counted in malformed(). Frames of types that this version does not know are skipped and counted, too: skipped_text().
  void add(const FrameView& frame);
  void add(const DecodedFrame& frame);

  // Replaces ranges that are open (TraceBuilder::set_open()). Requires: the frames that were made before they were told are added.
  void set_open(std::span<const OpenRange> ranges);

  // Of a compacted file: its tracks by their positions there, as far as they are known; the trace's name for one of the file's; and the
  // events of a lane segment as the trace has them, none where the file has no such track. Any thread may call these once all tables are
  // added.
  [[nodiscard]] const std::vector<std::optional<TrackKey>>& file_tracks() const noexcept;
  [[nodiscard]] NameId name_of_file(std::uint32_t id) const noexcept;
  void replace_names_of_file(std::span<NameId> ids) const noexcept;
  [[nodiscard]] DetailId detail_of_file(std::uint32_t track, DetailId id) const noexcept;  // requires: the track is known
  [[nodiscard]] std::optional<std::vector<Event>> events_of(LaneSegmentEvents segment) const;
  [[nodiscard]] bool place(LaneSegmentInColumns& segment) const;  // the same in its place; false: there is no such track
  // The trace's counter for one of a source; nothing if the source has described none so far.
  [[nodiscard]] std::optional<CounterId> counter_of(std::uint32_t process, std::uint8_t source, std::uint32_t id) const noexcept;

  [[nodiscard]] std::uint64_t malformed() const noexcept;
  // What was skipped, for readers of the trace: malformed_frames(), and how many frames are of unknown types; empty if none was.
  [[nodiscard]] std::string skipped_text() const;
  // True if the file was made from one that was cut off; the trace's condition says so.
  [[nodiscard]] bool source_was_cut() const noexcept;
  // Bytes that the trace and the dictionaries of its sources take so far, approximately; more for names that are long when demangled. O(1).
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // Events of lanes so far. O(1).
  [[nodiscard]] std::uint64_t event_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
