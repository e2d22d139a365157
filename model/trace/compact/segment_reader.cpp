#include "model/trace/compact/segment_reader.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "building/lane_builder.h"
#include "counters_in_file.h"
#include "ingest/decoding_ahead.h"
#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/completeness.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/parallel.h"
#include "model/trace/workers/precedence.h"

namespace lanescope {
struct SegmentReader::State {
  explicit State(TraceFileReader from, const std::filesystem::path& at) : file(std::make_shared<TraceFileReader>(std::move(from))), path(at) {}

  std::shared_ptr<TraceFileReader> file;
  TraceFileReader& reader = *file;
  std::filesystem::path path;
  TraceBuilder builder;
  FrameIngest ingest{builder};
  Spending spending{reader.size()};
  std::shared_ptr<const Trace> surroundings;
  std::vector<CounterChunkInFile> samples;  // frames of counters
  std::vector<TrackKey> tracks;
  std::vector<std::uint32_t> order;                                     // tracks in the order of their first segments in the file
  std::vector<Segment> segments;                                        // by track, lane and time
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> lanes;  // for each track and lane: its first segment, and one after its last
  std::uint64_t events = 0;
  std::uint64_t lane_count = 0;  // of all tracks, including lanes without events

  [[nodiscard]] Error too_much() const { return {path.string() + " unpacks to more than a recording of its size can hold (docs/file-format.md, Limits)."}; }
  [[nodiscard]] Error damaged() const {
    return {path.string() + " is damaged: its index does not fit its frames. Write it anew with: lanescope export -t trace " + path.string() + " -o NEW.trace"};
  }

  // Takes the entries of counters from the index.
  Result<void> read_surroundings(std::span<IndexedFrame> index) {
    builder.provenance().format = "Lanescope";  // unless the session says that it was made from another format
    std::vector<IndexedFrame> wanted;
    for (IndexedFrame& indexed : index) {
      if (indexed.type == proto::FRAME_LANE_SEGMENT || indexed.type == proto::FRAME_OUTLINE) continue;
      if (indexed.type == proto::FRAME_EVENTS)
        samples.push_back({std::move(indexed), {}});
      else
        wanted.push_back(indexed);
    }
    const auto go_on = [](std::size_t) { return LoadStep::kContinue; };
    const auto nothing = [](std::size_t, const DecodedFrame&) {};
    if (auto read = read_in_order(wanted, go_on, nothing, [&](std::size_t, const DecodedFrame& frame) { return take(frame); }); !read) return read;
    Provenance& provenance = builder.provenance();
    provenance.finished = !ingest.source_was_cut();
    surroundings = builder.snapshot();
    for (const std::optional<TrackKey>& key : ingest.file_tracks()) tracks.push_back(key.value_or(TrackKey{}));
    return {};
  }

  Result<void> take(const DecodedFrame& frame) {
    ingest.add(frame);
    return spending.may_keep(ingest) ? Result<void>() : too_much();
  }

  // Takes the heads of chunks of counters from the index. Returns true if it has all, so that no chunk needs to be read.
  Result<bool> read_counter_heads() {
    parallel_for(samples.size(), [&](std::size_t i) {
      if (auto head = decode_counter_head(samples[i].frame.segment_head)) samples[i].head = *std::move(head);
      samples[i].frame.segment_head = {};
    });
    bool has_all = true;
    for (const CounterChunkInFile& chunk : samples) {
      const std::uint64_t numbers = std::uint64_t{chunk.head.rows} * (chunk.head.counters.size() + 1);
      has_all = has_all && chunk.head.rows > 0;
      if (!spending.unpack({numbers, chunk.head.counters.size(), 0})) return too_much();
    }
    return has_all;
  }

