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
  CompactedFile(const Path& path, std::size_t bytes, std::size_t track_count = 1) : file_(path, bytes), bytes_(bytes), index_(file_.entries_of_start()) {
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
  // Names the counters 1 to `count` of the process. A file with a segment is a compacted one.
  void begin_counters(std::uint32_t count) {
    proto::Resources resources;
    for (std::uint32_t id = 1; id <= count; ++id) {
      proto::Counter& counter = *resources.add_counters();
      counter.set_id(id);
      counter.set_name(std::to_string(id));
    }
    add(proto::FRAME_RESOURCES, resources.SerializeAsString(), 0, kProcess);
    add_segment({0, 0}, {{0, 1, 1, 0, 0}});
  }
  void add_counters(const std::string& payload, const proto::CounterHead& head) {
    proto::IndexEntry& entry = add(proto::FRAME_EVENTS, payload, 1, kProcess);
    entry.set_event_count(1);
    *entry.mutable_counters() = head;
    index_bytes_ += entry.ByteSizeLong() + 4;
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
  proto::IndexEntry& add(int type, const std::string& payload, std::uint32_t events = 0, std::uint32_t process = 0) {
    proto::IndexEntry& entry = *index_.add_entries();
    entry.set_offset(file_.position());
    entry.set_type(static_cast<std::uint32_t>(type));
    entry.set_process(process);
    file_.add_payload(type, payload, process, 0, events);
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

// A chunk of counters with one value each, and what the index says of one with this many.
std::string counters_at(Nanoseconds time, std::uint32_t counters) {
  proto::EventChunk chunk = chunk_at(time);
  proto::CounterSamples& samples = *chunk.mutable_counter_samples();
  samples.add_time_delta(0);
  samples.set_last_duration(kRows);
  for (std::uint32_t id = 1; id <= counters; ++id) {
    samples.add_counter(id);
    samples.add_columns()->add_value_delta(1);
  }
  return chunk.SerializeAsString();
}
proto::CounterHead counter_head_at(Nanoseconds time, std::uint32_t counters, std::uint32_t rows) {
  proto::CounterHead head;
  head.set_first_time(kEpoch + time);
  head.set_length(kRows);
  head.set_rows(rows);
  for (std::uint32_t id = 1; id <= counters; ++id) {
    head.add_counter(id);
    head.add_covered(kRows);
    head.add_minimum(1);
    head.add_maximum(1);
    head.add_integral(static_cast<double>(kRows));
  }
  return head;
}
// Heads of chunks with many counters, whose frames have one row. Makes as many as the index has room for, which grows with the file.
void counters_with_heads(const Path& path, std::size_t bytes, std::uint32_t claimed_rows) {
  constexpr std::uint32_t kCounters = 60;
  constexpr std::size_t kBytesForEach = 4'096;
  CompactedFile file(path, bytes);
  file.begin_counters(kCounters);
  for (std::size_t i = 0; i < bytes / kBytesForEach; ++i) {
    const auto time = static_cast<Nanoseconds>(i * kRows);
    file.add_counters(counters_at(time, kCounters), counter_head_at(time, kCounters, claimed_rows));
  }
  file.fill();
}
void compacted_counters_that_lie(const Path& path, std::size_t bytes) { counters_with_heads(path, bytes, 50); }
void compacted_counters_beyond_limits(const Path& path, std::size_t bytes) { counters_with_heads(path, bytes, kRows); }
// As many chunks as there is room for, each of one value, and all heads are true.
void compacted_single_counters(const Path& path, std::size_t bytes) {
  CompactedFile file(path, bytes);
  file.begin_counters(1);
  for (Nanoseconds time = 0; !file.is_full(); time += 2 * Nanoseconds{kRows}) file.add_counters(counters_at(time, 1), counter_head_at(time, 1, 1));
}

}  // namespace

std::vector<HostileFile> compacted() {
  return {
      {"compacted_long_lane", &compacted_long_lane},
      {"compacted_lanes_in_turn", &compacted_lanes_in_turn},
      {"compacted_single_events", &compacted_single_events},
      {"compacted_sparse_lanes", &compacted_sparse_lanes},
      {"compacted_heads_that_lie", &compacted_heads_that_lie},
      {"compacted_wild_parts", &compacted_wild_parts},
      {"compacted_counters_that_lie", &compacted_counters_that_lie},
      {"compacted_counters_beyond_limits", &compacted_counters_beyond_limits},
      {"compacted_single_counters", &compacted_single_counters},
  };
}

}  // namespace lanescope::test
