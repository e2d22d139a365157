#include "model/trace/outline.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "ingest/decoding_ahead.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "model/trace/ingest/frame_ingest.h"
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
void fill_buckets(const Lane& lane, TimeRange extent, std::size_t buckets, Nanoseconds length, OutlineNames& names, proto::OutlineLane& out) {
  std::uint32_t last_bucket = 0;
  Nanoseconds busy_before = 0;
  EventIndex first = 0;
  for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
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

// Requires: at most kOutlineBuckets.
std::vector<std::byte> frame_of_buckets(const Trace& trace, std::size_t buckets) {
  const TimeRange extent = trace.extent();
  const Nanoseconds length = extent.length() / static_cast<Nanoseconds>(buckets) + 1;
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
      fill_buckets(trace.lane(track.lanes[depth]), extent, buckets, length, names, lane);
    }
  }
  FrameHeader header;
  header.type = proto::FRAME_OUTLINE;
  std::vector<std::byte> frame;
  append_frame(header, outline.SerializeAsString(), frame);
  return frame;
}

void append_stored(const FrameView& frame, std::vector<std::byte>& out) {
  const auto* header = reinterpret_cast<const std::byte*>(&frame.header);
  out.insert(out.end(), header, header + sizeof(frame.header));
  out.insert(out.end(), frame.stored.begin(), frame.stored.end());
}

bool is_of_surroundings(std::uint16_t type) {
  return type == proto::FRAME_SESSION_START || type == proto::FRAME_PROCESS_START || type == proto::FRAME_RESOURCES;
}

}  // namespace

std::vector<std::byte> outline_frame(const Trace& trace) {
  if (trace.event_count() < kOutlineFromEvents) return {};
  return frame_of_buckets(trace, kOutlineBuckets);
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

struct GrowingOutline::State {
  std::filesystem::path path;
  std::optional<TraceFileReader> reader;
  TraceBuilder builder{TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget};
  FrameIngest ingest{builder};
  std::vector<std::byte> surroundings;
};

GrowingOutline::GrowingOutline(std::filesystem::path path) : state_(std::make_unique<State>()) { state_->path = std::move(path); }
GrowingOutline::~GrowingOutline() = default;

std::vector<std::byte> GrowingOutline::frames(std::size_t most, const std::stop_token& stop) {
  constexpr std::size_t kFirstBuckets = 512, kLeastBuckets = 16;
  State& state = *state_;
  if (!state.reader) {
    Result<TraceFileReader> reader = TraceFileReader::open(state.path);
    if (!reader) return {};
    state.reader.emplace(std::move(*reader));
  }
  while (const std::optional<FrameView> frame = state.reader->next()) {
    if (stop.stop_requested()) return {};
    state.ingest.add(*frame);
    if (is_of_surroundings(frame->header.type) && state.surroundings.size() <= most) append_stored(*frame, state.surroundings);
  }
  if (state.surroundings.size() > most) return {};
  const std::shared_ptr<const Trace> trace = state.builder.snapshot();
  if (trace->event_count() == 0) return {};
  for (std::size_t buckets = kFirstBuckets; buckets >= kLeastBuckets && !stop.stop_requested(); buckets /= 2) {
    const std::vector<std::byte> outline = frame_of_buckets(*trace, buckets);
    if (state.surroundings.size() + outline.size() > most) continue;
    std::vector<std::byte> all = state.surroundings;
    all.insert(all.end(), outline.begin(), outline.end());
    return all;
  }
  return {};
}

std::shared_ptr<const Trace> trace_of_outline(std::span<const std::byte> frames) {
  TraceBuilder builder;
  FrameIngest ingest(builder);
  Spending spending(frames.size());
  builder.provenance().outline_only = true;
  builder.provenance().format = "Lanescope";
  while (frames.size() >= sizeof(FrameHeader)) {
    FrameView frame;
    std::memcpy(&frame.header, frames.data(), sizeof(FrameHeader));
    frames = frames.subspan(sizeof(FrameHeader));
    if (frame.header.stored_size > frames.size()) return nullptr;
    frame.stored = frames.first(frame.header.stored_size);
    frames = frames.subspan(frame.header.stored_size);
    if (frame.header.magic != kFrameMagic || !frame_is_sound(frame)) return nullptr;
    if (!spending.unpack(cost_to_decode(frame.header))) return nullptr;
    if (frame.header.type == proto::FRAME_OUTLINE) {
      const Result<std::string> payload = open_frame(frame);
      if (!payload || !add_outline(builder, *payload) || !spending.may_keep(ingest)) return nullptr;
      return builder.snapshot();
    }
    if (!is_of_surroundings(frame.header.type)) continue;
    const DecodedFrame decoded(frame);
    if (!spending.unpack(decoded.cost()) || !spending.may_keep(ingest)) return nullptr;
    ingest.add(decoded);
  }
  return nullptr;
}

}  // namespace lanescope