  // Gives each counter its series, whose values stay in the file. Returns false if chunks overlap, or if a counter is in chunks with different others: then
  // chunks must be read in their order, which decides.
  bool give_series() {
    const Nanoseconds epoch = surroundings->provenance().monotonic_epoch;
    const auto origin = [](const CounterChunkInFile& chunk) { return std::tie(chunk.frame.process, chunk.head.source, chunk.head.counters); };
    const auto by_origin = [&](const CounterChunkInFile* a, const CounterChunkInFile* b) { return origin(*a) < origin(*b); };
    std::map<const CounterChunkInFile*, std::vector<const CounterChunkInFile*>, decltype(by_origin)> groups(by_origin);  // by any of its chunks
    for (const CounterChunkInFile& chunk : samples)
      if (chunk.head.rows > 0) groups[&chunk].push_back(&chunk);
    std::vector<std::vector<CounterId>> members;
    std::set<CounterId> met;
    for (auto& [of, chunks] : groups) {
      std::stable_sort(chunks.begin(), chunks.end(), [](const auto* a, const auto* b) { return a->head.first_time < b->head.first_time; });
      const auto overlap = [](const auto* a, const auto* b) { return a->head.end > b->head.first_time; };
      if (std::adjacent_find(chunks.begin(), chunks.end(), overlap) != chunks.end()) return false;
      if (!is_near(chunks.front()->head.first_time - epoch) || !is_near(chunks.back()->head.end - epoch)) return false;
      members.emplace_back();
      for (const std::uint32_t id : of->head.counters) {
        const auto counter = ingest.counter_of(of->frame.process, of->head.source, id);
        if (!counter || !met.insert(*counter).second) return false;
        members.back().push_back(*counter);
      }
    }
    std::vector<std::shared_ptr<const CountersInFile>> counters(groups.size());
    std::vector<std::span<const CounterChunkInFile* const>> chunks_of;
    for (const auto& [of, chunks] : groups) chunks_of.emplace_back(chunks);
    parallel_for(groups.size(), [&](std::size_t group) { counters[group] = std::make_shared<const CountersInFile>(file, path, chunks_of[group], epoch); });
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (std::size_t member = 0; member < members[group].size(); ++member)
        builder.give_series(members[group][member], CounterSeries(counters[group], member));
    return true;
  }

  // Reads chunks of counters whose heads are not known: of a file from before these heads, all of them. Their values stay in the file, too, unless
  // give_series() can't be. Stops if asked to. If somebody is told of progress, pictures of the trace may be in the making, and go first, because few rows show
  // counters: but not for ever, because other rows do.
  Result<void> read_samples(const LoadProgress& progress) {
    constexpr auto kPatience = std::chrono::seconds(30);
    const auto latest = std::chrono::steady_clock::now() + kPatience;
    bool is_cancelled = false;
    std::size_t total = 0;
    const auto go_on = [&](std::size_t done) {
      if (!progress) return LoadStep::kContinue;
      give_way(latest);
      const LoadStep step = progress(static_cast<double>(done) / static_cast<double>(total), nullptr);
      is_cancelled = step == LoadStep::kCancel;
      return step;
    };
    const auto check = [&](std::size_t, const DecodedFrame& frame) { return frame.holds_counter_samples() ? Result<void>() : damaged(); };
    const Spending before = spending;
    std::vector<CounterChunkInFile*> unknown;
    std::vector<IndexedFrame> looked_at;
    for (CounterChunkInFile& chunk : samples)
      if (chunk.head.rows == 0) {
        unknown.push_back(&chunk);
        looked_at.push_back(chunk.frame);
      }
    total = unknown.size();
    const auto find = [&](std::size_t i, const DecodedFrame& frame) {
      if (auto head = frame.counter_head()) unknown[i]->head = *std::move(head);
    };
    if (auto read = read_in_order(looked_at, go_on, find, check); !read || is_cancelled) return read;
    // Chunks that make no sense are counted by whoever takes them.
    const bool stay = give_series();
    if (!stay) spending = before;
    std::vector<IndexedFrame> taken;
    for (const CounterChunkInFile& chunk : samples)
      if (!stay || chunk.head.rows == 0) taken.push_back(chunk.frame);
    total = taken.size();
    const auto nothing = [](std::size_t, const DecodedFrame&) {};
    return read_in_order(taken, go_on, nothing, [&](std::size_t i, const DecodedFrame& frame) {
      const Result<void> checked = check(i, frame);
      return checked ? take(frame) : checked;
    });
  }

