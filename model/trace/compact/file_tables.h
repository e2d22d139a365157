// Maps the ids in lane segments of a compacted file to the trace that is built from it. Internal to model/trace.
//
// Tables come before the segments. Ids that a lost frame would have defined stand for nothing known. take() returns false if a message makes no sense;
// nothing of it is kept then.
//
// Threads: take() on one at a time; the other functions on any, once all is taken.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ingest/call_stack_rows.h"
#include "ingest/dictionary.h"
#include "lanescope/trace.pb.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/trace_builder.h"

namespace lanescope {

// Events of a segment, with ids of the trace and times since its epoch.
struct PlacedSegment {
  TrackKey track;
  std::uint32_t lane = 0;
  std::vector<Event> events;
};

class FileTables {
 public:
  [[nodiscard]] bool take(const proto::Names& message, TraceBuilder& builder);
  [[nodiscard]] bool take(const CallStackRows& rows, TraceBuilder& builder);
  [[nodiscard]] bool take(const proto::Details& message, TraceBuilder& builder);
  [[nodiscard]] bool take(const proto::Tracks& message, TraceBuilder& builder);

  // Returns nothing if the file has no such track, or if its times are not near to the epoch. O(events).
  [[nodiscard]] std::optional<PlacedSegment> place(LaneSegmentEvents segment, Nanoseconds epoch) const;

  // The same for columns, whose ids and times are replaced. Returns false instead of nothing.
  [[nodiscard]] bool place(LaneSegmentInColumns& segment, Nanoseconds epoch) const;

  // Indexed by their positions in the file; nothing for tracks of a kind that this version does not know.
  [[nodiscard]] const std::vector<std::optional<TrackKey>>& tracks() const noexcept { return tracks_; }
  [[nodiscard]] NameId name(std::uint32_t id) const noexcept { return names_[id]; }
  // Requires: the track is known.
  [[nodiscard]] DetailId detail(std::uint32_t track, DetailId id) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  class FieldReader;
  template <typename Detail>
  bool take_rows(const proto::Details& message, TraceBuilder& builder);

  EntryTable<NameId> names_;
  EntryTable<CodeLocationId> locations_;
  EntryTable<CallNodeId> nodes_;
  std::array<EntryTable<DetailId>, proto::DetailKind_ARRAYSIZE> details_;
  std::vector<ThreadId> threads_;
  std::vector<std::optional<TrackKey>> tracks_;
  std::vector<proto::DetailKind> detail_kinds_;  // of tracks
};

}  // namespace lanescope
