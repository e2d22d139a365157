// What is drawn and asked of a recording whose segments are decoded when they are needed, with memory for next to nothing, is what it is where
// all events are in memory; and a thread that paints waits for no segment.
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

// For as long as it lives.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) { SegmentCache::of_process().set_budget(bytes); }
  ~Budget() { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
};

std::uint64_t decoded() { return SegmentCache::of_process().use().decoded; }

// One recording, in memory and in its file.
struct Both {
  Both(const fs::path& recording, const fs::path& folder) {
    compacted(recording, folder / "compact.trace");
    memory = loaded(folder / "compact.trace");
    auto opened = load_trace(folder / "compact.trace", {}, EventPlace::kInFile);
    REQUIRE(opened);
    file = *opened;
  }
  std::shared_ptr<const Trace> memory, file;
};

// What every row shows, opened or not; the same where it is asked for twice.
std::vector<Level> levels_of(const RowTree& tree) {
  std::vector<Level> levels;
  for (const Row& row : tree.rows()) {
    if (!row.all.empty()) levels.push_back(row.all);
    levels.insert(levels.end(), row.levels.begin(), row.levels.end());
  }
  std::erase_if(levels,
                [](const Level& level) { return std::any_of(level.begin(), level.end(), [](const LaneSource& source) { return source.is_derived(); }); });
  return levels;
}

std::vector<TimeRange> some_ranges(TimeRange extent, std::mt19937& random, int count) {
  std::vector<TimeRange> ranges{padded(extent, 0.01)};
  for (int i = 0; i < count; ++i) {
    const Nanoseconds length = std::max<Nanoseconds>(200, extent.length() >> (random() % 20));
    const Nanoseconds begin = extent.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 1)) - length / 2;
    ranges.push_back({begin, begin + length});
  }
  return ranges;
}

bool same_pixels(const LevelPixels& a, const LevelPixels& b) {
  if (a.width() != b.width() || a.boxes() != b.boxes()) return false;
  for (std::int32_t x = 0; x < a.width(); ++x)
    if (!(a.column(x) == b.column(x))) return false;
  return true;
}

std::vector<const Level*> pointers(const std::vector<Level>& levels) {
  std::vector<const Level*> all;
  for (const Level& level : levels) all.push_back(&level);
  return all;
}

