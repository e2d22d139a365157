// Questions about the events of a recording whose segments are decoded on demand have the same answers as with all events in memory.
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

// A stream with several lanes, another with kernels and copies, and calls within calls; at first with long rests, some of which are filled by another lane.
void write_resting_recording(const fs::path& path, int events) {
  SmallTrace trace;
  TraceBuilder& builder = trace.builder;
  builder.provenance().finished = true;
  const NameId name = builder.intern("work");
  std::mt19937 random(5);
  const auto add = [&](TrackKind kind, std::uint32_t stream, int count, Nanoseconds begin, auto duration_of, auto rest_of) {
    std::vector<Event> all;
    Nanoseconds time = begin;
    for (int i = 0; i < count; ++i) {
      const Nanoseconds duration = duration_of(i);
      all.push_back({time, duration, name, 0, 0});
      time += duration + rest_of(i);
    }
    builder.add(is_gpu_work(kind) ? trace.on_gpu(kind, stream) : trace.on_thread(kind), std::move(all));
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

}  // namespace

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
  // Reading by start goes from lane to lane and decodes a segment of each again if memory holds fewer segments, so long recordings get some memory.
  const Budget budget(both.memory->event_count() <= 10'000 ? 64 << 10 : 4 << 20);
  const EventValues in_memory(both.memory, EventScope::whole_trace(*both.memory)), in_file(both.file, EventScope::whole_trace(*both.file));
  const std::vector<LaneId>& lanes = in_file.scope().lanes();
  const std::vector<EventRef> all = gather_by_start(*both.memory, lanes, {});
  const EventStream stream = stream_by_start(*both.file, lanes, {});
  // All columns of short recordings; of other recordings, the longest events.
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
  // 700 streams with three kernels each, for which heads have no names, and one stream with 40 names; the longest events of each are known.
  constexpr std::uint32_t kStreams = 700, kLong = 30;
  constexpr int kMany = 140'000;
  const TemporaryFolder folder;
  {
    SmallTrace trace;
    TraceBuilder& builder = trace.builder;
    builder.provenance().finished = true;
    const auto key = [&](std::uint32_t stream) { return trace.on_gpu(TrackKind::kKernels, stream); };
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
  CHECK(decoded() - before == 1);  // the last segment of the long lane; its parts tell how long its events are
}

TEST_CASE("events after the longest gaps are found where heads say that lanes rest", "[long]") {
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

TEST_CASE("of equal gaps, the first are found without the segments of later ones; one gap ends where a segment ends and the next begins") {
  constexpr EventIndex kEvents = 6 * LaneSegment::kCapacity, kApart = 5'000;
  TraceBuilder builder;
  builder.provenance().finished = true;
  const ProcessId process = builder.process_of_instance(1);
  std::vector<Event> events;
  Nanoseconds time = 0;
  for (EventIndex i = 0; i < kEvents; ++i) {
    if (i == LaneSegment::kCapacity - 1) time += 2'000;  // starts with the next one
    const Nanoseconds duration = i == LaneSegment::kCapacity - 1 ? 0 : 10;
    events.push_back({time, duration, builder.intern("work"), 0, 0});
    time += duration + (i % kApart == 0 ? 1'000 : 0);
  }
  builder.add({TrackKind::kCudaApi, process, builder.thread(process, 7)}, std::move(events));
  const TemporaryFolder folder;
  REQUIRE(export_trace_file(*builder.snapshot(), folder.path() / "log.trace", Overwrite::kAllow));
  const Both both(folder.path() / "log.trace", folder.path());
  const Budget budget(256 << 10);
  const EventScope all = EventScope::whole_trace(*both.file);
  const EventValues in_memory(both.memory, all), in_file(both.file, all);
  const std::vector<EventRef> order =
      sort_events(in_memory, gather_by_start(*both.memory, all.lanes(), {}), EventColumn::kGapBefore, SortDirection::kDescending);
  CHECK(order.front().index == LaneSegment::kCapacity - 1);
  CHECK(order[1].index == 1);
  const auto searched = [] { return SegmentCache::of_process().use().in_parts; };
  const std::uint64_t before = searched();
  const auto first = events_after_longest_gaps(in_file, all.lanes(), {}, 10);
  REQUIRE(first);
  CHECK(*first == std::vector<EventRef>(order.begin(), order.begin() + 10));
  CHECK(searched() - before <= 2);  // of six segments
}

TEST_CASE("the longest gaps of what programs did are those that a look at each event finds, in all rows at once and in each", "[long]") {
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
  CHECK(decoded() <= before + 2 * all.lanes().size() + 4);  // the segments that the range cuts, and some that are read ahead, of eleven in one lane
  EventFilter filter;
  filter.window = range;
  const auto expected = statistics_by_name(*both.memory, gather_events(*both.memory, all.lanes(), filter));
  REQUIRE(sums.size() == expected.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    CHECK((sums[i].name == expected[i].name && sums[i].count == expected[i].count && sums[i].total == expected[i].total));
}