  // Reads frames in their order; some at a time are decoded on all cores. `go_on` is asked in between, with the number of frames done. For each frame,
  // `prepare` is called with its position and itself on the thread that decoded it, then `use` in their order.
  template <typename GoOn, typename Prepare, typename Use>
  Result<void> read_in_order(std::span<const IndexedFrame> wanted, GoOn go_on, Prepare prepare, Use use) {
    constexpr std::size_t kAtOnce = 32;                  // frames
    constexpr std::uint64_t kUnpackedAtOnce = 4u << 20;  // bytes of payload, if payloads are longer than usual
    for (std::size_t done = 0; done < wanted.size();) {
      if (go_on(done) == LoadStep::kCancel) return {};
      const std::size_t first = done;
      std::vector<FrameView> frames;
      for (std::uint64_t bytes = 0; done < wanted.size() && frames.size() < kAtOnce && bytes < kUnpackedAtOnce; ++done) {
        auto frame = reader.read(wanted[done]);
        if (!frame) return frame.error();
        bytes += frame->header.raw_size;
        frames.push_back(*std::move(frame));
      }
      std::vector<std::optional<DecodedFrame>> decoded(frames.size());
      parallel_for(frames.size(), [&](std::size_t i) {
        decoded[i].emplace(frames[i]);
        prepare(first + i, *decoded[i]);
      });
      for (std::size_t i = 0; i < decoded.size(); ++i) {
        if (!spending.unpack(decoded[i]->cost())) return too_much();
        if (auto used = use(first + i, *decoded[i]); !used) return used;
        decoded[i].reset();
      }
    }
    return {};
  }

  // Adds a sentence about skipped frames to the trace.
  void tell_skipped() { add_sentence(builder.provenance().condition, ingest.skipped_text()); }

  Result<void> read_heads(std::span<const IndexedFrame> index) {
    const Nanoseconds epoch = surroundings->provenance().monotonic_epoch;
    std::vector<const IndexedFrame*> frames;
    for (const IndexedFrame& indexed : index)
      if (indexed.type == proto::FRAME_LANE_SEGMENT) frames.push_back(&indexed);
    std::vector<std::optional<SegmentHead>> heads(frames.size());
    parallel_for(frames.size(), [&](std::size_t i) { heads[i] = decode_segment_head(frames[i]->segment_head); });
    std::vector<bool> is_met;
    segments.reserve(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const IndexedFrame& indexed = *frames[i];
      std::optional<SegmentHead>& head = heads[i];
      if (!head || head->lane.track >= tracks.size() || indexed.event_count == 0 || indexed.event_count > LaneSegment::kCapacity) return damaged();
      if (!ingest.file_tracks()[head->lane.track]) continue;  // of a kind that this version does not know
      for (Nanoseconds* time : {&head->first_start, &head->last_start, &head->end}) *time -= epoch;
      for (SegmentHead::Part& part : head->parts) {
        part.start -= epoch;
        part.end -= epoch;
        part.dominant = ingest.name_of_file(part.dominant);
        part.longest_name = ingest.name_of_file(part.longest_name);
      }
      for (SegmentHead::NameSum& sum : head->names) sum.name = ingest.name_of_file(sum.name);
      if (is_met.size() < tracks.size()) is_met.resize(tracks.size());
      if (!is_met[head->lane.track]) order.push_back(head->lane.track);
      is_met[head->lane.track] = true;
      segments.push_back({std::move(*head), 0, indexed.event_count, indexed.offset, indexed.stored_size});
    }
    std::stable_sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
      return std::pair(a.head.lane, a.head.first_start) < std::pair(b.head.lane, b.head.first_start);
    });
    lanes.resize(tracks.size());
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (auto placed = place(i); !placed) return placed;
    return {};
  }

  // Assigns the segment its position among those of its lane.
  Result<void> place(std::size_t i) {
    Segment& segment = segments[i];
    auto& of_track = lanes[segment.head.lane.track];
    if (const std::size_t wanted = segment.head.lane.lane + std::size_t{1}; wanted > of_track.size()) {
      lane_count += wanted - of_track.size();
      if (!fits_into_memory()) return too_much();
      of_track.resize(wanted);
    }
    auto& [first, last] = of_track[segment.head.lane.lane];
    if (first == last) {
      first = i;
    } else {
      const Segment& before = segments[i - 1];
      if (before.head.end > segment.head.first_start || before.first + std::uint64_t{before.count} > kNone - segment.count) return damaged();
      segment.first = before.first + before.count;
    }
    last = i + 1;
    events += segment.count;
    return {};
  }

  // Segments that are not decoded count as in a trace whose events are all in memory (TraceBuilder): a trace that is answered from the file must not
  // take more.
  [[nodiscard]] bool fits_into_memory() const {
    constexpr std::uint64_t kLaneBytes = 2'000;
    return Spending(reader.size()).may_keep(ingest.memory_bytes() + events * limits::kEventMemory + lane_count * kLaneBytes, events);
  }
};

