#include "lane_writer.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "building/lane_builder.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/frame_owner.h"
#include "model/trace/grouped_digits.h"
#include "model/trace/parallel.h"

namespace lanescope {
namespace {

Error was_changed() { return Error{"The temporary file of segments was changed by another program. Compact the recording again."}; }

}  // namespace

Result<void> LaneWriter::take_early(TrackId track, Rows rows) { return place(track, rows); }

Result<void> LaneWriter::give_back(TrackId id, const std::function<Result<void>(Rows)>& use) {
  if (auto written = write_ready(); !written) return written;
  if (id >= tracks_.size()) return {};
  Track track = std::exchange(tracks_[id], {});
  std::stable_sort(track.waiting.begin(), track.waiting.end(), [](const Waiting& a, const Waiting& b) { return a.lane < b.lane; });
  auto next = track.waiting.begin();
  std::vector<EventRuns::Row> rows;
  const auto give = [&](std::span<const Event> events) {
    rows.clear();
    for (const Event& event : events) rows.push_back({event.start, event.duration, event.name, event.correlation, event.detail, EventRuns::kNoDepth});
    return rows.empty() ? Result<void>() : use(rows);
  };
  for (std::uint32_t lane = 0; lane < track.lanes.size(); ++lane) {
    for (; next != track.waiting.end() && next->lane == lane; ++next) {
      const auto frame = frame_of(*next);
      if (!frame) return frame.error();
      FrameView view;
      std::memcpy(&view.header, frame->data(), sizeof(view.header));
      view.stored = std::span(*frame).subspan(sizeof(view.header));
      const auto payload = open_frame(view);
      auto segment = payload ? decode_lane_segment(*payload) : std::nullopt;
      if (!segment) return was_changed();
      for (Event& event : segment->events) event.start -= epoch_;
      if (auto used = give(segment->events); !used) return used;
    }
    held_ -= track.lanes[lane].size();
    if (auto used = give(track.lanes[lane]); !used) return used;
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
  held_of_track_ = 0;
  if (id >= tracks_.size()) tracks_.resize(id + std::size_t{1});
  Track& track = tracks_[id];
  for (const auto& lane : track.lanes) held_of_track_ += lane.size();
  if (track.waiting.empty()) return {};
  if (auto written = write_ready(); !written) return written;  // what comes before
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
  std::vector<std::vector<Event>>& lanes = tracks_[track_].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    if (!lanes[lane].empty())
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
    std::uint32_t lane = track.order.place(first, row.start, row.start + row.duration);
    if (lane >= track.lanes.size()) track.lanes.resize(lane + std::size_t{1});
    track.lanes[lane].push_back(row.event());
    ++held_;
    ++held_of_track_;
    const bool is_full = track.lanes[lane].size() == LaneSegment::kCapacity;
    if (!is_full && (file_ == nullptr || held_of_track_ < kMostHeld)) continue;
    // Where there are very many lanes, the one that has most gives up its events early, so that memory is bounded.
    if (!is_full) {
      const auto longest = std::max_element(track.lanes.begin(), track.lanes.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
      lane = static_cast<std::uint32_t>(longest - track.lanes.begin());
    }
    if (auto handed_over = hand_over({id, lane}); !handed_over) return handed_over;
  }
  return {};
}

Result<void> LaneWriter::hand_over(FileLane lane) {
  Segment& segment = ready_.emplace_back();
  segment.lane = lane;
  segment.instance = instance_;
  segment.events = std::exchange(tracks_[lane.track].lanes[lane.lane], {});
  held_ -= segment.events.size();
  held_of_track_ -= std::min(held_of_track_, segment.events.size());
  events_ready_ += segment.events.size();
  return events_ready_ >= usable_cores() * kReadyPerCore ? begin_encoding() : Result<void>();
}

void LaneWriter::encode(Segment& segment) const {
  FrameHeader header;
  header.type = proto::FRAME_LANE_SEGMENT;
  header.source = proto::SOURCE_COMPACTION;
  header.process = segment.instance;
  header.event_count = static_cast<std::uint32_t>(segment.events.size());
  const std::string payload = encode_lane_segment(segment.lane, segment.events, epoch_);
  append_frame(header, payload, segment.frame);
  segment.content = content_of(header.type, payload);
  segment.head = encode_segment_head(head_of(segment.lane, segment.events, epoch_));
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
  for (Segment& segment : encoding_)
    if (done) done = put(segment);
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
  const auto events = static_cast<std::uint32_t>(segment.events.size());
  if (file_ != nullptr) {
    written_ += events;
    return file_->append_segment(segment.frame, segment.content, std::move(segment.head));
  }
  const std::uint64_t offset = frames_.size();
  tracks_[segment.lane.track].waiting.push_back(
      {segment.lane.lane, events, offset, static_cast<std::uint32_t>(segment.frame.size()), segment.content, std::move(segment.head)});
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
