#include "head_outline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "ingest/decoding_ahead.h"
#include "lanescope/trace.pb.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/outline.h"

namespace lanescope {
namespace {

// Frames with the names of rows and of events are needed; details, counters and output are not.
bool is_needed(std::uint32_t type) {
  switch (type) {
    case proto::FRAME_SESSION_START:
    case proto::FRAME_PROCESS_START:
    case proto::FRAME_RESOURCES:
    case proto::FRAME_NAMES:
    case proto::FRAME_TRACKS:
      return true;
    default:
      return false;
  }
}

class HeadOutline {
 public:
  explicit HeadOutline(const TraceFileReader& file) : file_(file), spending_(file.size()) {}

  std::shared_ptr<const Trace> of(const std::vector<IndexedFrame>& index) {
    for (const IndexedFrame& frame : index)
      if (is_needed(frame.type) && !ingest(frame)) return nullptr;
    if (ingest_.file_tracks().empty()) return nullptr;
    epoch_ = builder_.provenance().monotonic_epoch;
    std::map<FileLane, std::vector<Segment>> lanes;
    std::uint64_t events = 0;
    for (const IndexedFrame& frame : index) {
      if (frame.type != proto::FRAME_LANE_SEGMENT) continue;
      auto head = decode_segment_head(frame.segment_head);
      if (!head || head->lane.track >= ingest_.file_tracks().size()) return nullptr;
      const FileLane lane = head->lane;
      lanes[lane].push_back({std::move(*head), &frame});
      events += frame.event_count;
    }
    if (events < kOutlineFromEvents) return nullptr;
    for (auto& [lane, segments] : lanes)
      if (const std::optional<TrackKey>& key = ingest_.file_tracks()[lane.track]) builder_.add_to_lane(*key, lane.lane, events_of(segments));
    builder_.provenance().outline_only = true;
    return spending_.may_keep(ingest_) ? builder_.snapshot() : nullptr;
  }

 private:
  struct Segment {
    SegmentHead head;
    const IndexedFrame* frame;
  };

  bool ingest(const IndexedFrame& indexed) {
    const auto frame = file_.read(indexed);
    if (!frame || !spending_.unpack(cost_to_decode(frame->header))) return false;
    const DecodedFrame decoded(*frame);
    if (!spending_.unpack(decoded.cost()) || !spending_.may_keep(ingest_)) return false;
    ingest_.add(decoded);
    return true;
  }

  std::vector<Event> events_of(std::vector<Segment>& segments) {
    std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.head.first_start < b.head.first_start; });
    std::vector<Event> events;
    for (const Segment& segment : segments) {
      const SegmentHead& head = segment.head;
      for (std::size_t part = 0; part < head.parts.size(); ++part) {
        const Nanoseconds end = part + 1 < head.parts.size() ? head.parts[part + 1].start : head.end;
        const SegmentHead::Part& of = head.parts[part];
        append({of.start - epoch_, std::clamp<Nanoseconds>(of.busy, 0, std::max<Nanoseconds>(0, end - of.start)), ingest_.name_of_file(of.dominant), 0, 0},
               events);
      }
      if (!head.parts.empty()) continue;
      const std::vector<Event> few = decoded(*segment.frame);
      for (const Event& event : few) append({event.start, event.duration, event.name, 0, 0}, events);
    }
    return events;
  }

  // The index may be wrong: even then no event may overlap the one before.
  static void append(const Event& event, std::vector<Event>& events) {
    if (events.empty() || event.start >= events.back().end()) events.push_back(event);
  }

  std::vector<Event> decoded(const IndexedFrame& indexed) {
    const auto frame = file_.read(indexed);
    if (!frame || frame->header.raw_size > most_segment_bytes(indexed.event_count) || !spending_.unpack(cost_to_decode(frame->header))) return {};
    const auto payload = open_frame(*frame);
    auto segment = payload ? decode_lane_segment(*payload) : std::nullopt;
    return segment ? ingest_.events_of(*std::move(segment)).value_or(std::vector<Event>()) : std::vector<Event>();
  }

  const TraceFileReader& file_;
  Spending spending_;
  TraceBuilder builder_;
  FrameIngest ingest_{builder_};
  Nanoseconds epoch_ = 0;
};

}  // namespace

std::shared_ptr<const Trace> outline_of_heads(const TraceFileReader& file) {
  const std::vector<IndexedFrame> index = file.index();
  const bool compacted = std::any_of(index.begin(), index.end(), [](const IndexedFrame& frame) { return frame.type == proto::FRAME_TRACKS; });
  return compacted ? HeadOutline(file).of(index) : nullptr;
}

}  // namespace lanescope