// A lane of the file, which it keeps open.
class SegmentReader::LaneOnDemand final : public DemandedSegments {
 public:
  LaneOnDemand(const std::shared_ptr<State>& file, FileLane lane)
      : DemandedSegments(bounds_of(SegmentReader(file).segments(lane)), outline_of(SegmentReader(file).segments(lane))), file_(file), lane_(lane) {}

  // True if a lane can be one of these: all segments but the last are full.
  static bool is_possible(std::span<const Segment> segments) {
    return std::all_of(segments.begin(), segments.end(),
                       [&](const Segment& segment) { return segment.count == LaneSegment::kCapacity || &segment == &segments.back(); });
  }

 private:
  static std::vector<SegmentBounds> bounds_of(std::span<const Segment> segments) {
    std::vector<SegmentBounds> bounds;
    for (const Segment& segment : segments) {
      const SegmentHead& head = segment.head;
      bounds.push_back({segment.count,
                        head.first_start,
                        head.last_start,
                        head.end,
                        head.busy,
                        {head.least_correlation, head.greatest_correlation},
                        all_names(segment),
                        longest_of(head)});
    }
    return bounds;
  }
  // If there is only one part, the head does not have it: then an event lasts at most as long as all together.
  static Nanoseconds longest_of(const SegmentHead& head) {
    Nanoseconds longest = head.parts.empty() ? head.busy : 0;
    for (const SegmentHead::Part& part : head.parts) longest = std::max(longest, part.longest);
    return std::min(longest, head.busy);
  }
  // A head has the names with the most time. They are all names if they have all events.
  static std::vector<NameTime> all_names(const Segment& segment) {
    std::vector<NameTime> names;
    std::uint64_t count = 0;
    Nanoseconds total = 0;
    for (const SegmentHead::NameSum& sum : segment.head.names) {
      names.push_back({sum.name, sum.count, sum.total, sum.least, sum.greatest});
      count += sum.count;
      total += sum.total;
    }
    if (count != segment.count || total != segment.head.busy) names.clear();
    return names;
  }
  // The index may be wrong: even then no event may overlap another.
  static Lane outline_of(std::span<const Segment> segments) {
    std::vector<Event> events;
    const auto add = [&](const SegmentHead& head, Nanoseconds start, Nanoseconds until, Nanoseconds busy, NameId name) {
      if (start < head.first_start || start > head.last_start || (!events.empty() && start < events.back().end())) return;
      until = std::min(until, head.end);
      events.push_back({start, std::clamp<Nanoseconds>(busy, 0, std::max<Nanoseconds>(0, until - start)), name, 0, 0});
    };
    for (const Segment& segment : segments) {
      const SegmentHead& head = segment.head;
      if (head.parts.empty()) add(head, head.first_start, head.end, head.busy, 0);
      for (std::size_t part = 0; part < head.parts.size(); ++part) {
        const Nanoseconds until = part + 1 < head.parts.size() ? head.parts[part + 1].start : head.end;
        add(head, head.parts[part].start, until, head.parts[part].busy, head.parts[part].dominant);
      }
    }
    GrowingLane lane;
    lane.append(events);
    return lane.publish();
  }
  std::shared_ptr<const LaneSegment> read(std::size_t s) const override {
    const SegmentReader reader(file_);
    auto segment = reader.decode(reader.segments(lane_)[s]);
    if (segment) return *segment;
    SegmentCache::of_process().report(own_damage_text());
    return nullptr;
  }
  // Damage is not reported here: read() reports it.
  std::shared_ptr<const LaneSegment> read_times(std::size_t s) const override {
    const SegmentReader reader(file_);
    const auto times = reader.decode_times(reader.segments(lane_)[s]);
    return times ? *times : nullptr;
  }
  std::unique_ptr<SegmentParts> read_parts(std::size_t s) const override {
    const SegmentReader reader(file_);
    return reader.parts(reader.segments(lane_)[s], identity(s));
  }
  std::string own_damage_text() const override {
    return "Not all events of " + file_->path.string() +
           " can be read any more: it was changed, cut or damaged. Save what can be read, and open that: lanescope export -t trace " + file_->path.string() +
           " -o NEW.trace";
  }

