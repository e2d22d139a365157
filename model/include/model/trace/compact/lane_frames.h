// The frames that a compacted file has for each lane: its events, up to 65,536 a frame, and a head that says what is known of them without decoding.
// See docs/file-format.md, Compacted files.
//
// Ids of names, details and threads are those of the file. Times are CLOCK_MONOTONIC ns, as in every frame: subtract the recording's epoch.
//
// Threads: all functions are free of state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/lane.h"
#include "model/trace/types.h"

namespace lanescope {

// Names a lane: a track by its position in the file's Tracks, and the lane's number in it.
struct FileLane {
  std::uint32_t track = 0;
  std::uint32_t lane = 0;
  auto operator<=>(const FileLane&) const = default;
};

struct LaneSegmentEvents {
  FileLane lane;
  std::vector<Event> events;  // in order, none overlap; at most 65,536
};

// Payload of a FRAME_LANE_SEGMENT. `epoch` is added to the events' starts. Requires: 0 < events.size() <= 65,536, sorted by start, not
// overlapping. O(events).
[[nodiscard]] std::string encode_lane_segment(FileLane lane, std::span<const Event> events, Nanoseconds epoch);

// Returns nothing if the bytes are no such payload, hold more events than allowed, hold events that overlap, or lie farther from the machine's start
// than any recording. The events are put into `memory`, whose old contents are dropped: a caller that decodes many segments passes on the vector of the
// last one. O(bytes).
[[nodiscard]] std::optional<LaneSegmentEvents> decode_lane_segment(std::string_view payload, std::vector<Event> memory = {});

struct LaneSegmentInColumns {
  FileLane lane;
  EventColumns events;
};
// As decode_lane_segment(), in columns, as a LaneSegment takes them: in less time.
[[nodiscard]] std::optional<LaneSegmentInColumns> decode_lane_columns(std::string_view payload, EventColumns memory = {});

// The times at which the events of such a payload run, in ns.
struct LaneSegmentTimes {
  FileLane lane;
  std::vector<Nanoseconds> starts, durations;  // equally many
};
// As decode_lane_segment(), but only the times. The other columns are not looked at.
[[nodiscard]] std::optional<LaneSegmentTimes> decode_lane_times(std::string_view payload, LaneSegmentTimes memory = {});

// Most bytes of payload that this many events can take, with room for columns of newer writers. A longer payload is no segment of them.
[[nodiscard]] constexpr std::uint64_t most_segment_bytes(std::uint32_t events) noexcept { return 4'096 + std::uint64_t{100} * events; }

struct SegmentHead {
  // Events of one name. Sums of durations, in ns.
  struct NameSum {
    NameId name = 0;
    std::uint32_t count = 0;
    Nanoseconds total = 0;
    Nanoseconds least = 0;
    Nanoseconds greatest = 0;
    bool operator==(const NameSum&) const = default;
  };
  // 1,024 events; fewer in the last part.
  struct Part {
    Nanoseconds start = 0;  // of its first event
    Nanoseconds busy = 0;   // sum of its durations
    NameId dominant = 0;    // as in LaneSummary; so is the weight
    Nanoseconds weight = 0;
    Nanoseconds longest = 0;  // duration of its longest event
    // If they are not known, as in files from before version 1.8 of the format: `end` is the start of the next part, and `longest_at` is kNone.
    Nanoseconds end = 0;        // of its last event
    EventIndex longest_at = 0;  // position of its longest event in the part, the first of several
    NameId longest_name = 0;    // of that event
    [[nodiscard]] bool is_fully_known() const noexcept { return longest_at != kNone; }
    bool operator==(const Part&) const = default;
  };
  static constexpr std::size_t kMostNames = 32;
  static constexpr EventIndex kPartEvents = 1'024;

  FileLane lane;
  Nanoseconds first_start = 0;
  Nanoseconds last_start = 0;
  Nanoseconds end = 0;   // of the last event, which ends last
  Nanoseconds busy = 0;  // time that events cover
  std::uint32_t least_correlation = 0;
  std::uint32_t greatest_correlation = 0;
  std::vector<NameSum> names;  // names with the most time, most first; empty if there are fewer events than a part has
  std::vector<Part> parts;     // empty if there would be one
  bool operator==(const SegmentHead&) const = default;
};

// A payload of a FRAME_LANE_SEGMENT of which single parts are decoded, as many events each as a head's. Any number of threads may decode parts at once.
class LaneSegmentParts {
 public:
  static constexpr EventIndex kPart = SegmentHead::kPartEvents;
  // In ns.
  struct Times {
    EventIndex size = 0;
    Nanoseconds busy = 0, longest = 0;  // as a head has them
    EventIndex longest_at = 0;
    std::array<Nanoseconds, kPart> starts, durations;
  };
  struct Events : Times {
    std::array<NameId, kPart> names;  // their ids
  };

  // Returns nothing if the payload does not hold this many events in columns of one piece each; decode_lane_segment() may read it all the same. O(bytes),
  // but a fraction of the time of decoding. Requires: 0 < events <= 65,536.
  [[nodiscard]] static std::optional<LaneSegmentParts> of(std::string payload, EventIndex events);
  [[nodiscard]] FileLane lane() const noexcept { return lane_; }
  [[nodiscard]] Nanoseconds first_start() const noexcept { return first_start_; }
  [[nodiscard]] std::size_t count() const noexcept { return (events_ + kPart - 1) / kPart; }

  // Decodes a part whose first event starts at this time. Returns false if its bytes are no events. Requires: part < count(). O(events of the part).
  [[nodiscard]] bool decode(std::size_t part, Nanoseconds start, Events& into) const;
  // The same, but only the times.
  [[nodiscard]] bool decode(std::size_t part, Nanoseconds start, Times& into) const;
  // What is known of the details of a payload after the first question about them.
  struct Details {
    std::vector<std::uint32_t> parts;  // where they begin
    std::vector<std::int64_t> before;  // each part; empty before the first question
  };
  // The detail of an event; nothing if the bytes have none. Requires: event < events, and `known` was passed for no other payload. O(bytes of all details) the
  // first time, then O(events of the part).
  [[nodiscard]] std::optional<DetailId> detail(EventIndex event, Details& known) const;
  // Approximately.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return payload_.capacity() + count() * 4 * sizeof(std::uint32_t) + sizeof(*this); }

 private:
  // The bytes of a column in the payload, and where parts of it begin there; none if all its numbers are 0.
  struct Place {
    std::size_t begin = 0, size = 0;
    std::vector<std::uint32_t> parts;
  };
  [[nodiscard]] bool find_parts(const Place& column, std::vector<std::uint32_t>& parts) const;
  // Reads a part of a column whose numbers may all be 0. Returns false if its bytes are no such numbers.
  template <typename Number>
  [[nodiscard]] bool read(const Place& column, std::size_t part, std::span<Number> into) const;
  [[nodiscard]] std::string_view bytes_of(const Place& column, std::span<const std::uint32_t> parts, std::size_t part) const;
  [[nodiscard]] EventIndex size_of(std::size_t part) const noexcept;

  std::string payload_;
  FileLane lane_;
  Nanoseconds first_start_ = 0;
  EventIndex events_ = 0;
  Place gaps_, durations_, names_, details_;  // of details, where parts begin is not known here
};

// Requires: as encode_lane_segment(). O(events).
[[nodiscard]] SegmentHead head_of(FileLane lane, std::span<const Event> events, Nanoseconds epoch);
// A proto::SegmentHead: at most 2 KB for common recordings.
[[nodiscard]] std::string encode_segment_head(const SegmentHead& head);
// Returns nothing if the bytes are no such message, or say what no segment can be: parts that lie outside of it, or last longer, together or in one. O(bytes).
[[nodiscard]] std::optional<SegmentHead> decode_segment_head(std::string_view bytes);

}  // namespace lanescope
