#include <map>
#include <random>

#include "support/catch.h"
#include "timeline/core/level_pixels.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::random_events;
using lanescope::test::SmallTrace;

namespace {

// Streams of random kernels on one GPU, and a level that combines them all.
struct Streams {
  Streams(unsigned seed, std::size_t streams, std::size_t events, Nanoseconds span) {
    std::mt19937 random(seed);
    SmallTrace small;
    for (std::uint32_t stream = 1; stream <= streams; ++stream) {
      all.push_back(random_events(small, random, events, span));
      small.builder.add(small.on_gpu(TrackKind::kKernels, stream), all.back());
    }
    trace = small.builder.snapshot();
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) level.push_back(LaneSource{lane});
  }
  std::vector<std::vector<Event>> all;
  std::shared_ptr<const Trace> trace;
  Level level;
};

bool covered(const std::vector<Event>& events, Nanoseconds time) {
  return std::any_of(events.begin(), events.end(), [time](const Event& event) { return event.start <= time && time < event.end(); });
}

// The oracle: slow, obvious.
Nanoseconds covered_one_by_one(const Streams& streams, TimeRange window) {
  Nanoseconds sum = 0;
  for (Nanoseconds time = window.begin; time < window.end; ++time)
    sum += std::any_of(streams.all.begin(), streams.all.end(), [time](const auto& events) { return covered(events, time); });
  return sum;
}

std::uint64_t starting_in(const Streams& streams, TimeRange window) {
  std::uint64_t count = 0;
  for (const auto& events : streams.all)
    for (const Event& event : events) count += window.contains(event.start);
  return count;
}

std::map<NameId, Nanoseconds> time_by_name(const Streams& streams, TimeRange window) {
  std::map<NameId, Nanoseconds> time;
  for (const auto& events : streams.all)
    for (const Event& event : events) time[event.name] += window.intersected({event.start, event.end()}).length();
  return time;
}

}  // namespace