// As the view does it: what is painted first needs no segment; then another thread makes the picture.
Painted painted_exactly(ViewContent& content, Pane pane, const std::vector<Level>& levels, const Viewport& viewport) {
  const std::uint64_t before = decoded();
  const Painted first = content.painted(pane, pointers(levels), viewport);
  REQUIRE(first.contents.size() == levels.size());
  for (const LevelContent* level : first.contents) (void)first.rasterizer->rasterize(*level, viewport);
  REQUIRE(decoded() == before);
  if (first.detail == Painted::Detail::kExact) return first;
  Picture picture = content.take_picture();
  picture.want(pane, levels, viewport);
  std::jthread([&] { picture.make({}); }).join();
  content.put(std::move(picture));
  const std::uint64_t made = decoded();
  const Painted exact = content.painted(pane, pointers(levels), viewport);
  REQUIRE(exact.detail == Painted::Detail::kExact);
  for (const LevelContent* level : exact.contents) (void)exact.rasterizer->rasterize(*level, viewport);
  REQUIRE(decoded() == made);  // painting waits for nothing
  return exact;
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
  const ViewContent known(both.file);  // rows of what is known without decoding
  ViewContent in_file(ViewContent::Base(known), both.file);
  REQUIRE(in_file.is_on_demand());
  REQUIRE_FALSE(in_memory.is_on_demand());

  // The same rows with the same shares, but for stack charts, and for ranges on GPUs, of which it is said why they are left out.
  for (const Row& row : in_file.tree().rows()) {
    const auto same = in_memory.tree().find(row.key);
    REQUIRE(same);
    if (row.kind == RowKind::kGpuRanges) {
      CHECK(row.label.english() == "NVTX: needs all events in memory");
      CHECK((row.all.empty() && row.children.empty()));
      continue;
    }
    CHECK(in_memory.tree().row(*same).share == row.share);
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

TEST_CASE("events, their neighbours, searches, orders and sums are the same from the file") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const Both both(recording, folder.path());
  if (both.memory->event_count() == 0) return;
  const Budget budget(256 << 10);
  const std::uint64_t before = decoded();
  const EventValues in_memory(both.memory, EventScope::whole_trace(*both.memory)), in_file(both.file, EventScope::whole_trace(*both.file));
  const std::vector<EventRef> all = gather_events(*both.memory, in_memory.scope().lanes(), {});
  REQUIRE(gather_events(*both.file, in_file.scope().lanes(), {}) == all);
  for (const EventColumn column : {EventColumn::kStart, EventColumn::kDuration, EventColumn::kName, EventColumn::kGapBefore, EventColumn::kQueueTime})
    CHECK(sort_events(in_memory, all, column, SortDirection::kDescending) == sort_events(in_file, all, column, SortDirection::kDescending));
  for (const char* text : {"cuda", "e", "Sync"})
    CHECK(gather_events(*both.memory, in_memory.scope().lanes(), {.text = text}) == gather_events(*both.file, in_file.scope().lanes(), {.text = text}));
  std::mt19937 random(3);
  for (const TimeRange range : some_ranges(both.memory->extent(), random, 2)) {
    EventFilter filter;
    filter.window = range;
    const std::vector<EventRef> inside = gather_events(*both.file, in_file.scope().lanes(), filter);
    REQUIRE(inside == gather_events(*both.memory, in_memory.scope().lanes(), filter));
    const auto a = statistics_by_name(*both.memory, inside), b = statistics_by_name(*both.file, inside);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      CHECK((a[i].name == b[i].name && a[i].count == b[i].count && a[i].total == b[i].total && a[i].median == b[i].median && a[i].longest == b[i].longest));
  }
  for (int i = 0; i < 25; ++i) {
    const EventRef event = all[random() % all.size()];
    REQUIRE(both.memory->event(event) == both.file->event(event));
    CHECK(both.memory->launch_of(event) == both.file->launch_of(event));
    CHECK(correlated_events(*both.memory, event) == correlated_events(*both.file, event));
    for (int which = 0; which <= static_cast<int>(Neighbour::kNextOfSameName); ++which)
      CHECK(neighbour(*both.memory, event, static_cast<Neighbour>(which)) == neighbour(*both.file, event, static_cast<Neighbour>(which)));
  }
  CHECK(decoded() > before);
}

TEST_CASE("lists too long to be held are ordered, searched and summed as those in memory") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const Both both(recording, folder.path());
  if (both.memory->event_count() == 0) return;
  // Who goes by start from lane to lane has a segment of each decoded anew where memory holds fewer: long recordings get some.
  const Budget budget(both.memory->event_count() <= 10'000 ? 64 << 10 : 4 << 20);
  const EventValues in_memory(both.memory, EventScope::whole_trace(*both.memory)), in_file(both.file, EventScope::whole_trace(*both.file));
  const std::vector<LaneId>& lanes = in_file.scope().lanes();
  const std::vector<EventRef> all = gather_by_start(*both.memory, lanes, {});
  const EventStream stream = stream_by_start(*both.file, lanes, {});
  // All columns of short recordings, of others the longest events.
  constexpr std::size_t kShort = 3'000;
  const auto every_column = all_event_columns();
  const std::vector<EventColumn> columns =
      all.size() <= kShort ? std::vector<EventColumn>(every_column.begin(), every_column.end()) : std::vector{EventColumn::kDuration};
  for (const EventColumn column : columns)
    for (const SortDirection direction : {SortDirection::kAscending, SortDirection::kDescending}) {
      if (all.size() > kShort && direction == SortDirection::kAscending) continue;
      std::vector<std::vector<EventRef>> first;
      const OrderListener listener{.first_count = 100, .first = [&](std::vector<EventRef> events) { first.push_back(std::move(events)); }, .progress = {}};
      const auto order = StoredOrder::make(in_file, stream, column, direction, {folder.path(), 100'000}, listener);
      REQUIRE((order && *order && (**order).size() == all.size()));
      std::vector<EventRef> read(all.size());
      REQUIRE((**order).read(0, read));
      CHECK(read == sort_events(in_memory, all, column, direction));
      REQUIRE(first.size() == 1);
      CHECK(first[0] == std::vector<EventRef>(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(100, read.size()))));
    }

  const auto same_statistics = [](const NameStatistics& a, const NameStatistics& b) {
    return a.kind == b.kind && a.name == b.name && a.count == b.count && a.total == b.total && a.median == b.median && a.percentile_95 == b.percentile_95 &&
           a.minimum == b.minimum && a.maximum == b.maximum && a.share == b.share && a.longest == b.longest;
  };
  for (const Grouping grouping : {Grouping::kNames, Grouping::kFamilies}) {
    if (all.size() > kShort && grouping == Grouping::kFamilies) continue;
    const auto expected = statistics_by_name(*both.memory, all, {}, grouping);
    const auto streamed = statistics_by_name(*both.file, stream, {}, grouping);
    CHECK(std::equal(expected.begin(), expected.end(), streamed.begin(), streamed.end(), same_statistics));
    const NameStatistics& most = expected.front();
    const auto named = events_named(*both.memory, all, most.kind, most.name, grouping);
    CHECK(duration_histogram(*both.file, events_named(*both.file, stream, most.kind, most.name, grouping), 20).counts ==
          duration_histogram(*both.memory, named, 20).counts);
  }

  std::mt19937 random(11);
  for (const TimeRange range : some_ranges(both.memory->extent(), random, 3)) {
    EventFilter filter;
    filter.window = range;
    std::map<std::pair<EventKind, NameId>, NameStatistics> expected;
    for (const NameStatistics& each : statistics_by_name(*both.memory, gather_events(*both.memory, lanes, filter))) expected[{each.kind, each.name}] = each;
    const std::vector<NameSum> sums = sums_by_name(*both.file, lanes, range);
    REQUIRE(sums.size() == expected.size());
    CHECK(std::is_sorted(sums.begin(), sums.end(), [](const NameSum& a, const NameSum& b) { return a.total > b.total; }));
    for (const NameSum& sum : sums) {
      const NameStatistics& exact = expected.at({sum.kind, sum.name});
      CHECK((sum.count == exact.count && sum.total == exact.total && sum.minimum == exact.minimum && sum.maximum == exact.maximum));
    }
  }

  const EventFilter by_name{.text = "e"};
  const std::vector<EventRef> found = gather_by_start(*both.memory, lanes, by_name);
  for (int i = 0; i < 4 && !found.empty(); ++i) {
    const std::size_t at = random() % found.size();
    const EventPosition from{both.memory->event(found[at]).start, found[at]};
    CHECK(find_event(*both.file, lanes, by_name, from, SearchDirection::kForward) == found[(at + 1) % found.size()]);
    CHECK(find_event(*both.file, lanes, by_name, from, SearchDirection::kBackward) == found[(at + found.size() - 1) % found.size()]);
  }
}

TEST_CASE("the longest events are found where heads say that they are") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 1'500'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(64 << 20);
  const EventScope all = EventScope::whole_trace(*both.file);
  const std::vector<EventRef> order =
      sort_events({both.memory, all}, gather_by_start(*both.memory, all.lanes(), {}), EventColumn::kDuration, SortDirection::kDescending);
  const std::uint64_t before = decoded();
  const auto first = longest_events(*both.file, all.lanes(), {}, 20);
  CHECK(decoded() > before);
  REQUIRE(first);
  CHECK(*first == std::vector<EventRef>(order.begin(), order.begin() + 20));
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(longest_events(*both.file, all.lanes(), {}, 20, stop.get_token()));
}

TEST_CASE("the longest events are found among very many rows of few events, and of more names than heads have") {
  // 700 streams with three kernels each, of which heads know no names, and one with 40 names; each long one is known.
  constexpr std::uint32_t kStreams = 700, kLong = 30;
  constexpr int kMany = 140'000;
  const TemporaryFolder folder;
  {
    TraceBuilder builder;
    builder.provenance().finished = true;
    const ProcessId process = builder.process_of_instance(1);
    builder.process(process).pid = 1;
    const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
    builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
    const auto key = [&](std::uint32_t stream) {
      return TrackKey{.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = stream};
    };
    const NameId name = builder.intern("short");
    for (std::uint32_t stream = 0; stream < kStreams; ++stream)
      builder.add(key(stream), {{1'000, 10 + stream, name, 1, 0}, {50'000, 20, name, 1, 0}, {90'000, 30, name, 1, 0}});
    std::vector<Event> many;
    for (int i = 0; i < kMany; ++i) {
      const bool is_long = i >= kMany - 1'000 && i < kMany - 1'000 + static_cast<int>(kLong);
      many.push_back({Nanoseconds{i} * 10'000, is_long ? 9'000 - i % 100 : 5'000, builder.intern("kernel " + std::to_string(i % 40)), 1, 0});
    }
    builder.add(key(kStreams), std::move(many));
    REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  }
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(64 << 20);
  const EventScope all = EventScope::whole_trace(*both.file);
  const std::vector<EventRef> order =
      sort_events({both.memory, all}, gather_by_start(*both.memory, all.lanes(), {}), EventColumn::kDuration, SortDirection::kDescending);
  const std::uint64_t before = decoded();
  const auto first = longest_events(*both.file, all.lanes(), {}, kLong);
  REQUIRE(first);
  CHECK(*first == std::vector<EventRef>(order.begin(), order.begin() + kLong));
  CHECK(decoded() - before == 1);  // the last segment of the long one: its parts say how long its events are
}

// Streams whose kernels run beside each other, with rests in which one runs alone, or none does.
void write_many_streams(const fs::path& path, std::uint32_t streams, int events) {
  TraceBuilder builder;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 1;
  const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
  builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
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
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = stream}, std::move(all));
  }
  REQUIRE(export_trace_file(*builder.snapshot(), path, Overwrite::kAllow));
}

TEST_CASE("a picture decodes a segment once for its lane and times of it for what lanes cover together, where memory holds few of the lanes") {
  constexpr std::uint32_t kStreams = 24;
  constexpr int kEvents = 150'000;
  constexpr std::uint64_t kSegments = std::uint64_t{kStreams} * ((kEvents + LaneSegment::kCapacity - 1) / LaneSegment::kCapacity);
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", kStreams, kEvents);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(8 << 20);  // six segments
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
  REQUIRE(all.size() == kStreams);
  const Nanoseconds middle = both.file->extent().end / 2;
  for (const TimeRange range : {both.file->extent(), TimeRange{middle - 30'000'000, middle + 30'000'000}, TimeRange{middle, middle + 40'000}}) {
    const Viewport viewport = Viewport{padded(range, 0.01), 1'900}.on_grid();
    const SegmentCache::Use before = SegmentCache::of_process().use();
    const Painted exact = painted_exactly(in_file, Pane::kRows, levels, viewport);
    CHECK(decoded() - before.decoded <= kSegments + kSegments / 6);
    CHECK(SegmentCache::of_process().use().times - before.times <= 2 * kSegments);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      LevelRasterizer rasterizer;
      CHECK(same_pixels(rasterizer.rasterize(in_memory.contents().content(levels[i]), viewport), exact.rasterizer->rasterize(*exact.contents[i], viewport)));
    }

    // What rows have of all of it is drawn already; of a part of it, it is summed row by row.
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
  CHECK(drawn >= 100);  // all of whole recordings
  CHECK_FALSE(in_file.sum_of("beyond", levels.front(), {in_file.bounds().begin - in_file.bounds().length(), extent.end}, 1));
}

TEST_CASE("an overview of the time that rows show decodes nothing of their lanes again") {
  const TemporaryFolder folder;
  write_many_streams(folder.path() / "log.trace", 12, 100'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(4 << 20);  // of 24 segments that all would take
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
  Picture picture = in_file.take_picture({Pane::kRows});
  picture.want(Pane::kRows, rows, whole);
  picture.foresee_overview({all});
  std::jthread([&] { picture.make({}); }).join();
  in_file.put(std::move(picture));
  CHECK(in_file.painted(Pane::kRows, pointers(rows), whole).detail == Painted::Detail::kExact);
  const std::uint64_t before = decoded();
  const Painted overview = painted_exactly(in_file, Pane::kOverview, {all}, whole);
  CHECK(decoded() - before <= 2 + 2);  // of the lane that no row shows, and some ahead of it
  LevelRasterizer expected;
  CHECK(same_pixels(expected.rasterize(in_memory.contents().content(all), whole), overview.rasterizer->rasterize(*overview.contents.front(), whole)));
}

// A stream of several lanes, another of kernels and copies, and calls within calls; with long rests at first, some of which another lane fills.
void write_resting_recording(const fs::path& path, int events) {
  TraceBuilder builder;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 1;
  const ThreadId thread = builder.thread(process, 7);
  const GpuId gpu = builder.gpu({.name = "GPU", .uuid = "1"});
  builder.set_device(process, 0, {.name = "GPU", .uuid = "1"});
  const NameId name = builder.intern("work");
  std::mt19937 random(5);
  const auto add = [&](TrackKind kind, std::uint32_t stream, int count, Nanoseconds begin, auto duration_of, auto rest_of) {
    TrackKey key{kind, process};
    if (kind == TrackKind::kCudaApi) key.thread = thread;
    if (is_gpu_work(kind)) {
      key.gpu = gpu;
      key.context = 1;
      key.stream = stream;
    }
    std::vector<Event> all;
    Nanoseconds time = begin;
    for (int i = 0; i < count; ++i) {
      const Nanoseconds duration = duration_of(i);
      all.push_back({time, duration, name, 0, 0});
      time += duration + rest_of(i);
    }
    builder.add(key, std::move(all));
  };
  const auto some = [&](std::uint32_t most) { return [&random, most](int) { return static_cast<Nanoseconds>(random() % most); }; };
  const auto long_at_first = [&](int i) {
    return static_cast<Nanoseconds>(i < 60'000 && random() % 5'000 == 0 ? 1'000'000 + random() % 1'000 : random() % 900);
  };
  add(TrackKind::kKernels, 7, events, 1'000, some(2'000), long_at_first);
  add(TrackKind::kKernels, 7, events / 2, 1'500, some(3'000), long_at_first);
  add(TrackKind::kMemory, 7, events / 50, 500, some(100'000), some(100'000));
  add(TrackKind::kKernels, 8, events, 0, some(20), long_at_first);
  add(TrackKind::kMemory, 8, 40, 3'000'000, some(1'000), some(9'000'000));
  add(TrackKind::kCudaApi, 0, events / 3, 100, some(9'000), long_at_first);
  add(TrackKind::kCudaApi, 0, events / 3, 150, some(30), some(8'000));
  REQUIRE(export_trace_file(*builder.snapshot(), path, Overwrite::kAllow));
}

TEST_CASE("events after the longest gaps are found where heads say that lanes rest") {
  const TemporaryFolder folder;
  write_resting_recording(folder.path() / "log.trace", 400'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(256 << 10);
  const EventScope all = EventScope::whole_trace(*both.file);
  const EventValues in_memory(both.memory, all), in_file(both.file, all);
  std::vector<EventFilter> filters(3);
  filters[1].minimum_duration = 1'500;
  filters[2].window = TimeRange{both.file->extent().end / 3, both.file->extent().end / 2};
  for (const EventFilter& filter : filters) {
    const std::vector<EventRef> listed = gather_by_start(*both.memory, all.lanes(), filter);
    const std::vector<EventRef> order = sort_events(in_memory, listed, EventColumn::kGapBefore, SortDirection::kDescending);
    for (const std::size_t count : {1, 20, 500}) {
      const auto first = events_after_longest_gaps(in_file, all.lanes(), filter, count);
      REQUIRE(first);
      CHECK(*first == std::vector<EventRef>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)));
    }
    std::vector<EventRef> some(listed.begin() + static_cast<std::ptrdiff_t>(listed.size() / 3),
                               listed.begin() + static_cast<std::ptrdiff_t>(listed.size() / 3 + 50'000));
    CHECK(sort_events(in_file, some, EventColumn::kGapBefore, SortDirection::kDescending) ==
          sort_events(in_memory, some, EventColumn::kGapBefore, SortDirection::kDescending));
  }
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(events_after_longest_gaps(in_file, all.lanes(), {}, 20, stop.get_token()));
  CHECK_FALSE(events_after_longest_gaps(in_memory, all.lanes(), {}, 20));
}

TEST_CASE("the longest gaps of what programs did are those that a look at each event finds, in all rows at once and in each") {
  const TemporaryFolder folder;
  const Budget budget(128 << 10);
  for (const fs::directory_entry& recording : fs::directory_iterator(data_file(""))) {
    if (recording.path().extension() != ".trace") continue;
    INFO(recording.path());
    const Both both(recording.path(), folder.path());
    std::vector<EventScope> scopes{EventScope::whole_trace(*both.file)};
    const RowTree tree(*both.memory);
    for (const Row& row : tree.rows()) {
      std::vector<LaneId> lanes;
      for (const LaneSource& source : row.all)
        if (source.whole()) lanes.push_back(source.lane);
      if (lanes.size() > 1) scopes.push_back(EventScope::row(lanes));
    }
    for (const EventScope& scope : scopes) {
      const EventValues in_memory(both.memory, scope), in_file(both.file, scope);
      std::vector<EventRef> order =
          sort_events(in_memory, gather_by_start(*both.memory, scope.lanes(), {}), EventColumn::kGapBefore, SortDirection::kDescending);
      std::erase_if(order, [&](EventRef event) { return !in_memory.number(event, EventColumn::kGapBefore); });
      for (const std::size_t count : {std::size_t{1}, std::size_t{20}, order.size() / 2, order.size()}) {
        if (count == 0 || count > order.size()) continue;
        const auto first = events_after_longest_gaps(in_file, scope.lanes(), {}, count);
        REQUIRE(first);
        CHECK(*first == std::vector<EventRef>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)));
      }
      CHECK_FALSE(events_after_longest_gaps(in_file, scope.lanes(), {}, order.size() + 1));
    }
  }
}

TEST_CASE("sums of a range take whole segments from their heads") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 700'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(64 << 20);
  const EventScope all = EventScope::whole_trace(*both.file);
  const TimeRange extent = both.file->extent();
  const TimeRange range{extent.begin + extent.length() / 20, extent.end - extent.length() / 20};
  const std::uint64_t before = decoded();
  const std::vector<NameSum> sums = sums_by_name(*both.file, all.lanes(), range);
  CHECK(decoded() <= before + 2 * all.lanes().size() + 4);  // those that the range cuts, and some ahead of them; of eleven in one lane
  EventFilter filter;
  filter.window = range;
  const auto expected = statistics_by_name(*both.memory, gather_events(*both.memory, all.lanes(), filter));
  REQUIRE(sums.size() == expected.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    CHECK((sums[i].name == expected[i].name && sums[i].count == expected[i].count && sums[i].total == expected[i].total));
}

TEST_CASE("a long recording is painted at once, in outline, and exactly when its segments came") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 700'000);
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(4 << 20);  // of some twelve that all would take
  const std::uint64_t before = decoded();
  ViewContent in_file(both.file);
  CHECK(decoded() == before);  // shares of rows are known from heads
  ViewContent in_memory(both.memory);
  const std::vector<Level> levels = levels_of(in_file.tree());
  CHECK(levels == levels_of(in_memory.tree()));
  const Viewport whole = Viewport{in_file.bounds(), 700}.on_grid();

  // The outline has all of the time that the events take, each part of 1,024 events where it lies.
  const Painted outline = in_file.painted(Pane::kOverview, pointers(levels), whole);
  REQUIRE(outline.detail == Painted::Detail::kOutline);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelPixels& coarse = outline.rasterizer->rasterize(*outline.contents[i], whole);
    Nanoseconds busy = 0;
    for (std::int32_t x = 0; x < coarse.width(); ++x) busy += coarse.column(x).busy;
    CHECK(busy == in_memory.contents().content(levels[i]).busy(whole.range));
  }

  // A picture that is called off keeps what it has, and goes on from there.
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
  // What comes into sight when the view moves is made, and the rest is still there.
  const std::uint64_t painted = decoded();
  const Viewport moved = Viewport{panned(whole.range, whole.range.length() / 7), 700}.on_grid();
  (void)painted_exactly(in_file, Pane::kRows, levels, moved);
  CHECK(decoded() < painted + 11);  // of all segments

  // Sums of rows come with the picture.
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
    kept.unite(times, busy);
    unite_events(lanes, times, walked);
    REQUIRE(busy == walked);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take memory of their own

namespace {

// Runs a hidden test case in a process of its own, whose memory is not counted with ours, on a folder.
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

// The most memory that this process had, in bytes.
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
constexpr std::uint32_t kManyEvents = 12'000'000;  // which would take more than 240 MiB in memory

}  // namespace

TEST_CASE("a long recording is written", "[.][written-elsewhere]") {
  const fs::path folder = std::getenv("LANESCOPE_TEST_FOLDER");
  write_long_recording(folder / "log.trace", kManyEvents);
  compacted(folder / "log.trace", folder / "compact.trace", {.memory_bytes = 64 * kMiB});
  fs::remove(folder / "log.trace");
}

TEST_CASE("a long recording is looked at", "[.][looked-at-elsewhere]") {
  const fs::path folder = std::getenv("LANESCOPE_TEST_FOLDER");
  SegmentCache::of_process().set_budget(64 * kMiB);
  on_this_thread_alone([&] {  // each further one would keep some segments
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
  // The budget, the program itself, and what else it needs, which is 60 to 75 MiB by when memory is given back; all events would be 280 MiB.
  CHECK(peak < 64 * kMiB + 40 * kMiB + 96 * kMiB);
}

#endif
