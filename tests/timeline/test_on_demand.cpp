// What is drawn and asked of a recording whose segments are decoded on demand, with almost no memory, is the same as with all events in memory; and a thread
// that paints waits for no segment.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "../model/trace/compact/long_recording.h"
#include "../model/trace/compact/recordings.h"
#include "model/events/event_query.h"
#include "model/events/event_statistics.h"
#include "model/events/stored_order.h"
#include "model/export/trace_file_export.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "on_demand.h"
#include "timeline/core/navigation.h"
#include "timeline/core/parallel.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/view/view_content.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

// Streams whose kernels run at the same time, with rests in which one runs alone, or none.
void write_many_streams(const fs::path& path, std::uint32_t streams, int events) {
  SmallTrace trace;
  TraceBuilder& builder = trace.builder;
  builder.provenance().finished = true;
  const NameId names[] = {builder.intern("one"), builder.intern("other")};
  std::mt19937 random(9);
  for (std::uint32_t stream = 0; stream < streams; ++stream) {
    std::vector<Event> all;
    Nanoseconds time = random() % 10'000;
    for (int i = 0; i < events; ++i) {
      const auto duration = static_cast<Nanoseconds>(1 + random() % 1'500);
      all.push_back({time, duration, names[random() % 2], 1, 0});
      time += duration + 1 + random() % (i % 20'000 == 0 ? 20'000'000 : 1'500);
    }
    builder.add(trace.on_gpu(TrackKind::kKernels, stream), std::move(all));
  }
  REQUIRE(export_trace_file(*builder.snapshot(), path, Overwrite::kAllow));
}

// Streams of which one runs at a time, for so many kernels; then the next one, after a rest of a second.
constexpr Nanoseconds kKernel = 1'000, kRest = 1'000'000'000;

void write_turns(const fs::path& path, std::uint32_t streams, int turns, EventIndex kernels) {
  SmallTrace trace;
  TraceBuilder& builder = trace.builder;
  builder.provenance().finished = true;
  const NameId names[] = {builder.intern("one"), builder.intern("other")};
  std::mt19937 random(4);
  std::vector<std::vector<Event>> all(streams);
  Nanoseconds time = 0;
  for (int turn = 0; turn < turns; ++turn)
    for (std::vector<Event>& of_stream : all) {
      for (EventIndex i = 0; i < kernels; ++i, time += kKernel)
        of_stream.push_back({time, static_cast<Nanoseconds>(1 + random() % kKernel), names[random() % 2], 1, 0});
      time += kRest;
    }
  for (std::uint32_t stream = 0; stream < streams; ++stream) builder.add(trace.on_gpu(TrackKind::kKernels, stream), std::move(all[stream]));
  REQUIRE(export_trace_file(*builder.snapshot(), path, Overwrite::kAllow));
}

}  // namespace

