#include "model/trace/outline.h"

#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <sstream>

#include "lanescope/trace.pb.h"
#include "model/export/trace_file_export.h"
#include "model/file/trace_file.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

constexpr std::int64_t kEpoch = 5'000;

std::shared_ptr<const Trace> trace_of(std::uint32_t events) {
  TraceBuilder builder;
  builder.provenance().monotonic_epoch = kEpoch;
  const ProcessId process = builder.process_of_instance(3);
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 42);
  std::mt19937 random(1);
  std::vector<Event> list;
  Nanoseconds time = 0;
  for (std::uint32_t i = 0; i < events; ++i) {
    const Nanoseconds duration = 10 + static_cast<Nanoseconds>(random() % 50);
    list.push_back({time, duration, builder.intern(i % 10 == 0 ? "cudaMemcpy_v3020" : "cudaLaunchKernel_v7000"), i, 0});
    time += duration + static_cast<Nanoseconds>(random() % 50);
  }
  builder.add(key, std::move(list));
  return builder.snapshot();
}

}  // namespace

TEST_CASE("a small trace has no outline") { CHECK(outline_frame(*trace_of(1'000)).empty()); }

TEST_CASE("the outline of a large trace is shown first and has the busy time of the events") {
  const auto trace = trace_of(kOutlineFromEvents);
  test::TemporaryFolder folder;
  const auto path = folder.path() / "large.trace";
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(writer);
    std::vector<std::byte> frames;
    proto::SessionStart start;
    start.set_epoch(kEpoch);
    FrameHeader header;
    header.type = proto::FRAME_SESSION_START;
    append_frame(header, start.SerializeAsString(), frames);
    REQUIRE(writer->append(frames));
    REQUIRE(writer->append(outline_frame(*trace)));
    REQUIRE(writer->finish());
  }
  std::vector<std::shared_ptr<const Trace>> shown;
  const auto loaded = load_trace(path, [&](double, std::shared_ptr<const Trace> partial) {
    if (partial) shown.push_back(std::move(partial));
    return LoadStep::kContinue;
  });
  REQUIRE(loaded);
  REQUIRE_FALSE(shown.empty());
  const Trace& outline = *shown.front();
  CHECK(outline.provenance().outline_only);
  REQUIRE(outline.tracks().size() == 1);
  CHECK(outline.tracks()[0].key.kind == TrackKind::kCudaApi);
  CHECK(outline.threads()[outline.tracks()[0].key.thread].tid == 42);

  const Lane& little = outline.lane(0);
  const Lane& whole = trace->lane(0);
  CHECK(little.size() <= kOutlineBuckets);
  const TimeRange everything{0, trace->extent().end + 1};
  CHECK(little.busy(everything) == whole.busy(everything));
  const Nanoseconds bucket = trace->extent().length() / static_cast<Nanoseconds>(kOutlineBuckets) + 1;
  for (EventIndex i = 0; i < little.size(); i += 101) {
    CHECK(little.duration(i) == whole.busy({little.start(i), little.start(i) + bucket}));
    CHECK(outline.name(little.name(i)) == "cudaLaunchKernel_v7000");
  }
}

TEST_CASE("an outline has the busy time of every kind of track, and leaves out what it does not know") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(3);
  constexpr auto kKinds = static_cast<std::uint32_t>(kLastTrackKind) + 1;
  constexpr std::uint32_t kEach = kOutlineFromEvents / kKinds + 1;
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    TrackKey key{static_cast<TrackKind>(kind), process};
    if (key.kind == TrackKind::kProcessors) key = {.kind = key.kind, .processor = 5};
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < kEach; ++i) events.push_back({Nanoseconds{100} * i, 10 + kind, builder.intern("event"), i, 0});
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  const std::vector<std::byte> frame = outline_frame(*trace);
  REQUIRE_FALSE(frame.empty());
  FrameView view;
  std::memcpy(&view.header, frame.data(), sizeof(view.header));
  view.stored = std::span(frame).subspan(sizeof(view.header));
  proto::Outline outline;
  REQUIRE(outline.ParseFromString(*open_frame(view)));

  auto& of_newer_recorder = *outline.add_lanes();
  of_newer_recorder.set_track_kind(kKinds);
  of_newer_recorder.add_bucket_delta(1);
  of_newer_recorder.add_busy(1);
  of_newer_recorder.add_name(0);
  TraceBuilder into;
  REQUIRE(add_outline(into, outline.SerializeAsString()));
  const auto shown = into.snapshot();
  REQUIRE(shown->tracks().size() == kKinds);
  const TimeRange everything{0, Nanoseconds{100} * kEach};
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    const Track& track = shown->tracks()[kind];
    CHECK(track.key.kind == static_cast<TrackKind>(kind));
    CHECK(track.key.processor == (track.key.kind == TrackKind::kProcessors ? 5 : kNone));
    REQUIRE(track.lanes.size() == 1);
    CHECK(shown->lane(track.lanes.front()).busy(everything) == Nanoseconds{kEach} * (10 + kind));
  }
}