  std::shared_ptr<State> file_;
  FileLane lane_;
};

// Answers so far were based on the head, so each part must match it. The frame is read when the first part is decoded, unless the cache has it undecoded: many
// questions need none.
class SegmentReader::PartsOfSegment final : public SegmentParts {
 public:
  PartsOfSegment(std::shared_ptr<State> file, const Segment& segment, std::uint64_t identity)
      : file_(std::move(file)), segment_(segment), identity_(identity) {}

  [[nodiscard]] std::span<const SegmentHead::Part> heads() const noexcept override { return segment_.head.parts; }
  [[nodiscard]] bool decode(std::size_t part, Events& into) const override {
    const LaneSegmentParts* const parts = read();
    if (parts == nullptr || !parts->decode(part, segment_.head.parts[part].start, into)) return false;
    file_->ingest.replace_names_of_file(std::span(into.names).first(into.size));
    const SegmentHead::Part& head = segment_.head.parts[part];
    return is_as_said(part, into) && (!head.is_fully_known() || into.names[into.longest_at] == head.longest_name);
  }
  [[nodiscard]] bool decode(std::size_t part, Times& into) const override {
    const LaneSegmentParts* const parts = read();
    return parts != nullptr && parts->decode(part, segment_.head.parts[part].start, into) && is_as_said(part, into);
  }
  [[nodiscard]] std::optional<DetailId> detail(EventIndex event) override {
    const auto id = read() != nullptr ? parts_->detail(event, details_) : std::nullopt;
    if (!id) return std::nullopt;
    return file_->ingest.detail_of_file(segment_.head.lane.track, *id);
  }

 private:
  // Null if the frame can't be read in parts.
  [[nodiscard]] const LaneSegmentParts* read() const {
    if (!was_read_) {
      was_read_ = true;
      SegmentCache& cache = SegmentCache::of_process();
      parts_ = cache.undecoded(identity_);
      if (parts_) return parts_.get();
      cache.count_read_in_parts();
      if (auto parts = SegmentReader(file_).read_parts(segment_)) {
        parts_ = std::make_shared<const LaneSegmentParts>(*std::move(parts));
        cache.keep_undecoded(identity_, parts_);
      }
    }
    return parts_.get();
  }
  [[nodiscard]] bool is_as_said(std::size_t part, const Times& decoded) const {
    const SegmentHead::Part& head = segment_.head.parts[part];
    const bool is_last = part + 1 == segment_.head.parts.size();
    const Nanoseconds last_start = decoded.starts[decoded.size - 1], end = last_start + decoded.durations[decoded.size - 1];
    const bool ends_as_said = is_last                 ? last_start == segment_.head.last_start && end == segment_.head.end
                              : head.is_fully_known() ? end == head.end
                                                      : end <= head.end;
    return ends_as_said && decoded.busy == head.busy && decoded.longest == head.longest && (!head.is_fully_known() || decoded.longest_at == head.longest_at);
  }

  std::shared_ptr<State> file_;  // which has the segment
  const Segment& segment_;
  const std::uint64_t identity_;  // in the cache
  mutable bool was_read_ = false;
  mutable std::shared_ptr<const LaneSegmentParts> parts_;
  LaneSegmentParts::Details details_;
};

SegmentReader::SegmentReader(std::shared_ptr<State> state) : state_(std::move(state)) {}
SegmentReader::SegmentReader(SegmentReader&&) noexcept = default;
SegmentReader& SegmentReader::operator=(SegmentReader&&) noexcept = default;
SegmentReader::~SegmentReader() = default;

Result<SegmentReader> SegmentReader::open(const std::filesystem::path& path) {
  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  auto state = std::make_shared<State>(std::move(*reader), path);
  std::vector<IndexedFrame> index = state->reader.index();
  if (std::none_of(index.begin(), index.end(), [](const IndexedFrame& frame) { return frame.type == proto::FRAME_TRACKS; }))
    return Error{path.string() + " is not compacted, or was cut off. Compact it with: lanescope export -t trace --form compact " + path.string() +
                 " -o NEW.trace"};
  if (auto read = state->read_surroundings(index); !read) return read.error();
  if (auto read = state->read_heads(index); !read) return read.error();
  return SegmentReader(std::move(state));
}