TEST_CASE("every row of every recording is drawn the same from its file, with memory for next to nothing") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const Both both(recording, folder.path());
  if (both.memory->event_count() == 0) return;
  const Budget budget(256 << 10);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);  // rows of everything that is known without decoding
  ViewContent in_file(ViewContent::Base(known), both.file);
  REQUIRE(in_file.is_on_demand());
  REQUIRE_FALSE(in_memory.is_on_demand());

  // The same rows with the same shares, except stack charts, and ranges on GPUs; for the latter, the reason why they are left out is given.
  for (const Row& row : in_file.tree().rows()) {
    const auto same = in_memory.tree().find(row.key);
    REQUIRE(same);
    if (row.kind == RowKind::kGpuRanges) {
      CHECK(row.label.english() == "NVTX: needs all events in memory");
      CHECK((row.all.empty() && row.children.empty()));
      continue;
    }
    INFO(row.label.english());
    // States of processors that reach into a saved part count whole where their times would have to be read.
    const bool is_of_processors = row.kind == RowKind::kProcessor || row.kind == RowKind::kProcessorGroup;
    if (!is_of_processors || !both.memory->provenance().part) CHECK(in_memory.tree().row(*same).share == row.share);
    CHECK(in_memory.tree().row(*same).label.english() == row.label.english());
  }
  for (const Row& row : in_memory.tree().rows()) {
    const bool is_left_out =
        row.kind == RowKind::kStackChart || (row.kind == RowKind::kGpuRanges && in_memory.tree().row(*row.parent).kind == RowKind::kGpuRanges);
    CHECK(in_file.tree().find(row.key).has_value() != is_left_out);
  }

  const std::vector<Level> levels = levels_of(in_file.tree());
  std::mt19937 random(7);
  for (const TimeRange range : some_ranges(both.memory->extent(), random, 2)) {
    const Viewport viewport = Viewport{range, 900}.on_grid();
    const Painted exact = painted_exactly(in_file, Pane::kRows, levels, viewport);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const LevelContent& memory = in_memory.contents().content(levels[i]);
      LevelRasterizer rasterizer;
      CHECK(same_pixels(rasterizer.rasterize(memory, viewport), exact.rasterizer->rasterize(*exact.contents[i], viewport)));
      CHECK(memory.busy(range) == exact.contents[i]->busy(range));
      CHECK(memory.count(range) == exact.contents[i]->count(range));
      for (int hits = 0; hits < 2; ++hits) {
        const auto x = static_cast<std::int32_t>(random() % 900);
        const PixelHit a = hit_test(memory, viewport, x), b = hit_test(*exact.contents[i], viewport, x);
        CHECK(a.event == b.event);
        CHECK(a.column == b.column);
        CHECK(nearest_event(memory, viewport.time_at(x)) == nearest_event(*exact.contents[i], viewport.time_at(x)));
        CHECK(nearest_edge(memory, viewport.time_at(x), 5'000) == nearest_edge(*exact.contents[i], viewport.time_at(x), 5'000));
      }
    }
  }
}