TEST_CASE("an outline has the busy time of each of its buckets, and of no other, however few events a lane has") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(3);
  const NameId name = builder.intern("event");
  constexpr Nanoseconds kEnd = 20'480'000;  // so that a bucket has 10,001 ns
  TrackKey full{.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 1)};
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < kOutlineFromEvents; ++i) events.push_back({Nanoseconds{20} * i, 10, name, i, 0});
  events.push_back({kEnd - 10, 10, name, 0, 0});
  builder.add(full, std::move(events));
  constexpr Nanoseconds kBucket = 10'001;
  std::mt19937 random(3);
  const std::vector<std::vector<Event>> few{
      {{kEnd - 1, 1, name, 0, 0}},
      {{0, kEnd, name, 0, 0}},
      {{0, 0, name, 0, 0}, {kBucket * 7, 0, name, 0, 0}, {kBucket * 7, kBucket, name, 0, 0}, {kBucket * 2'000, 1, name, 0, 0}},
      {{kBucket - 1, 1, name, 0, 0}, {kBucket, 1, name, 0, 0}, {kBucket * 3 - 1, kBucket * 5, name, 0, 0}, {kBucket * 8 - 1, 1, name, 0, 0}},
      {}};
  for (std::uint32_t lane = 0; lane < 50; ++lane) {
    events = lane < few.size() ? few[lane] : std::vector<Event>();
    for (Nanoseconds time = lane < few.size() ? kEnd : 0; time < kEnd - 100'000;) {
      time += static_cast<Nanoseconds>(random() % 2 == 0 ? random() % 20'000 : random() % 4'000'000);
      const auto duration = static_cast<Nanoseconds>(random() % 60'000);
      if (time + duration > kEnd) break;
      events.push_back({time, duration, name, 0, 0});
      time += duration;
    }
    if (!events.empty()) builder.add(TrackKey{.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 2 + lane)}, std::move(events));
  }
  const auto trace = builder.snapshot();
  REQUIRE(trace->extent().begin == 0);
  const std::vector<std::byte> frame = outline_frame(*trace);
  FrameView view;
  std::memcpy(&view.header, frame.data(), sizeof(view.header));
  view.stored = std::span(frame).subspan(sizeof(view.header));
  proto::Outline outline;
  REQUIRE(outline.ParseFromString(*open_frame(view)));
  REQUIRE(outline.bucket_length() == kBucket);
  REQUIRE(static_cast<std::size_t>(outline.lanes_size()) == trace->lanes().size());
  for (LaneId id = 0; id < trace->lanes().size(); ++id) {
    std::vector<std::uint64_t> busy(kOutlineBuckets), told(kOutlineBuckets);
    for (std::size_t bucket = 0; bucket < kOutlineBuckets; ++bucket) {
      const auto begin = static_cast<Nanoseconds>(bucket) * kBucket;
      for (EventIndex i = 0; id > 0 && i < trace->lane(id).size(); ++i)
        busy[bucket] +=
            static_cast<std::uint64_t>(std::max<Nanoseconds>(0, std::min(trace->lane(id).end(i), begin + kBucket) - std::max(trace->lane(id).start(i), begin)));
      if (id == 0) busy[bucket] = static_cast<std::uint64_t>(trace->lane(id).busy({begin, begin + kBucket}));
    }
    const proto::OutlineLane& lane = outline.lanes(static_cast<int>(id));
    std::size_t bucket = 0;
    for (int i = 0; i < lane.busy_size(); ++i) told[bucket += lane.bucket_delta(i)] = lane.busy(i);
    CHECK(told == busy);
  }
}

TEST_CASE("an outline whose lanes lie below lanes that it lacks makes no sense, and takes no memory for these") {
  proto::Outline outline;
  outline.set_begin(0);
  outline.set_bucket_length(1'000);
  outline.add_names("range");
  const auto add = [&](std::uint32_t thread, std::uint32_t depth) {
    auto& lane = *outline.add_lanes();
    lane.set_track_kind(static_cast<std::uint32_t>(TrackKind::kNvtxRanges));
    lane.set_process(1);
    lane.set_thread(thread);
    lane.set_depth(depth);
    lane.add_bucket_delta(1);
    lane.add_busy(1);
    lane.add_name(0);
  };
  for (std::uint32_t thread = 1; thread <= 3; ++thread)
    for (std::uint32_t depth = 0; depth < thread; ++depth) add(thread, depth);
  TraceBuilder sound;
  REQUIRE(add_outline(sound, outline.SerializeAsString()));
  CHECK(sound.snapshot()->lanes().size() == 1 + 2 + 3);
  add(4, 511);
  TraceBuilder into;
  CHECK_FALSE(add_outline(into, outline.SerializeAsString()));
  CHECK(into.snapshot()->lanes().size() == 1 + 2 + 3);
}

TEST_CASE("an outline is appended to a large recording once, and never to a small one or to one that was cut off") {
  test::TemporaryFolder folder;
  const auto large = folder.path() / "large.trace";
  const auto write_events = [](const std::filesystem::path& path, std::uint32_t chunks, bool finished) {
    auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(writer);
    proto::EventChunk chunk;
    chunk.set_base_time(kEpoch);
    chunk.mutable_api_calls()->set_thread(42);
    constexpr int kEvents = 50'000;
    for (int i = 0; i < kEvents; ++i) {
      chunk.mutable_api_calls()->add_start_delta(10);
      chunk.mutable_api_calls()->add_duration(4);
      chunk.mutable_api_calls()->add_name(0);
      chunk.mutable_api_calls()->add_correlation_delta(1);
    }
    for (std::uint32_t i = 0; i < chunks; ++i) {
      chunk.set_base_time(kEpoch + static_cast<std::int64_t>(i) * kEvents * 10);
      std::vector<std::byte> frames;
      FrameHeader header;
      header.type = proto::FRAME_EVENTS;
      header.process = 1;
      header.event_count = kEvents;
      append_frame(header, chunk.SerializeAsString(), frames);
      REQUIRE(writer->append(frames));
    }
    if (finished) REQUIRE(writer->finish());
  };
  write_events(large, 20, true);
  const auto outlines = [&] {
    static constexpr std::uint16_t kOutline[] = {proto::FRAME_OUTLINE};
    return TraceFileReader::open(large)->indexed(kOutline).size();
  };
  CHECK(outlines() == 0);
  REQUIRE(append_outline(large));
  CHECK(outlines() == 1);
  const auto size = std::filesystem::file_size(large);
  REQUIRE(append_outline(large));
  CHECK(std::filesystem::file_size(large) == size);
  const auto trace = load_trace(large);
  REQUIRE(trace);
  CHECK((*trace)->event_count() == 1'000'000);
  CHECK((*trace)->provenance().condition.empty());

  const auto small = folder.path() / "small.trace";
  write_events(small, 2, true);
  const auto small_size = std::filesystem::file_size(small);
  REQUIRE(append_outline(small));
  CHECK(std::filesystem::file_size(small) == small_size);

  const auto cut = folder.path() / "cut.trace";
  write_events(cut, 20, false);
  const auto cut_size = std::filesystem::file_size(cut);
  REQUIRE(append_outline(cut));
  CHECK(std::filesystem::file_size(cut) == cut_size);
}

TEST_CASE("an outline that makes no sense is refused") {
  TraceBuilder builder;
  CHECK_FALSE(add_outline(builder, "\xff nonsense"));
  proto::Outline outline;
  outline.set_bucket_length(100);
  auto* lane = outline.add_lanes();
  lane->add_bucket_delta(4'000'000'000u);
  lane->add_busy(1);
  lane->add_name(0);
  outline.add_names(std::string("x"));
  CHECK_FALSE(add_outline(builder, outline.SerializeAsString()));
}

TEST_CASE("an outline of a growing file has all that is in it by then, and fits into the bytes that it may take") {
  test::TemporaryFolder folder;
  const auto path = folder.path() / "growing.trace";
  constexpr std::uint32_t kEvents = 20'000;
  const auto trace = trace_of(kEvents);
  REQUIRE(export_trace_file(*trace, path, Overwrite::kRefuse));
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string whole = content.str();
  const auto grow_to = [&](std::size_t size) { std::ofstream(path, std::ios::binary) << whole.substr(0, size); };
  GrowingOutline outline(path);
  grow_to(8);  // not even a header
  CHECK(outline.frames(1 << 20, {}).empty());
  grow_to(whole.size());
  const std::vector<std::byte> frames = outline.frames(1 << 20, {});
  const auto shown = trace_of_outline(frames);
  REQUIRE(shown);
  CHECK(shown->provenance().outline_only);
  REQUIRE(shown->tracks().size() == 1);
  const TimeRange all = trace->extent();
  const auto busy_of = [&](const Trace& of) { return of.lane(of.tracks()[0].lanes[0]).busy({all.begin, all.end + 1'000'000}); };
  CHECK(busy_of(*shown) == busy_of(*trace));
  CHECK(shown->event_count() <= 512);

  const std::vector<std::byte> coarser = outline.frames(frames.size() / 2, {});
  CHECK(coarser.size() <= frames.size() / 2);
  REQUIRE(trace_of_outline(coarser));
  CHECK(busy_of(*trace_of_outline(coarser)) == busy_of(*trace));
  CHECK(outline.frames(10, {}).empty());

  for (std::size_t size = 0; size < frames.size(); size += 7) CHECK_FALSE(trace_of_outline(std::span(frames).first(size)));
  std::vector<std::byte> changed = frames;
  changed[changed.size() / 2] ^= std::byte{1};
  CHECK_FALSE(trace_of_outline(changed));
}
