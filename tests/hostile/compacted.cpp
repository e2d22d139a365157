// Hostile files: compacted ones, whose index makes claims about segments that a reader believes before it decodes them.
#include <algorithm>

#include "chunks.h"
#include "kinds.h"
#include "model/file/limits.h"
#include "model/trace/compact/lane_frames.h"

namespace lanescope::test {
namespace {

// Writes tables and an index around lane segments.
class CompactedFile {
 public:
  CompactedFile(const Path& path, std::size_t bytes, std::size_t track_count = 1) : file_(path, bytes), bytes_(bytes) {
    proto::Names names;
    names.set_first(1);
    names.add_texts("n");
    add(proto::FRAME_NAMES, names);
    proto::Tracks tracks;
    tracks.add_processes(kProcess);
    tracks.add_threads()->set_process(kProcess);
    for (std::size_t i = 0; i < track_count; ++i) {
      proto::Track& track = *tracks.add_tracks();
      track.set_kind(proto::TRACK_NVTX_RANGES);
      track.set_process(kProcess);
      track.set_thread(1);
      track.set_domain(static_cast<std::uint32_t>(i));
    }
    add(proto::FRAME_TRACKS, tracks);
  }
  ~CompactedFile() {
    proto::SessionEnd end;
    end.set_time(1'000'000'000);
    end.set_reason(proto::END_TARGET_EXITED);
    add(proto::FRAME_SESSION_END, end);
    file_.add_index({index_.SerializeAsString()});
  }
  CompactedFile(const CompactedFile&) = delete;
  CompactedFile& operator=(const CompactedFile&) = delete;

  // Leaves room for the index.
  [[nodiscard]] bool is_full() const { return file_.is_full() || file_.position() + index_bytes_ >= bytes_; }

  void add_segment(const std::string& payload, const SegmentHead& head, std::uint32_t events) {
    proto::IndexEntry& entry = add(proto::FRAME_LANE_SEGMENT, payload, events);
    entry.set_event_count(events);
    entry.mutable_segment()->ParseFromString(encode_segment_head(head));
    index_bytes_ += entry.ByteSizeLong() + 4;
  }
  void add_segment(FileLane lane, const std::vector<Event>& events) {
    add_segment(encode_lane_segment(lane, events, kEpoch), head_of(lane, events, kEpoch), static_cast<std::uint32_t>(events.size()));
  }
  // Fills the file with data that a reader skips, because a larger file may hold more.
  void fill() {
    std::string noise(1u << 16, '\0');
    std::uint32_t state = 1;
    for (char& c : noise) c = static_cast<char>((state = state * 1'664'525u + 1'013'904'223u) >> 24);
    while (file_.position() + index_bytes_ + noise.size() + 4'096 < bytes_) file_.add_payload(99, noise);
  }

 private:
  template <typename Message>
  void add(int type, const Message& message) {
    add(type, message.SerializeAsString());
  }
  proto::IndexEntry& add(int type, const std::string& payload, std::uint32_t events = 0) {
    proto::IndexEntry& entry = *index_.add_entries();
    entry.set_offset(file_.position());
    entry.set_type(static_cast<std::uint32_t>(type));
    file_.add_payload(type, payload, 0, 0, events);
    entry.set_stored_size(static_cast<std::uint32_t>(file_.position() - entry.offset() - sizeof(FrameHeader)));
    return entry;
  }

  FileOfFrames file_;
  std::size_t bytes_;
  proto::Index index_;
  std::size_t index_bytes_ = 0;
};

std::vector<Event> events_from(Nanoseconds start, Nanoseconds step, std::size_t count = kRows) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) events.push_back({start + static_cast<Nanoseconds>(i) * step, 1, 1, 0, 0});
  return events;
}
// The number of full segments that the trace of a file of this size may hold.
std::size_t most_segments(std::size_t bytes) { return static_cast<std::size_t>(limits::budget_of(bytes).events / kRows * 9 / 10); }

void compacted_long_lane(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  for (std::size_t i = 0; i < most_segments(bytes); ++i) file.add_segment({0, 0}, events_from(static_cast<Nanoseconds>(i) * kChunkSpan, 2));
  file.fill();
}
// One segment a lane, with the events of all lanes interleaved: reading all in order needs all segments at once.
void compacted_lanes_in_turn(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  const auto lanes = static_cast<std::uint32_t>(most_segments(bytes));
  for (std::uint32_t lane = 0; lane < lanes; ++lane) file.add_segment({0, lane}, events_from(2 * lane, 2 * Nanoseconds{lanes}));
  file.fill();
}
void compacted_single_events(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  for (std::uint32_t lane = 0; !file.is_full(); ++lane) file.add_segment({0, lane}, events_from(lane, 2, 1));
}
void compacted_sparse_lanes(const Path& path, std::size_t bytes) {
  constexpr std::uint32_t kTracks = 64;
  constexpr std::uint32_t kApart = 100'000;
  CompactedFile file(path, bytes, kTracks);
  for (std::uint32_t i = 0; !file.is_full(); ++i) file.add_segment({i % kTracks, i / kTracks * kApart}, events_from(i, 2, 1));
}
// Heads that claim many events, frames with one.
void compacted_heads_that_lie(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  for (std::size_t i = 0; i < most_segments(bytes); ++i) {
    const auto start = static_cast<Nanoseconds>(i) * kChunkSpan;
    file.add_segment(encode_lane_segment({0, 0}, events_from(start, 2, 1), kEpoch), head_of({0, 0}, events_from(start, 2), kEpoch), kRows);
  }
  file.fill();
}
// Heads whose parts start anywhere, and have the longest possible times.
void compacted_wild_parts(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  for (std::size_t i = 0; i < most_segments(bytes); ++i) {
    const auto start = static_cast<Nanoseconds>(i) * kChunkSpan;
    const std::vector<Event> events = events_from(start, 2);
    SegmentHead head = head_of({0, 0}, events, kEpoch);
    for (std::size_t part = 0; part < head.parts.size(); ++part) {
      head.parts[part].start = part % 2 == 0 ? std::numeric_limits<Nanoseconds>::min() + 1 : std::numeric_limits<Nanoseconds>::max() / 2;
      head.parts[part].busy = head.parts[part].longest = std::numeric_limits<Nanoseconds>::max();
    }
    file.add_segment(encode_lane_segment({0, 0}, events, kEpoch), head, kRows);
  }
  file.fill();
}

}  // namespace

std::vector<HostileFile> compacted() {
  return {
      {"compacted_long_lane", &compacted_long_lane},           {"compacted_lanes_in_turn", &compacted_lanes_in_turn},
      {"compacted_single_events", &compacted_single_events},   {"compacted_sparse_lanes", &compacted_sparse_lanes},
      {"compacted_heads_that_lie", &compacted_heads_that_lie}, {"compacted_wild_parts", &compacted_wild_parts},
  };
}

}  // namespace lanescope::test