const std::shared_ptr<const Trace>& SegmentReader::surroundings() const noexcept { return state_->surroundings; }
std::span<const TrackKey> SegmentReader::tracks() const noexcept { return state_->tracks; }
std::uint64_t SegmentReader::event_count() const noexcept { return state_->events; }
std::uint32_t SegmentReader::lane_count(std::uint32_t track) const noexcept {
  return track < state_->lanes.size() ? static_cast<std::uint32_t>(state_->lanes[track].size()) : 0;
}

std::span<const SegmentReader::Segment> SegmentReader::segments(FileLane lane) const noexcept {
  if (lane.lane >= lane_count(lane.track)) return {};
  const auto [first, last] = state_->lanes[lane.track][lane.lane];
  return std::span(state_->segments).subspan(first, last - first);
}

std::span<const SegmentReader::Segment> SegmentReader::overlapping(FileLane lane, TimeRange window) const noexcept {
  const auto all = segments(lane);
  const auto first = std::partition_point(all.begin(), all.end(),
                                          [&](const Segment& segment) { return segment.head.end <= window.begin && segment.head.last_start < window.begin; });
  const auto last = std::partition_point(first, all.end(), [&](const Segment& segment) { return segment.head.first_start < window.end; });
  return {first, last};
}

Result<std::string> SegmentReader::payload_of(const Segment& segment) const {
  IndexedFrame indexed;
  indexed.offset = segment.offset;
  indexed.type = proto::FRAME_LANE_SEGMENT;
  indexed.stored_size = segment.stored_bytes;
  const auto frame = state_->reader.read(indexed);
  if (!frame) return frame.error();
  if (frame->header.raw_size > most_segment_bytes(segment.count)) return state_->damaged();
  return open_frame(*frame);
}

Result<std::shared_ptr<const LaneSegment>> SegmentReader::decode_times(const Segment& segment) const {
  const auto payload = payload_of(segment);
  if (!payload) return payload.error();
  thread_local LaneSegmentTimes memory;  // as in decode()
  auto times = decode_lane_times(*payload, std::exchange(memory, {}));
  if (!times || times->lane != segment.head.lane || times->starts.size() != segment.count) return state_->damaged();
  const Nanoseconds epoch = state_->surroundings->provenance().monotonic_epoch;
  for (Nanoseconds& start : times->starts) start -= epoch;
  const SegmentHead& head = segment.head;
  const Nanoseconds busy = std::accumulate(times->durations.begin(), times->durations.end(), Nanoseconds{0});
  const bool as_said = times->starts.front() == head.first_start && times->starts.back() == head.last_start &&
                       times->starts.back() + times->durations.back() == head.end && busy == head.busy;
  if (!as_said) return state_->damaged();
  auto segment_of_times = LaneSegment::of_times(times->starts, times->durations);
  memory = *std::move(times);
  return segment_of_times;
}

Result<std::shared_ptr<const LaneSegment>> SegmentReader::decode(const Segment& segment) const {
  const auto payload = payload_of(segment);
  if (!payload) return payload.error();
  thread_local EventColumns memory;  // of the previous segment: allocating it again each time costs a fifth of decoding
  auto decoded = decode_lane_columns(*payload, std::exchange(memory, {}));
  if (!decoded || decoded->lane != segment.head.lane || decoded->events.starts.size() != segment.count) return state_->damaged();
  if (!state_->ingest.place(*decoded)) return state_->damaged();
  auto lane_segment = std::make_shared<const LaneSegment>(decoded->events);
  memory = std::move(decoded->events);
  // Answers so far were based on the head, so the events must match it.
  const SegmentHead& head = segment.head;
  const EventIndex last = segment.count - 1;
  const bool as_said = lane_segment->start(0) == head.first_start && lane_segment->start(last) == head.last_start &&
                       lane_segment->start(last) + lane_segment->duration(last) == head.end && lane_segment->busy_total() == head.busy &&
                       lane_segment->smallest_correlation() == head.least_correlation && lane_segment->largest_correlation() == head.greatest_correlation;
  if (!as_said) return state_->damaged();
  return lane_segment;
}

