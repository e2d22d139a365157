#include "model/trace/outline.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "model/trace/load.h"

namespace lanescope {
namespace {

// Names of an outline: only names that some bucket shows.
class OutlineNames {
 public:
  OutlineNames(const Trace& trace, proto::Outline& outline) : trace_(trace), outline_(outline) {}

  std::uint32_t operator[](NameId name) {
    const auto [found, inserted] = ids_.try_emplace(name, static_cast<std::uint32_t>(outline_.names_size()));
    if (inserted) outline_.add_names(std::string(trace_.name(name)));
    return found->second;
  }

 private:
  const Trace& trace_;
  proto::Outline& outline_;
  std::unordered_map<NameId, std::uint32_t> ids_;
};

// O(min(events, buckets) · log n): a program may have had very many threads with few events each.
void fill_buckets(const Lane& lane, TimeRange extent, Nanoseconds length, OutlineNames& names, proto::OutlineLane& out) {
  std::uint32_t last_bucket = 0;
  Nanoseconds busy_before = 0;
  EventIndex first = 0;
  for (std::uint32_t bucket = 0; bucket < kOutlineBuckets; ++bucket) {
    const Nanoseconds end = extent.begin + static_cast<Nanoseconds>(bucket + 1) * length;
    const EventIndex last = lane.lower_bound(end);
    const Nanoseconds busy = lane.busy_before(end, last);
    if (busy > busy_before) {
      // An event that started in an earlier bucket may be the only one.
      const LaneSummary summary = lane.summarize(first > 0 ? first - 1 : 0, last);
      out.add_bucket_delta(bucket - last_bucket);
      out.add_busy(static_cast<std::uint64_t>(busy - busy_before));
      out.add_name(names[summary.dominant]);
      last_bucket = bucket;
    } else if (last == lane.size()) {
      return;
    } else {  // to the bucket in which the next event starts
      bucket = std::max(bucket, static_cast<std::uint32_t>((lane.start(last) - extent.begin) / length) - 1);
    }
    busy_before = busy;
    first = last;
  }
}

// Returns nothing for tracks of a newer recorder, and for processors of a recording that did not say which.
std::optional<TrackKey> key_of(const proto::OutlineLane& lane, TraceBuilder& builder) {
  if (lane.track_kind() > static_cast<std::uint32_t>(kLastTrackKind)) return std::nullopt;
  TrackKey key;
  key.kind = static_cast<TrackKind>(lane.track_kind());
  if (key.kind == TrackKind::kProcessors && lane.processor() == 0) return std::nullopt;
  if (lane.processor() != 0)
    key.processor = lane.processor() - 1;
  else
    key.process = builder.process_of_instance(lane.process());
  if (lane.thread() != 0) key.thread = builder.thread(key.process, lane.thread());
  if (lane.on_gpu()) key.gpu = builder.gpu_of_device(key.process, lane.device());
  key.context = lane.context();
  key.stream = lane.stream();
  key.domain = lane.domain();
  return key;
}

}  // namespace

std::vector<std::byte> outline_frame(const Trace& trace) {
  std::vector<std::byte> frame;
  if (trace.event_count() < kOutlineFromEvents) return frame;
  const TimeRange extent = trace.extent();
  const Nanoseconds length = extent.length() / static_cast<Nanoseconds>(kOutlineBuckets) + 1;
  proto::Outline outline;
  outline.set_begin(extent.begin + trace.provenance().monotonic_epoch);
  outline.set_bucket_length(static_cast<std::uint64_t>(length));
  OutlineNames names(trace, outline);
  for (const Track& track : trace.tracks()) {
    for (std::size_t depth = 0; depth < track.lanes.size(); ++depth) {
      auto& lane = *outline.add_lanes();
      lane.set_track_kind(static_cast<std::uint32_t>(track.key.kind));
      if (track.key.process != kNone) lane.set_process(trace.processes()[track.key.process].instance);
      if (track.key.thread != kNone) lane.set_thread(trace.threads()[track.key.thread].tid);
      if (track.key.gpu != kNone) {
        lane.set_on_gpu(true);
        lane.set_device(device_ordinal(trace, track.key.process, track.key.gpu));
      }
      lane.set_context(track.key.context);
      lane.set_stream(track.key.stream);
      lane.set_domain(track.key.domain);
      if (track.key.processor != kNone) lane.set_processor(track.key.processor + 1);
      lane.set_depth(static_cast<std::uint32_t>(depth));
      fill_buckets(trace.lane(track.lanes[depth]), extent, length, names, lane);
    }
  }
  FrameHeader header;
  header.type = proto::FRAME_OUTLINE;
  append_frame(header, outline.SerializeAsString(), frame);
  return frame;
}

Result<void> append_outline(const std::filesystem::path& path, const std::optional<FileIdentity>& meant) {
  static constexpr std::uint16_t kOutline[] = {proto::FRAME_OUTLINE};
  {
    const auto reader = TraceFileReader::open(path);
    if (!reader) return reader.error();
    if (reader->indexed_events() < kOutlineFromEvents || !reader->indexed(kOutline).empty()) return {};
  }
  const auto trace = load_trace(path);
  return trace ? append_outline(path, **trace, meant) : trace.error();
}

Result<void> append_outline(const std::filesystem::path& path, const Trace& trace, const std::optional<FileIdentity>& meant) {
  const std::vector<std::byte> outline = outline_frame(trace);
  if (outline.empty()) return {};
  auto writer = TraceFileWriter::reopen(path, meant);
  if (!writer) return writer.error();
  if (auto appended = writer->append(outline); !appended) return appended;
  return writer->finish();
}

bool add_outline(TraceBuilder& builder, const std::string& payload) {
  proto::Outline outline;
  constexpr std::uint64_t kLongest = (std::uint64_t{1} << 61) / kOutlineBuckets;
  if (!outline.ParseFromString(payload) || outline.bucket_length() == 0 || outline.bucket_length() > kLongest || !is_near(outline.begin())) return false;
  const Nanoseconds begin = outline.begin() - builder.provenance().monotonic_epoch;
  const auto length = static_cast<Nanoseconds>(outline.bucket_length());
  std::vector<NameId> names;
  for (const std::string& name : outline.names()) names.push_back(builder.intern(name));
  std::uint32_t next_depth = 0;
  for (const auto& lane : outline.lanes()) {
    // Lanes of each track must start with the outermost: a lane takes memory for all lanes above it.
    if (lane.depth() != 0 && lane.depth() != next_depth) return false;
    next_depth = lane.depth() + 1;
    const int n = lane.bucket_delta_size();
    if (lane.busy_size() != n || lane.name_size() != n) return false;
    const std::optional<TrackKey> key = key_of(lane, builder);
    if (!key) continue;
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(n));
    Nanoseconds bucket = 0;
    for (int i = 0; i < n; ++i) {
      bucket += lane.bucket_delta(i);
      if (bucket >= static_cast<Nanoseconds>(kOutlineBuckets) || lane.name(i) >= names.size()) return false;
      const Nanoseconds busy = std::min<Nanoseconds>(length, static_cast<Nanoseconds>(lane.busy(i)));
      events.push_back({begin + bucket * length, busy, names[lane.name(i)], 0, 0});
    }
    const std::vector<std::uint32_t> depths(events.size(), lane.depth());
    builder.add(*key, std::move(events), depths);
  }
  return true;
}

}  // namespace lanescope