TEST_CASE("every column equals the sum over its nanoseconds") {
  const unsigned seed = GENERATE(range(1u, 9u));
  const std::size_t count = GENERATE(1, 2, 5);
  const Streams streams(seed, count, 120, 3'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  for (const TimeRange range : {TimeRange{0, 3'000}, TimeRange{-200, 3'500}, TimeRange{701, 1'113}, TimeRange{900, 1'000}})
    for (const std::int32_t width : {1, 13, 100, 640}) {
      const Viewport viewport{range, width};
      const LevelPixels& pixels = rasterizer.rasterize(content, viewport);
      for (std::int32_t x = 0; x < width; ++x) {
        const TimeRange window{viewport.time_at(x), viewport.time_at(std::int64_t{x} + 1)};
        const Column& column = pixels.columns[static_cast<std::size_t>(x)];
        REQUIRE(column.busy == covered_one_by_one(streams, window));
        REQUIRE(column.count == starting_in(streams, window));
      }
    }
}

TEST_CASE("columns add up to the busy time of the window") {
  const Streams streams(GENERATE(11u, 12u, 13u), 3, 5'000, 1'000'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  for (const TimeRange range : {TimeRange{0, 1'000'000}, TimeRange{12'345, 678'901}}) {
    const LevelPixels& pixels = rasterizer.rasterize(content, {range, 1'917});
    Nanoseconds busy = 0;
    std::uint64_t count = 0;
    for (const Column& column : pixels.columns) {
      busy += column.busy;
      count += column.count;
    }
    REQUIRE(busy == content.busy(range));
    REQUIRE(count == content.count(range));
    REQUIRE(busy <= range.length());
  }
}

TEST_CASE("a name with more than half of a column's time is its dominant one") {
  const Streams streams(GENERATE(range(21u, 29u)), 1, 400, 20'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  const Viewport viewport{{0, 20'000}, 61};
  const LevelPixels& pixels = rasterizer.rasterize(content, viewport);
  for (std::int32_t x = 0; x < viewport.width; ++x) {
    const Column& column = pixels.columns[static_cast<std::size_t>(x)];
    for (const auto& [name, time] : time_by_name(streams, {viewport.time_at(x), viewport.time_at(std::int64_t{x} + 1)})) {
      if (2 * time > column.total) REQUIRE(column.dominant == name);
      if (column.dominant == name) REQUIRE(2 * time <= column.weight + column.total);
    }
  }
}

TEST_CASE("the longest event of a column is found") {
  const Streams streams(31, 2, 300, 30'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  const Viewport viewport{{0, 30'000}, 40};
  const LevelPixels& pixels = rasterizer.rasterize(content, viewport);
  for (std::int32_t x = 0; x < viewport.width; ++x) {
    const TimeRange window{viewport.time_at(x), viewport.time_at(std::int64_t{x} + 1)};
    Nanoseconds longest = -1;
    for (const auto& events : streams.all)
      for (const Event& event : events)
        if (window.contains(event.start) || (event.start < window.begin && event.end() > window.begin))
          longest = std::max(longest, event.duration);
    const Column& column = pixels.columns[static_cast<std::size_t>(x)];
    REQUIRE(column.longest_duration == longest);
    if (longest >= 0) REQUIRE(streams.trace->event(column.longest).duration == longest);
  }
}

TEST_CASE("every event that is wide enough has its box, at its exact place") {
  const Streams streams(GENERATE(41u, 42u), 1, 300, 6'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  const Viewport viewport{{1'003, 4'777}, 500};
  const LevelPixels& pixels = rasterizer.rasterize(content, viewport);
  std::size_t expected = 0;
  for (const Event& event : streams.all.front()) {
    const double left = viewport.x_at(event.start);
    const double right = viewport.x_at(event.end());
    const bool visible = event.end() > viewport.range.begin && event.start < viewport.range.end;
    if (!visible || right - left < kNarrowestBox) continue;
    ++expected;
    const auto box = std::find_if(pixels.boxes.begin(), pixels.boxes.end(), [left](const Box& each) { return each.left == left; });
    REQUIRE(box != pixels.boxes.end());
    REQUIRE(box->right == right);
    REQUIRE(streams.trace->event(box->event) == event);
  }
  REQUIRE(pixels.boxes.size() == expected);
}

TEST_CASE("panning by whole pixels moves the columns and changes none") {
  const Streams streams(51, 2, 2'000, 1'000'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  const Viewport viewport{{100'000, 300'000}, 1'000};  // 200 ns a pixel
  const LevelPixels before = rasterizer.rasterize(content, viewport);
  const LevelPixels& after = rasterizer.rasterize(content, {panned(viewport.range, 37 * 200), 1'000});
  for (std::size_t x = 37; x < 1'000; ++x) REQUIRE(before.columns[x].busy == after.columns[x - 37].busy);
}

TEST_CASE("the union of lanes is busy when at least one of them is") {
  const Streams streams(61, 4, 100, 2'000);
  const LevelContent content(streams.trace, streams.level);
  for (Nanoseconds begin = 0; begin < 2'000; begin += 61)
    for (Nanoseconds end = begin; end < 2'200; end += 173) REQUIRE(content.busy({begin, end}) == covered_one_by_one(streams, {begin, end}));
  const IntervalUnion& merged = content.merged();
  for (std::size_t index = 1; index < merged.size(); ++index) REQUIRE(merged.start(index) > merged.end(index - 1));
}

TEST_CASE("the union of lanes is exact where intervals are dense and where hours lie between them") {
  constexpr Nanoseconds kDense = 20'000, kAll = 40'000;
  constexpr Nanoseconds kHour = 3'600'000'000'000;
  const auto start_of = [](Nanoseconds i) { return i < kDense ? i * 1'000 : (i - kDense + 1) * kHour; };
  SmallTrace small;
  for (const std::uint32_t stream : {1u, 2u}) {  // the second lane's events begin within the first one's, and end 200 ns later
    std::vector<Event> events;
    for (Nanoseconds i = 0; i < kAll; ++i) {
      const Nanoseconds start = start_of(i) + (stream == 2 ? 200 : 0);
      events.push_back(small.event(start, start + 300, "gemm"));
    }
    small.builder.add(small.on_gpu(TrackKind::kKernels, stream), events);
  }
  const LevelContent content(small.builder.snapshot(), {LaneSource{0}, LaneSource{1}});
  REQUIRE(content.merged().size() == kAll);
  std::vector<Nanoseconds> times, expected;
  for (Nanoseconds i = 0; i < kAll; i += 7) {
    REQUIRE(content.merged().start(static_cast<std::size_t>(i)) == start_of(i));
    REQUIRE(content.merged().end(static_cast<std::size_t>(i)) == start_of(i) + 500);
    for (const Nanoseconds inside : {0, 123, 500, 700}) {
      times.push_back(start_of(i) + inside);
      expected.push_back(500 * i + std::min<Nanoseconds>(inside, 500));
    }
  }
  std::vector<Nanoseconds> busy(times.size());
  content.merged().busy_before(times, busy);
  REQUIRE(busy == expected);
  for (std::size_t at = 0; at < times.size(); ++at) REQUIRE(content.merged().busy_before(times[at]) == expected[at]);
}

TEST_CASE("a level that takes some events of a lane refers to the trace's own events") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kMemory),
                    {small.copy(0, 10, CopyKind::kHostToDevice, 64), small.copy(20, 50, CopyKind::kDeviceToHost, 32),
                     small.copy(60, 70, CopyKind::kHostToDevice, 16)});
  const auto trace = small.builder.snapshot();
  const LevelContent content(trace, {LaneSource{.lane = 0, .memory = MemoryClass::kHostToDevice}});
  REQUIRE(content.busy({0, 100}) == 20);
  REQUIRE(content.count({0, 100}) == 2);
  REQUIRE(hit_test(content, {{0, 100}, 100}, 65).event == EventRef{0, 2});
  REQUIRE_FALSE(hit_test(content, {{0, 100}, 100}, 30).event.valid());
}

TEST_CASE("a pixel with one event names it, and one with many tells their sum") {
  SmallTrace small;
  std::vector<Event> events{small.event(0, 400, "long")};
  for (Nanoseconds start = 500; start < 600; start += 2) events.push_back(small.event(start, start + 1, "short"));
  small.builder.add(small.on_gpu(TrackKind::kKernels), events);
  const LevelContent content(small.builder.snapshot(), {LaneSource{0}});
  const Viewport viewport{{0, 1'000}, 10};
  REQUIRE(hit_test(content, viewport, 2).event == EventRef{0, 0});
  const PixelHit many = hit_test(content, viewport, 5);
  REQUIRE_FALSE(many.event.valid());
  REQUIRE(many.column.count == 50);
  REQUIRE(many.column.busy == 50);
  REQUIRE_FALSE(hit_test(content, viewport, 8).column.longest.valid());
}

TEST_CASE("measuring snaps to the nearest edge of an event") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(100, 200, "a"), small.event(300, 400, "b")});
  const LevelContent content(small.builder.snapshot(), {LaneSource{0}});
  REQUIRE(nearest_edge(content, 205, 10) == 200);
  REQUIRE(nearest_edge(content, 295, 10) == 300);
  REQUIRE(nearest_edge(content, 108, 10) == 100);
  REQUIRE(nearest_edge(content, 392, 10) == 400);
  REQUIRE_FALSE(nearest_edge(content, 250, 10));
}

TEST_CASE("a union that grew with its lanes equals one made anew") {
  std::mt19937 random(GENERATE(range(71u, 79u)));
  SmallTrace small;
  Level level;
  std::vector<std::vector<Event>> all(3);
  ContentCache cache;
  for (std::uint32_t stream = 0; stream < 3; ++stream) all[stream] = random_events(small, random, 90'000, 900'000'000);
  for (int part = 0; part < 3; ++part) {  // segments fill up, others start; the last part of one lane comes late
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
      const auto first = all[stream].begin() + part * 30'000;
      small.builder.add(small.on_gpu(TrackKind::kKernels, stream + 1), std::vector<Event>(first, first + 30'000));
    }
    const auto trace = small.builder.snapshot();
    level.clear();
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) level.push_back(LaneSource{lane});
    if (part == 0)
      cache = ContentCache(trace);
    else
      cache.grow(trace);
    const IntervalUnion& grown = cache.content(level).merged();
    const IntervalUnion anew = LevelContent(trace, level).merged();
    REQUIRE(grown.size() == anew.size());
    for (std::size_t index = 0; index < anew.size(); index += 17) {
      REQUIRE(grown.start(index) == anew.start(index));
      REQUIRE(grown.end(index) == anew.end(index));
    }
  }
}

TEST_CASE("a range on the GPU lasts from the first to the last operation that was launched in it") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges),
                    {small.event(0, 100, "step 0"), small.event(100, 200, "idle"), small.event(200, 300, "step 1")});
  small.builder.add(small.on_thread(TrackKind::kCudaApi),
                    {small.event(10, 15, "cudaLaunchKernel", 1), small.event(90, 99, "cudaMemcpyAsync", 2),
                     small.event(150, 160, "cudaFree", 3), small.event(210, 215, "cudaLaunchKernel", 4)});
  small.builder.add(small.on_gpu(TrackKind::kKernels, 7), {small.event(50, 80, "gemm", 1), small.event(320, 400, "gemm", 4)});
  small.builder.add(small.on_gpu(TrackKind::kMemory, 9), {small.copy(300, 350, CopyKind::kHostToDevice, 64, 2)});
  const auto trace = small.builder.snapshot();
  LaneId ranges = kNone;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) ranges = track.lanes.front();
  // step 0: kernel 50 to 80 and copy 300 to 350; step 1: kernel 320 to 400, which overlaps it; idle launched nothing.
  const auto lanes = project_on_gpu(*trace, ranges, small.gpu);
  REQUIRE(lanes.size() == 2);
  REQUIRE(lanes[0].lane->extent() == TimeRange{50, 350});
  REQUIRE(lanes[1].lane->extent() == TimeRange{320, 400});
  REQUIRE(trace->name(lanes[1].lane->name(0)) == "step 1");
  const LevelContent content(trace, {LaneSource{.lane = ranges, .on_gpu = small.gpu}});
  REQUIRE(content.busy({0, 1'000}) == 350);
  REQUIRE(hit_test(content, {{0, 400}, 400}, 60).event == EventRef{ranges, 0});  // the range itself
  REQUIRE(hit_test(content, {{0, 400}, 400}, 380).event == EventRef{ranges, 2});
}