std::unique_ptr<SegmentParts> SegmentReader::parts(const Segment& segment, std::uint64_t identity) const {
  const std::size_t count = (segment.count + SegmentParts::kPart - 1) / SegmentParts::kPart;
  const std::vector<SegmentHead::Part>& parts = segment.head.parts;
  const bool is_possible = parts.size() == count && count > 1 && parts.front().start == segment.head.first_start &&
                           (!parts.back().is_fully_known() || parts.back().longest_at < segment.count - (count - 1) * SegmentParts::kPart);
  return is_possible ? std::make_unique<PartsOfSegment>(state_, segment, identity) : nullptr;
}

std::optional<LaneSegmentParts> SegmentReader::read_parts(const Segment& segment) const {
  auto payload = payload_of(segment);
  if (!payload) return std::nullopt;
  auto parts = LaneSegmentParts::of(*std::move(payload), segment.count);
  const bool is_as_said =
      parts && parts->lane() == segment.head.lane && parts->first_start() == segment.head.first_start + state_->surroundings->provenance().monotonic_epoch;
  if (!is_as_said) parts.reset();
  return parts;
}

Result<std::shared_ptr<const Trace>> SegmentReader::trace(const LoadProgress& progress) const {
  State& state = *state_;
  if (state.surroundings->event_count() > 0) return state.damaged();
  if (!state.fits_into_memory()) return state.too_much();
  std::vector<GivenLane> lanes;
  std::vector<std::pair<std::size_t, FileLane>> on_demand;  // and their positions in `lanes`
  for (const std::uint32_t track : state.order)
    for (std::uint32_t number = 0; number < lane_count(track); ++number) {
      const FileLane lane{track, number};
      const auto of_lane = segments(lane);
      if (of_lane.empty()) {
        lanes.push_back({tracks()[track], number, {}});
      } else if (LaneOnDemand::is_possible(of_lane)) {
        on_demand.emplace_back(lanes.size(), lane);
        lanes.push_back({tracks()[track], number, {}});
      } else {
        GrowingLane whole;
        for (const Segment& segment : of_lane) {
          const auto decoded = decode(segment);
          if (!decoded) return decoded.error();
          std::vector<Event> events;
          for (EventIndex i = 0; i < (*decoded)->size(); ++i)
            events.push_back({(*decoded)->start(i), (*decoded)->duration(i), (*decoded)->name(i), (*decoded)->correlation(i), (*decoded)->detail(i)});
          whole.append(events);
        }
        lanes.push_back({tracks()[track], number, whole.publish()});
      }
    }
  parallel_for(on_demand.size(), [&](std::size_t i) {
    const auto [position, lane] = on_demand[i];
    lanes[position].lane = Lane(std::make_shared<const LaneOnDemand>(state_, lane));
  });
  const Result<bool> has_heads = state.read_counter_heads();
  if (!has_heads) return has_heads.error();
  const bool has_series = *has_heads && state.give_series();
  const bool is_more_to_come = !has_series || !state.surroundings->kernel_records().windows.empty() ||
                               std::any_of(lanes.begin(), lanes.end(), [](const GivenLane& given) { return given.track.kind == TrackKind::kMemoryUsage; });
  std::shared_ptr<const Trace> without_values;
  if (progress && is_more_to_come) {
    without_values = state.builder.snapshot_with(lanes, TraceBuilder::MemoryTotals::kLater);
    if (progress(0, without_values) == LoadStep::kCancel) {
      if (state.ingest.skipped_text().empty()) return without_values;
      state.tell_skipped();
      return state.builder.snapshot_with(std::move(lanes), TraceBuilder::MemoryTotals::kLater);
    }
  }
  bool is_cancelled = false;
  const LoadProgress listened = [&](double fraction, std::shared_ptr<const Trace> partial) {
    const LoadStep step = progress ? progress(fraction, std::move(partial)) : LoadStep::kContinue;
    is_cancelled = step == LoadStep::kCancel;
    return step;
  };
  if (!has_series)
    if (auto read = state.read_samples(listened); !read) return read.error();
  if (is_cancelled) return without_values;
  state.tell_skipped();
  return state.builder.snapshot_with(std::move(lanes));
}

}  // namespace lanescope