TEST_CASE("a picture reads a segment once, or once more for what lanes cover together where memory holds few of the lanes", "[long]") {
  constexpr std::uint32_t kStreams = 24;
  constexpr int kEvents = 150'000;
  constexpr std::uint64_t kSegments = std::uint64_t{kStreams} * ((kEvents + LaneSegment::kCapacity - 1) / LaneSegment::kCapacity);
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", kStreams, kEvents);
  const Both both(folder.path() / "log.trace", folder.path());
  // Has room for few segments, or for all that are open at once.
  const auto [megabytes, reads] = GENERATE(table<std::uint64_t, std::uint64_t>({{8, 2}, {40, 1}}));
  const Budget budget(megabytes << 20);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  Level all;
  std::vector<Level> levels;
  for (LaneId lane = 0; lane < both.file->lanes().size(); ++lane) {
    levels.push_back({LaneSource{lane}});
    all.push_back({lane});
  }
  levels.push_back(all);
  levels.emplace_back(all.begin(), all.begin() + kStreams / 3);  // all of these are in the level before, too
  levels.emplace_back(all.begin() + kStreams / 4, all.end());
  REQUIRE(all.size() == kStreams);
  const Nanoseconds middle = both.file->extent().end / 2;
  for (const TimeRange range : {both.file->extent(), TimeRange{middle - 30'000'000, middle + 30'000'000}, TimeRange{middle, middle + 40'000}}) {
    const Viewport viewport = Viewport{padded(range, 0.01), 1'900}.on_grid();
    const SegmentCache::Use before = SegmentCache::of_process().use();
    const Painted exact = painted_exactly(in_file, Pane::kRows, levels, viewport);
    CHECK(decoded() - before.decoded <= kSegments + kSegments / 6);
    CHECK(SegmentCache::of_process().use().in_parts - before.in_parts <= reads * kSegments);
    CHECK(SegmentCache::of_process().use().times == before.times);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      LevelRasterizer rasterizer;
      CHECK(same_pixels(rasterizer.rasterize(in_memory.contents().content(levels[i]), viewport), exact.rasterizer->rasterize(*exact.contents[i], viewport)));
    }

    // For the whole time, the sums of rows are known from drawing; for a part of it, they are made row by row.
    const std::uint64_t drawn = decoded();
    auto sum = in_file.sum_of("all", all, range, 1);
    CHECK(decoded() == drawn);
    CHECK(sum.has_value() == (range == both.file->extent()));
    if (!sum) {
      Picture picture = in_file.take_picture();
      picture.want("all", all, range, 1);
      std::jthread([&] { picture.make({}); }).join();
      CHECK(decoded() - drawn <= 2 * kSegments);
      in_file.put(std::move(picture));
      sum = in_file.sum_of("all", all, range, 1);
    }
    REQUIRE(sum.has_value());
    CHECK(sum->busy == in_memory.contents().content(all).busy(range));
    CHECK(sum->count == in_memory.contents().content(all).count(range));
  }
}

TEST_CASE("a picture of lanes decodes parts of segments, and no segment whole; the next one reads nothing again if there is room") {
  constexpr std::uint32_t kStreams = 4;
  constexpr int kEvents = 150'000;
  constexpr std::uint64_t kSegments = std::uint64_t{kStreams} * ((kEvents + LaneSegment::kCapacity - 1) / LaneSegment::kCapacity);
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", kStreams, kEvents);
  const Both both(folder.path() / "log.trace", folder.path());
  const bool has_room = GENERATE(false, true);
  const Budget budget(has_room ? 256 << 20 : 0);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  std::vector<Level> levels;
  for (LaneId lane = 0; lane < both.file->lanes().size(); ++lane) levels.push_back({LaneSource{lane}});
  const TimeRange extent = both.file->extent();
  // Columns as wide as some parts, as a part, and as some events.
  const TimeRange ranges[] = {
      padded(extent, 0.01), padded(extent, 0.02), {extent.begin, extent.begin + extent.length() / 3}, {extent.begin, extent.begin + 900'000}};
  for (std::size_t i = 0; i < std::size(ranges); ++i) {
    const Viewport viewport = Viewport{ranges[i], i == 2 ? 1'900 : 40}.on_grid();
    const SegmentCache::Use before = SegmentCache::of_process().use();
    const Painted exact = painted_exactly(in_file, Pane::kRows, levels, viewport);
    const SegmentCache::Use after = SegmentCache::of_process().use();
    if (i == 0) CHECK(after.in_parts - before.in_parts == kSegments);
    if (i != 0 && has_room) CHECK(after.in_parts == before.in_parts);
    CHECK(after.decoded == before.decoded);
    for (std::size_t level = 0; level < levels.size(); ++level) {
      LevelRasterizer rasterizer;
      CHECK(same_pixels(rasterizer.rasterize(in_memory.contents().content(levels[level]), viewport),
                        exact.rasterizer->rasterize(*exact.contents[level], viewport)));
    }
  }
}

TEST_CASE("what is drawn of rows adds up to how long they are busy, wherever no column shows more than is asked for") {
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", 6, 20'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(4 << 20);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  const std::vector<Level> levels = levels_of(in_file.tree());
  const Viewport whole = Viewport{in_file.bounds(), 1'000}.on_grid();
  (void)painted_exactly(in_file, Pane::kRows, levels, whole);
  const TimeRange extent = both.file->extent();
  std::size_t drawn = 0;
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const Level& level = levels[random() % levels.size()];
    TimeRange range{extent.begin - static_cast<Nanoseconds>(random() % 2'000), extent.end + static_cast<Nanoseconds>(random() % 2'000)};
    if (i % 3 == 1) range.begin = extent.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length()));
    if (i % 3 == 2) range.end = extent.end - 1;
    const std::size_t sharers = 1 + random() % 3;
    const std::uint64_t before = decoded();
    const auto sum = in_file.sum_of("row " + std::to_string(i), level, range, sharers);
    CHECK(decoded() == before);
    if (!sum) continue;
    ++drawn;
    const LevelContent& expected = in_memory.contents().content(level);
    CHECK(sum->busy == row_busy(expected, range, sharers));
    CHECK(sum->count == expected.count(range));
    CHECK((sum->range == range && sum->sharers == sharers));
  }
  CHECK(drawn >= 100);  // all sums of whole recordings
  CHECK_FALSE(in_file.sum_of("beyond", levels.front(), {in_file.bounds().begin - in_file.bounds().length(), extent.end}, 1));
}

TEST_CASE("sums of rows in any parts of time are those of events in memory", "[long]") {
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", 5, 80'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(256 << 10);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  const std::vector<Level> levels = levels_of(in_file.tree());
  const TimeRange extent = both.file->extent();
  std::mt19937 random(6);
  for (int round = 0; round < 30; ++round) {
    struct Asked {
      Level level;
      TimeRange range;
      std::size_t sharers;
    };
    std::vector<Asked> asked;
    for (const TimeRange range : some_ranges(extent, random, 2))
      for (int i = 0; i < 4; ++i) asked.push_back({levels[random() % levels.size()], range, 1 + random() % 2});
    Picture picture = in_file.take_picture();
    for (std::size_t i = 0; i < asked.size(); ++i) picture.want("row " + std::to_string(i), asked[i].level, asked[i].range, asked[i].sharers);
    std::jthread([&] { picture.make({}); }).join();
    in_file.put(std::move(picture));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto sum = in_file.sum_of("row " + std::to_string(i), asked[i].level, asked[i].range, asked[i].sharers);
      REQUIRE(sum.has_value());
      const LevelContent& expected = in_memory.contents().content(asked[i].level);
      CHECK(sum->busy == row_busy(expected, asked[i].range, asked[i].sharers));
      CHECK(sum->count == expected.count(asked[i].range));
    }
  }
}

TEST_CASE("an overview of the time that rows show is made with them, and reads nothing of their lanes again", "[long]") {
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", 12, 100'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(4 << 20);  // all would take 24 segments
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  std::vector<Level> rows;
  Level all;
  for (LaneId lane = 0; lane < both.file->lanes().size(); ++lane) {
    if (lane > 0) rows.push_back({LaneSource{lane}});
    all.push_back({lane});
  }
  const Viewport whole = Viewport{in_file.bounds(), 1'900}.on_grid();
  const std::uint64_t segments = 2 * all.size();
  const SegmentCache::Use at_first = SegmentCache::of_process().use();
  const TimeRange bounds = in_file.bounds();
  CHECK(in_file.overview_to_make(Viewport{{bounds.begin, bounds.begin + bounds.length() / 2}, 1'900}.on_grid()).empty());
  REQUIRE(in_file.overview_to_make(whole) == std::vector<Level>{all});
  Picture picture = in_file.take_picture({Pane::kRows});
  picture.want(Pane::kRows, rows, whole);
  picture.foresee_overview({all});
  std::jthread([&] { picture.make({}); }).join();
  in_file.put(std::move(picture));
  CHECK(in_file.painted(Pane::kRows, pointers(rows), whole).detail == Painted::Detail::kExact);
  CHECK(in_file.overview_to_make(whole).empty());
  const std::uint64_t before = decoded();
  const Painted overview = painted_exactly(in_file, Pane::kOverview, {all}, whole);
  CHECK(decoded() == before);
  CHECK(SegmentCache::of_process().use().in_parts - at_first.in_parts == 2 * segments);  // for lanes, and for what they cover together
  CHECK(SegmentCache::of_process().use().times == at_first.times);
  LevelRasterizer expected;
  CHECK(same_pixels(expected.rasterize(in_memory.contents().content(all), whole), overview.rasterizer->rasterize(*overview.contents.front(), whole)));
}

TEST_CASE("shares of rows of copies and sets are known from heads") {
  constexpr int kEvents = 100'000;
  const TemporaryFolder folder;
  SmallTrace trace;
  TraceBuilder& builder = trace.builder;
  builder.provenance().finished = true;
  std::vector<Event> events;
  std::mt19937 random(3);
  for (int i = 0; i < kEvents; ++i) {
    MemoryDetail detail;
    detail.operation = random() % 5 == 0 ? MemoryOperation::kSet : MemoryOperation::kCopy;
    if (detail.operation == MemoryOperation::kCopy) detail.copy_kind = static_cast<CopyKind>(random() % 14);
    events.push_back(
        {Nanoseconds{i} * 2'000, static_cast<Nanoseconds>(1 + random() % 2'000), builder.intern(memory_operation_name(detail)), 1, builder.intern(detail)});
  }
  builder.add(trace.on_gpu(TrackKind::kMemory, 7), std::move(events));
  REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(0);
  const ViewContent in_memory(both.memory), known(both.file);
  const std::uint64_t before = decoded();
  const ViewContent in_file(ViewContent::Base(known), both.file);
  CHECK(decoded() == before);
  int classes = 0;
  for (const Row& row : in_memory.tree().rows()) {
    const auto same = in_file.tree().find(row.key);
    REQUIRE(same);
    CHECK(in_file.tree().row(*same).share == row.share);
    classes += row.kind == RowKind::kMemoryOperation;
  }
  CHECK(classes == 7);
  CHECK_FALSE(memory_class_of("cudaMemcpyAsync"));  // events with such names would be decoded
}

TEST_CASE("a long recording is painted at once, in outline, and exactly when its segments came") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 700'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(4 << 20);  // all would take about twelve
  const std::uint64_t before = decoded();
  ViewContent in_file(both.file);
  CHECK(decoded() == before);  // shares of rows are known from heads
  ViewContent in_memory(both.memory);
  const std::vector<Level> levels = levels_of(in_file.tree());
  CHECK(levels == levels_of(in_memory.tree()));
  const Viewport whole = Viewport{in_file.bounds(), 700}.on_grid();

  // The outline has the total time of the events, with each part of 1,024 events at its place.
  const Painted outline = in_file.painted(Pane::kOverview, pointers(levels), whole);
  REQUIRE(outline.detail == Painted::Detail::kOutline);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelPixels& coarse = outline.rasterizer->rasterize(*outline.contents[i], whole);
    Nanoseconds busy = 0;
    for (std::int32_t x = 0; x < coarse.width(); ++x) busy += coarse.column(x).busy;
    CHECK(busy == in_memory.contents().content(levels[i]).busy(whole.range));
  }

  // A picture that is cancelled keeps what it has, and continues from there.
  Picture picture = in_file.take_picture();
  picture.want(Pane::kRows, levels, whole);
  std::stop_source stop;
  stop.request_stop();
  picture.make(stop.get_token());
  in_file.put(std::move(picture));
  CHECK(in_file.painted(Pane::kRows, pointers(levels), whole).detail == Painted::Detail::kOutline);
  const Painted exact = painted_exactly(in_file, Pane::kRows, levels, whole);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    LevelRasterizer rasterizer;
    CHECK(same_pixels(rasterizer.rasterize(in_memory.contents().content(levels[i]), whole), exact.rasterizer->rasterize(*exact.contents[i], whole)));
  }
  // When the view moves, what comes into sight is made, and the rest is still there.
  const std::uint64_t painted = decoded();
  const Viewport moved = Viewport{panned(whole.range, whole.range.length() / 7), 700}.on_grid();
  (void)painted_exactly(in_file, Pane::kRows, levels, moved);
  CHECK(decoded() < painted + 11);  // of all the segments

  // Sums of rows are made together with the picture.
  const TimeRange part{whole.range.begin + whole.range.length() / 5, whole.range.end - whole.range.length() / 3};
  const Row& row = in_file.tree().row(in_file.tree().place_of(0)->row);
  CHECK_FALSE(in_file.sum_of(row.key, row.all, part, 1));
  picture = in_file.take_picture();
  picture.want(row.key, row.all, part, 1);
  picture.make({});
  in_file.put(std::move(picture));
  const auto sum = in_file.sum_of(row.key, row.all, part, 1);
  REQUIRE(sum.has_value());
  CHECK(sum->busy == in_memory.contents().content(row.all).busy(part));
  CHECK(sum->count == in_memory.contents().content(row.all).count(part));
  CHECK_FALSE(in_file.sum_of(row.key, row.all, {part.begin, part.end + 1}, 1));
}

TEST_CASE("what lanes cover together is the same with a union and without one") {
  const unsigned seed = GENERATE(range(1u, 6u));
  std::mt19937 random(seed);
  SmallTrace small;
  for (std::uint32_t stream = 1; stream <= 4; ++stream) small.builder.add(small.on_gpu(TrackKind::kKernels, stream), random_events(small, random, 300, 20'000));
  const auto trace = small.builder.snapshot();
  std::vector<BusyLane> lanes;
  for (const Lane& lane : trace->lanes()) lanes.push_back({&lane, nullptr});
  const BusyUnion kept(lanes);
  for (int i = 0; i < 50; ++i) {
    std::vector<Nanoseconds> times(1 + 1 + random() % 60);
    for (Nanoseconds& time : times) time = static_cast<Nanoseconds>(random() % 22'000) - 1'000;
    std::sort(times.begin(), times.end());
    std::vector<Nanoseconds> busy(times.size() - 1), walked(times.size() - 1);
    for (const Lane& lane : trace->lanes())
      for (std::size_t x = 0; x < busy.size(); ++x) busy[x] += lane.busy({times[x], times[x + 1]});
    walked = busy;
    kept.unite(times, busy);
    unite_events(lanes, times, walked);
    REQUIRE(busy == walked);
  }
}

TEST_CASE("what several sets of lanes cover is the same for all at once, one part of the time after another") {
  const unsigned seed = GENERATE(range(1u, 6u));
  std::mt19937 random(seed);
  SmallTrace small;
  for (std::uint32_t stream = 1; stream <= 6; ++stream) small.builder.add(small.on_gpu(TrackKind::kKernels, stream), random_events(small, random, 200, 20'000));
  const auto trace = small.builder.snapshot();
  EventUnions unions;
  Nanoseconds begin = -1'000;
  while (begin < 22'000) {
    std::vector<Nanoseconds> times{begin};
    for (std::size_t i = 0; i < 1 + random() % 40; ++i) times.push_back(times.back() + static_cast<Nanoseconds>(random() % 300));
    begin = times.back();
    std::vector<BusyLane> lanes;
    for (const Lane& lane : trace->lanes())
      if (random() % 4 != 0) lanes.push_back({&lane, nullptr});
    std::vector<std::vector<Nanoseconds>> busy(1 + random() % 4, std::vector<Nanoseconds>(times.size() - 1));
    std::vector<EventUnions::Wanted> sets;
    for (auto& of_set : busy) {
      sets.push_back({{}, of_set});
      for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        if (random() % 2 == 0) sets.back().lanes.push_back(lane);
      for (const std::size_t lane : sets.back().lanes)
        for (std::size_t x = 0; x < of_set.size(); ++x) of_set[x] += lanes[lane].lane->busy({times[x], times[x + 1]});
    }
    unions.unite(lanes, times, sets);
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::size_t x = 0; x + 1 < times.size(); ++x) {
        Nanoseconds expected = 0;  // nanosecond by nanosecond
        for (Nanoseconds t = times[x]; t < times[x + 1]; ++t)
          expected += std::any_of(sets[set].lanes.begin(), sets[set].lanes.end(), [&](std::size_t lane) { return lanes[lane].lane->at(t).has_value(); });
        REQUIRE(busy[set][x] == expected);
      }
  }
}

TEST_CASE("a picture with all borders in rests of lanes reads no event, nor does what lanes cover together that run in turns") {
  constexpr std::uint32_t kStreams = 3;
  constexpr int kTurns = 16;
  constexpr EventIndex kKernels = 8 * SegmentParts::kPart;
  const TemporaryFolder folder;
  write_turns(folder.path() / "log.trace", kStreams, kTurns, kKernels);
  Both both(folder.path() / "log.trace", folder.path());
  const bool knows_ends = GENERATE(true, false);
  if (!knows_ends) {
    auto opened = load_trace(without_ends_of_parts(folder.path() / "compact.trace", folder.path() / "old.trace"), {}, EventPlace::kInFile);
    REQUIRE(opened);
    both.file = *opened;
  }
  const Budget budget(0);
  ViewContent in_memory(both.memory);
  const ViewContent known(both.file);
  ViewContent in_file(ViewContent::Base(known), both.file);
  Level all;
  std::vector<Level> levels;
  for (LaneId lane = 0; lane < both.file->lanes().size(); ++lane) {
    levels.push_back({LaneSource{lane}});
    all.push_back({lane});
  }
  REQUIRE(all.size() == kStreams);
  levels.push_back(all);
  // Each column has a turn of two streams.
  const Nanoseconds turn = kKernels * kKernel + kRest;
  const Viewport viewport = Viewport{{-kRest / 2, -kRest / 2 + turn * kStreams * kTurns}, kStreams * kTurns / 2}.on_grid();
  const SegmentCache::Use before = SegmentCache::of_process().use();
  const Painted exact = painted_exactly(in_file, Pane::kRows, levels, viewport);
  const SegmentCache::Use after = SegmentCache::of_process().use();
  CHECK(after.decoded == before.decoded);
  CHECK((after.in_parts > before.in_parts) == !knows_ends);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    LevelRasterizer rasterizer;
    CHECK(same_pixels(rasterizer.rasterize(in_memory.contents().content(levels[i]), viewport), exact.rasterizer->rasterize(*exact.contents[i], viewport)));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers take memory of their own

namespace {

// Runs a hidden test case with a folder, in a process of its own, whose memory is separate from ours.
void run_elsewhere(const char* test_case, const fs::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("LANESCOPE_TEST_FOLDER", folder.c_str(), 1);
    execl("/proc/self/exe", "test_timeline_core", test_case, static_cast<char*>(nullptr));
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

// The folder that run_elsewhere() names; a folder of its own for a hidden test case that is run by its name.
class FolderElsewhere {
 public:
  [[nodiscard]] fs::path path() const {
    const char* const named = std::getenv("LANESCOPE_TEST_FOLDER");
    return named != nullptr ? fs::path(named) : own_.path();
  }

 private:
  const TemporaryFolder own_;
};

// The largest memory of this process so far, in bytes.
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::uint64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint32_t kManyEvents = 12'000'000;  // these would take more than 240 MiB in memory

}  // namespace

TEST_CASE("a long recording is written", "[.][written-elsewhere]") {
  const FolderElsewhere elsewhere;
  const fs::path folder = elsewhere.path();
  write_long_recording(folder / "log.trace", kManyEvents);
  compacted(folder / "log.trace", folder / "compact.trace", {.memory_bytes = 64 * kMiB});
  fs::remove(folder / "log.trace");
}

TEST_CASE("a long recording is looked at", "[.][looked-at-elsewhere]") {
  const FolderElsewhere elsewhere;
  const fs::path folder = elsewhere.path();
  if (!fs::exists(folder / "compact.trace")) run_elsewhere("[written-elsewhere]", folder);
  SegmentCache::of_process().set_budget(64 * kMiB);
  on_this_thread_alone([&] {  // each further thread would keep some segments
    const auto trace = load_trace(folder / "compact.trace", {}, EventPlace::kInFile);
    REQUIRE(trace);
    ViewContent content(*trace);
    const std::vector<Level> levels = levels_of(content.tree());
    std::mt19937 random(5);
    std::vector<TimeRange> ranges = some_ranges((*trace)->extent(), random, 10);
    for (const TimeRange range : ranges) {
      const Viewport viewport = Viewport{range, 1'600}.on_grid();
      Picture picture = content.take_picture();
      picture.want(Pane::kRows, levels, viewport);
      picture.want(content.tree().row(0).key, levels.front(), range, 1);
      picture.make({});
      content.put(std::move(picture));
      const Painted painted = content.painted(Pane::kRows, pointers(levels), viewport);
      REQUIRE(painted.detail == Painted::Detail::kExact);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        (void)painted.rasterizer->rasterize(*painted.contents[i], viewport);
        for (int hits = 0; hits < 20; ++hits) {
          const PixelHit hit = hit_test(*painted.contents[i], viewport, static_cast<std::int32_t>(random() % 1'600));
          if (hit.event.valid()) (void)correlated_events(**trace, hit.event);
        }
      }
    }
    const EventValues values(*trace, EventScope::whole_trace(**trace));
    const EventStream all = stream_by_start(**trace, values.scope().lanes(), {});
    const auto order = StoredOrder::make(values, all, EventColumn::kDuration, SortDirection::kDescending, {folder, 8 * kMiB});
    REQUIRE((order && *order && (**order).size() == kManyEvents));
    REQUIRE(statistics_by_name(**trace, all).front().count > kManyEvents / 3);
    REQUIRE(find_event(**trace, values.scope().lanes(), {.text = "Memcpy"}, {0, {0, 0}}, SearchDirection::kBackward));
  });
  std::ofstream(folder / "peak") << peak_memory();
}

TEST_CASE("what is held of a long recording to look at it is bounded") {
  const TemporaryFolder folder;
  run_elsewhere("[written-elsewhere]", folder.path());
  run_elsewhere("[looked-at-elsewhere]", folder.path());
  std::uint64_t peak = 0;
  std::ifstream(folder.path() / "peak") >> peak;
  INFO(peak / kMiB << " MiB at most");
  CHECK(peak > 0);
  // The budget, the program itself, and other needs of 60 to 75 MiB until memory is given back; all events would take 280 MiB.
  CHECK(peak < 64 * kMiB + 40 * kMiB + 96 * kMiB);
}

#endif

TEST_CASE("a counter is painted in outline without decoding a value, and exactly from its picture") {
  const TemporaryFolder folder;
  const Both both(fs::path(LANESCOPE_TEST_DATA) / "gpu_metrics.trace", folder.path());
  const Budget budget(256 << 10);
  ViewContent content(both.file);
  REQUIRE(content.is_on_demand());
  CounterId counter = 0;  // that has the most samples
  for (CounterId id = 0; id < both.file->counters().size(); ++id)
    if (both.file->counter_series(id).size() > both.file->counter_series(counter).size()) counter = id;
  const CounterSeries& series = both.file->counter_series(counter);
  REQUIRE(series.demanded() != nullptr);
  const auto values_decoded = [] { return SegmentCache::of_process().use().counters; };
  std::mt19937 random(2);
  for (const TimeRange range : some_ranges(both.file->extent(), random, 6)) {
    const Viewport viewport{range, 700};
    const std::uint64_t before = values_decoded();
    const CounterColumns outline = content.counter_columns(counter, viewport);
    CHECK(values_decoded() == before);
    Picture picture = content.take_picture({});
    picture.want(counter, series, viewport);
    picture.make({});
    content.put(std::move(picture));
    const CounterColumns exact = content.counter_columns(counter, viewport);
    CHECK(exact.detail == CounterSeries::Detail::kExact);
    const std::vector<CounterSummary> known = counter_columns(both.memory->counter_series(counter), viewport);
    std::size_t wrong = 0, uncovered = 0;
    for (std::size_t x = 0; x < known.size(); ++x) {
      const CounterSummary &a = exact.columns[x], &b = known[x], &roughly = outline.columns[x];
      wrong += a.covered != b.covered || (!a.empty() && (a.minimum != b.minimum || a.maximum != b.maximum || std::abs(a.mean() - b.mean()) > 1e-6));
      if (!a.empty()) uncovered += !roughly.empty() && (roughly.minimum > b.minimum || roughly.maximum < b.maximum);
    }
    CHECK(wrong == 0);
    CHECK(uncovered == 0);  // the outline reaches from the least to the most
  }
}
