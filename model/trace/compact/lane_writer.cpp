#include "lane_writer.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "building/lane_builder.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/frame_owner.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/workers/parallel.h"

namespace lanescope {
namespace {

Error was_changed() { return Error{"The temporary file of segments was changed by another program. Compact the recording again."}; }

}  // namespace

Result<void> LaneWriter::take_early(TrackId id, Rows rows) {
  if (rows.empty() || rows.front().depth == EventRuns::kNoDepth) return place(id, rows);
  if (id >= tracks_.size()) tracks_.resize(id + std::size_t{1});
  Track& track = tracks_[id];
  track.by_depths = true;
  for (const EventRuns::Row& row : rows)
    if (const std::uint32_t full = append(track, TrackLanes::lane_of_depth(row.depth), row); full != kNone)
      if (auto handed_over = hand_over({id, full}); !handed_over) return handed_over;
  return held_bytes_ > aside_from_ ? set_aside() : Result<void>();
}

Result<void> LaneWriter::give_back(TrackId id, const std::function<Result<void>(Rows)>& use) {
  if (auto written = write_ready(); !written) return written;
  if (id >= tracks_.size()) return {};
  Track track = std::exchange(tracks_[id], {});
  std::stable_sort(track.waiting.begin(), track.waiting.end(), [](const Waiting& a, const Waiting& b) { return a.lane < b.lane; });
  auto next = track.waiting.begin();
  std::vector<EventRuns::Row> rows;
  std::uint32_t depth = EventRuns::kNoDepth;
  const auto give = [&](std::span<const Event> events) {
    rows.clear();
    for (const Event& event : events) rows.push_back({event.start, event.duration, event.name, event.correlation, event.detail, depth});
    return rows.empty() ? Result<void>() : use(rows);
  };
  const auto give_segment = [&](std::string_view payload) {
    auto segment = decode_lane_segment(payload);
    if (!segment) return Result<void>(was_changed());
    for (Event& event : segment->events) event.start -= epoch_;
    return give(segment->events);
  };
  for (std::uint32_t lane = 0; lane < track.lanes.size(); ++lane) {
    if (track.by_depths) depth = lane;
    for (; next != track.waiting.end() && next->lane == lane; ++next) {
      const auto frame = frame_of(*next);
      if (!frame) return frame.error();
      FrameView view;
      std::memcpy(&view.header, frame->data(), sizeof(view.header));
      view.stored = std::span(*frame).subspan(sizeof(view.header));
      const auto payload = open_frame(view);
      if (!payload) return was_changed();
      if (auto given = give_segment(*payload); !given) return given;
    }
    const OpenLane& open = track.lanes[lane];
    held_bytes_ -= open.bytes();
    if (open.encoder)
      if (auto brought = open.encoder->bring_back(parts_); !brought) return brought;
    if (open.encoder)
      if (auto given = give_segment(open.encoder->payload({id, lane}, epoch_)); !given) return given;
    if (auto given = give(open.last); !given) return given;
    if (auto used = use({}); !used) return used;
  }
  return {};
}

Result<void> LaneWriter::begin(TraceFileWriter& file) {
  if (auto written = write_ready(); !written) return written;
  file_ = &file;
  return {};
}

Result<void> LaneWriter::begin_track(TrackId id, std::uint32_t instance) {
  track_ = id;
  instance_ = instance;
  if (id >= tracks_.size()) tracks_.resize(id + std::size_t{1});
  Track& track = tracks_[id];
  if (track.waiting.empty()) return {};
  // The order in which segments would have been full if all events had come in order: first the segment whose last event comes first.
  const auto is_full_first = [](const Waiting& a, const Waiting& b) {
    return std::tuple(a.last.start, -a.last.duration, a.lane) < std::tuple(b.last.start, -b.last.duration, b.lane);
  };
  if (track.by_depths) std::stable_sort(track.waiting.begin(), track.waiting.end(), is_full_first);
  if (auto written = write_ready(); !written) return written;  // segments that come before
  for (Waiting& waiting : std::exchange(track.waiting, {})) {
    auto frame = frame_of(waiting);
    if (!frame) return frame.error();
    give_frame_to(instance, *frame);
    written_ += waiting.events;
    if (auto written = file_->append_segment(*frame, waiting.content, std::move(waiting.head)); !written) return written;
  }
  return {};
}

Result<void> LaneWriter::add(Rows rows) { return place(track_, rows); }

Result<void> LaneWriter::end_track() {
  const std::vector<OpenLane>& lanes = tracks_[track_].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    if (lanes[lane].size() > 0)
      if (auto handed_over = hand_over({track_, lane}); !handed_over) return handed_over;
  tracks_[track_] = {};
  return {};
}

Result<void> LaneWriter::finish() { return write_ready(); }

Result<void> LaneWriter::place(TrackId id, Rows rows) {
  if (id >= tracks_.size()) tracks_.resize(id + std::size_t{1});
  Track& track = tracks_[id];
  for (const EventRuns::Row& row : rows) {
    const std::uint32_t first = row.depth == EventRuns::kNoDepth ? 0 : TrackLanes::lane_of_depth(row.depth);
    const std::uint32_t lane = track.order.place(first, row.start, row.start + row.duration);
    if (const std::uint32_t full = append(track, lane, row); full != kNone)
      if (auto handed_over = hand_over({id, full}); !handed_over) return handed_over;
  }
  return held_bytes_ > aside_from_ ? set_aside() : Result<void>();
}

inline std::uint32_t LaneWriter::append(Track& track, std::uint32_t lane, const EventRuns::Row& row) {
  if (lane >= track.lanes.size()) track.lanes.resize(lane + std::size_t{1});
  OpenLane& open = track.lanes[lane];
  open.last.push_back({row.start, row.duration, row.name, row.correlation, row.detail});
  held_bytes_ += sizeof(Event);
  ++track.held;
  if (open.last.size() == open.most_last) {
    encode(open);
    if (open.size() == LaneSegment::kCapacity) return lane;
  }
  if (track.held < kMostHeld) return kNone;
  // If there are very many lanes, the one with most events is written early, so that memory is bounded.
  const auto longest = std::max_element(track.lanes.begin(), track.lanes.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return static_cast<std::uint32_t>(longest - track.lanes.begin());
}

// Encodes events while they are still in the cache.
void LaneWriter::encode(OpenLane& lane) {
  held_bytes_ -= lane.bytes();
  if (!lane.encoder && !spare_.empty()) {
    lane.encoder = std::move(spare_.back());
    spare_.pop_back();
  }
  if (!lane.encoder) lane.encoder = std::make_unique<SegmentEncoder>();
  lane.encoder->add(lane.last);
  lane.last.clear();
  lane.most_last = kEncodedAtOnce - lane.encoder->size() % kEncodedAtOnce;
  held_bytes_ += lane.bytes();
}

// Sets segments aside until half of the memory is free. If lanes have too little for that, it is tried again once they have more.
Result<void> LaneWriter::set_aside() {
  aside_from_ = memory_bytes_;
  for (Track& track : tracks_)
    for (OpenLane& lane : track.lanes) {
      if (lane.last.size() >= kLeastEncoded) encode(lane);
      if (!lane.encoder || lane.encoder->frame_bytes() < kLeastAside) continue;
      held_bytes_ -= lane.bytes();
      lane.last.shrink_to_fit();
      auto done = lane.encoder->set_aside(parts_);
      held_bytes_ += lane.bytes();
      if (!done || held_bytes_ <= memory_bytes_ / 2) return done;
    }
  aside_from_ = std::max(memory_bytes_, held_bytes_ + memory_bytes_ / 4);
  return {};
}

Result<void> LaneWriter::hand_over(FileLane lane) {
  Track& track = tracks_[lane.track];
  OpenLane& open = track.lanes[lane.lane];
  if (!open.last.empty()) encode(open);
  held_bytes_ -= open.bytes();
  if (auto brought = open.encoder->bring_back(parts_); !brought) return brought;
  track.held -= open.size();
  events_ready_ += open.size();
  Segment& segment = ready_.emplace_back();
  segment.lane = lane;
  segment.instance = instance_;
  segment.events = std::move(open.encoder);
  open.most_last = kEncodedAtOnce;
  return events_ready_ >= usable_cores() * kReadyPerCore || ready_.size() >= kMostReady ? begin_encoding() : Result<void>();
}

void LaneWriter::encode(Segment& segment) const {
  FrameHeader header;
  header.type = proto::FRAME_LANE_SEGMENT;
  header.source = proto::SOURCE_COMPACTION;
  header.process = segment.instance;
  header.event_count = static_cast<std::uint32_t>(segment.events->size());
  const std::string payload = segment.events->payload(segment.lane, epoch_);
  append_frame(header, payload, segment.frame);
  segment.content = content_of(header.type, payload);
  segment.head = encode_segment_head(segment.events->head(segment.lane, epoch_));
}

Result<void> LaneWriter::begin_encoding() {
  if (auto written = write_encoded(); !written || ready_.empty()) return written;
  encoding_ = std::exchange(ready_, {});
  events_ready_ = 0;
  const auto encode_all = [this] { parallel_for(encoding_.size(), [this](std::size_t i) { encode(encoding_[i]); }); };
  try {
    encoded_ = std::async(std::launch::async, encode_all);
  } catch (const std::system_error&) {  // no room for another thread
    encode_all();
  }
  return {};
}

Result<void> LaneWriter::write_encoded() {
  if (encoded_.valid()) encoded_.get();
  Result<void> done;
  for (Segment& segment : encoding_) {
    if (done) done = put(segment);
    if (spare_.size() == kMostSpare) continue;
    segment.events->clear();
    spare_.push_back(std::move(segment.events));
  }
  encoding_.clear();
  return done;
}

Result<void> LaneWriter::write_ready() {
  if (auto begun = begin_encoding(); !begun) return begun;
  return write_encoded();
}

Result<void> LaneWriter::put(Segment& segment) {
  if ((file_ != nullptr ? file_->size() : frames_.size()) > most_bytes_)
    return Error{"its events lie on so many lanes that a file of these would take more than " + grouped_digits(most_bytes_) +
                 " bytes (docs/file-format.md, Limits). It can be read as it is; a copy in which each frame is checked: lanescope export -t trace --form log"};
  const auto events = static_cast<std::uint32_t>(segment.events->size());
  if (file_ != nullptr) {
    written_ += events;
    return file_->append_segment(segment.frame, segment.content, std::move(segment.head));
  }
  const std::uint64_t offset = frames_.size();
  tracks_[segment.lane.track].waiting.push_back(
      {segment.lane.lane, events, offset, static_cast<std::uint32_t>(segment.frame.size()), segment.content, std::move(segment.head), segment.events->last()});
  return frames_.append(segment.frame);
}

Result<std::vector<std::byte>> LaneWriter::frame_of(const Waiting& waiting) const {
  std::vector<std::byte> frame(waiting.bytes);
  if (auto read = frames_.read(waiting.offset, frame); !read) return read.error();
  FrameHeader header;
  if (frame.size() < sizeof(header)) return was_changed();
  std::memcpy(&header, frame.data(), sizeof(header));
  if (header.stored_size != frame.size() - sizeof(header)) return was_changed();
  return frame;
}

}  // namespace lanescope
