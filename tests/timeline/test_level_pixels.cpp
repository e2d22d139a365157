#include <map>
#include <random>

#include "support/catch.h"
#include "timeline/core/pixels/level_pixels.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::random_events;
using lanescope::test::SmallTrace;

namespace {

// Streams of random kernels on one GPU, and a level that combines all of them.
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

// The oracle: slow and obvious.
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

TEST_CASE("sums are not known of pixels that were never asked for") {
  const Streams streams(1, 1, 20, 1'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  REQUIRE_FALSE(rasterizer.sum(content, {0, 1'000}));
  REQUIRE_FALSE(rasterizer.sum(content, {}));
}

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
        const Column& column = pixels.column(x);
        REQUIRE(column.busy == covered_one_by_one(streams, window));
        REQUIRE(column.count == starting_in(streams, window));
      }
    }
}

TEST_CASE("neighbouring windows are each as busy as alone") {
  const Streams streams(GENERATE(1u, 2u, 3u), GENERATE(1, 4), 40, 3'000);
  const LevelContent content(streams.trace, streams.level);
  std::vector<Nanoseconds> edges{-500, -20, 0, 0, 7, 700, 701, 1'500, 2'999, 4'000, 5'000};
  std::vector<Nanoseconds> busy(edges.size() - 1, -1);
  content.busy(edges, busy);
  for (std::size_t i = 0; i < busy.size(); ++i) REQUIRE(busy[i] == covered_one_by_one(streams, {edges[i], edges[i + 1]}));
}

TEST_CASE("columns add up to the busy time of the window") {
  const Streams streams(GENERATE(11u, 12u, 13u), 3, 5'000, 1'000'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  for (const TimeRange range : {TimeRange{0, 1'000'000}, TimeRange{12'345, 678'901}}) {
    const LevelPixels& pixels = rasterizer.rasterize(content, {range, 1'917});
    Nanoseconds busy = 0;
    std::uint64_t count = 0;
    for (std::int32_t x = 0; x < pixels.width(); ++x) {
      busy += pixels.column(x).busy;
      count += pixels.column(x).count;
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
    const Column& column = pixels.column(x);
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
        if (window.contains(event.start) || (event.start < window.begin && event.end() > window.begin)) longest = std::max(longest, event.duration);
    const Column& column = pixels.column(x);
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
    const auto box = std::find_if(pixels.boxes().begin(), pixels.boxes().end(), [left](const Box& each) { return each.left == left; });
    REQUIRE(box != pixels.boxes().end());
    REQUIRE(box->right == right);
    REQUIRE(streams.trace->event(box->event) == event);
  }
  REQUIRE(pixels.boxes().size() == expected);
}

TEST_CASE("panning by whole pixels moves the columns and changes none") {
  const Streams streams(51, 2, 2'000, 1'000'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  const Viewport viewport{{100'000, 300'000}, 1'000};  // 200 ns per pixel
  const LevelPixels before = rasterizer.rasterize(content, viewport);
  const LevelPixels& after = rasterizer.rasterize(content, {panned(viewport.range, 37 * 200), 1'000});
  for (std::int32_t x = 37; x < 1'000; ++x) REQUIRE(before.column(x).busy == after.column(x - 37).busy);
}

TEST_CASE("a view that was panned shows what one computed anew does") {
  std::mt19937 random(GENERATE(range(51u, 54u)));
  const std::size_t lanes = GENERATE(1, 3);
  const Nanoseconds length = GENERATE(700, 66'667, 600'001);  // not a multiple of the width: columns differ in length
  const std::int32_t width = GENERATE(50, 64, 333);
  const Streams streams(static_cast<unsigned>(random()), lanes, 3'000, 1'000'000);
  const LevelContent content(streams.trace, streams.level);
  LevelRasterizer rasterizer;
  TimeRange range{200'000, 200'000 + length};
  for (int pan = 0; pan < 40; ++pan) {
    const Viewport viewport = Viewport{range, width}.on_grid();
    LevelRasterizer fresh;
    const LevelPixels& anew = fresh.rasterize(content, viewport);
    const LevelPixels& kept = rasterizer.rasterize(content, viewport);
    REQUIRE(kept.width() == width);
    for (std::int32_t x = 0; x < width; ++x) REQUIRE(kept.column(x) == anew.column(x));
    REQUIRE(kept.boxes() == anew.boxes());
    range = panned(range, static_cast<Nanoseconds>(random() % static_cast<unsigned>(length)) - length / 2);
  }
}

TEST_CASE("the union of lanes is busy when at least one of them is") {
  const Streams streams(61, 4, 100, 2'000);
  const LevelContent content(streams.trace, streams.level);
  for (Nanoseconds begin = 0; begin < 2'000; begin += 61)
    for (Nanoseconds end = begin; end < 2'200; end += 173) REQUIRE(content.busy({begin, end}) == covered_one_by_one(streams, {begin, end}));
}

TEST_CASE("the union of lanes that take turns for long is exact, whatever else begins or runs meanwhile") {
  std::mt19937 random(GENERATE(range(1u, 30u)));
  constexpr std::size_t kStreams = 3;
  SmallTrace small;
  std::vector<Event> events[kStreams];
  std::vector<Nanoseconds> covered_before{0};  // each nanosecond
  std::vector<bool> covers(20'000);
  Nanoseconds time = 0;
  const auto add = [&](std::size_t stream, Nanoseconds start, Nanoseconds length) {
    if (!events[stream].empty()) start = std::max(start, events[stream].back().end());
    events[stream].push_back(small.event(start, start + length, "gemm"));
    for (Nanoseconds t = start; t < start + length; ++t) covers[static_cast<std::size_t>(t)] = true;
  };
  for (int turn = 0; turn < 20; ++turn) {
    const std::size_t stream = random() % kStreams;
    const auto count = static_cast<int>(random() % 60);
    const int interrupted_at = random() % 2 == 0 ? static_cast<int>(random() % 60) : -1;
    for (int i = 0; i < count; ++i) {
      const auto length = 1 + static_cast<Nanoseconds>(random() % 5);
      add(stream, time, length);
      if (i == interrupted_at) add((stream + 1) % kStreams, time + static_cast<Nanoseconds>(random() % 4), 1 + static_cast<Nanoseconds>(random() % 90));
      time += length + static_cast<Nanoseconds>(random() % 3);
    }
  }
  Level level;
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    if (events[stream].empty()) continue;
    level.push_back(LaneSource{static_cast<LaneId>(level.size())});
    small.builder.add(small.on_gpu(TrackKind::kKernels, static_cast<std::uint32_t>(stream)), events[stream]);
  }
  for (const bool is_covered : covers) covered_before.push_back(covered_before.back() + (is_covered ? 1 : 0));
  const LevelContent content(small.builder.snapshot(), level);
  for (Nanoseconds begin = 0; begin < time; begin += 37)
    for (Nanoseconds end = begin; end < time + 100; end += 211)
      REQUIRE(content.busy({begin, end}) == covered_before[static_cast<std::size_t>(end)] - covered_before[static_cast<std::size_t>(begin)]);
}

TEST_CASE("lanes whose events never run at once need no intervals for their union") {
  SmallTrace small;
  for (const Nanoseconds stream : {1, 2}) {
    std::vector<Event> events;
    for (Nanoseconds i = 0; i < 5'000; ++i) events.push_back(small.event(i * 100 + (stream - 1) * 50, i * 100 + stream * 50, "gemm"));
    small.builder.add(small.on_gpu(TrackKind::kKernels, static_cast<std::uint32_t>(stream)), events);
  }
  const LevelContent content(small.builder.snapshot(), {LaneSource{0}, LaneSource{1}});
  REQUIRE(content.merged().intervals() == 0);
  REQUIRE(content.busy({0, 500'000}) == 500'000);
}

TEST_CASE("lanes that are busy at once nearly always are kept as their union") {
  SmallTrace small;
  for (const Nanoseconds stream : {1, 2, 3}) {  // 90 of every 100 ns, shifted by 20: busy from 20 to 4'999 * 100 + 60 + 90
    std::vector<Event> events;
    for (Nanoseconds i = 0; i < 5'000; ++i) events.push_back(small.event(i * 100 + stream * 20, i * 100 + stream * 20 + 90, "gemm"));
    small.builder.add(small.on_gpu(TrackKind::kKernels, static_cast<std::uint32_t>(stream)), events);
  }
  const LevelContent content(small.builder.snapshot(), {LaneSource{0}, LaneSource{1}, LaneSource{2}});
  REQUIRE(content.merged().intervals() == 1);
  REQUIRE(content.busy({0, 600'000}) == 4'999 * 100 + 60 + 90 - 20);
}

TEST_CASE("intervals that overlap or touch become one, and all say what is covered") {
  IntervalUnion::Writer writer;
  REQUIRE(writer.add(10, 20) == 10);
  REQUIRE(writer.add(15, 40) == 20);  // covered from 15 to 20
  REQUIRE(writer.add(16, 30) == 30);
  REQUIRE(writer.add(40, 50) == 40);
  REQUIRE(writer.add(60, 60) == 60);
  REQUIRE(writer.add(70, 80) == 70);
  const IntervalUnion intervals = writer.take();
  REQUIRE(intervals.size() == 2);
  REQUIRE(intervals.start(0) == 10);
  REQUIRE(intervals.end(0) == 50);
  REQUIRE(intervals.covered_before(45) == 35);
  REQUIRE(intervals.covered_before(75) == 45);
  IntervalUnion::Writer other(intervals, 30);  // from this time on it was different
  REQUIRE(other.add(30, 35) == 30);
  const IntervalUnion changed = other.take();
  REQUIRE(changed.size() == 1);
  REQUIRE(changed.end(0) == 35);
}

TEST_CASE("a union is exact where intervals are dense and where hours lie between them") {
  constexpr Nanoseconds kDense = 20'000, kAll = 40'000;
  constexpr Nanoseconds kHour = 3'600'000'000'000;
  const auto start_of = [](Nanoseconds i) { return i < kDense ? i * 1'000 : (i - kDense + 1) * kHour; };
  IntervalUnion::Writer writer;
  for (Nanoseconds i = 0; i < kAll; ++i) {
    writer.add(start_of(i), start_of(i) + 300);
    writer.add(start_of(i) + 200, start_of(i) + 500);
  }
  const IntervalUnion merged = writer.take();
  REQUIRE(merged.size() == kAll);
  std::vector<Nanoseconds> times, expected;
  for (Nanoseconds i = 0; i < kAll; i += 7) {
    REQUIRE(merged.start(static_cast<std::size_t>(i)) == start_of(i));
    REQUIRE(merged.end(static_cast<std::size_t>(i)) == start_of(i) + 500);
    for (const Nanoseconds inside : {0, 123, 500, 700}) {
      times.push_back(start_of(i) + inside);
      expected.push_back(500 * i + std::min<Nanoseconds>(inside, 500));
    }
  }
  std::vector<Nanoseconds> covered(times.size());
  merged.covered_before(times, covered);
  REQUIRE(covered == expected);
  for (std::size_t at = 0; at < times.size(); ++at) REQUIRE(merged.covered_before(times[at]) == expected[at]);
}

TEST_CASE("contents that nobody asks for any more are freed, and are the same when asked for again") {
  const Streams streams(81, 3, 2'000, 1'000'000);
  ContentCache cache(streams.trace);
  const Level other{LaneSource{0}};
  const Nanoseconds busy = cache.content(streams.level).busy({0, 1'000'000});
  const std::size_t with_union = cache.memory_bytes();
  for (std::uint64_t call = 0; call < ContentCache::kKept; ++call) {
    REQUIRE_FALSE(cache.forget_unused());
    (void)cache.content(other);
  }
  REQUIRE(cache.forget_unused());
  REQUIRE(cache.memory_bytes() < with_union);
  REQUIRE(cache.content(streams.level).busy({0, 1'000'000}) == busy);
}

TEST_CASE("a level that takes some events of a lane refers to the trace's own events") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kMemory), {small.copy(0, 10, CopyKind::kHostToDevice, 64), small.copy(20, 50, CopyKind::kDeviceToHost, 32),
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
  for (int part = 0; part < 3; ++part) {  // segments fill up, and others start; the last part of one lane comes late
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
    const LevelContent& grown = cache.content(level);
    const LevelContent anew(trace, level);
    REQUIRE(grown.merged().intervals() == anew.merged().intervals());
    for (Nanoseconds time = 0; time < 900'000'000; time += 1'234'567) REQUIRE(grown.busy({0, time}) == anew.busy({0, time}));
  }
}

TEST_CASE("a range on the GPU lasts from the first to the last operation that was launched in it") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(0, 100, "step 0"), small.event(100, 200, "idle"), small.event(200, 300, "step 1")});
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(10, 15, "cudaLaunchKernel", 1), small.event(90, 99, "cudaMemcpyAsync", 2),
                                                           small.event(150, 160, "cudaFree", 3), small.event(210, 215, "cudaLaunchKernel", 4)});
  small.builder.add(small.on_gpu(TrackKind::kKernels, 7), {small.event(50, 80, "gemm", 1), small.event(320, 400, "gemm", 4)});
  small.builder.add(small.on_gpu(TrackKind::kMemory, 9), {small.copy(300, 350, CopyKind::kHostToDevice, 64, 2)});
  const auto trace = small.builder.snapshot();
  LaneId ranges = kNone;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kNvtxRanges) ranges = track.lanes.front();
  // step 0: kernel 50 to 80 and copy 300 to 350; step 1: kernel 320 to 400, which overlaps the copy; idle launched nothing.
  const auto lanes = project_on_gpu(*trace, {&ranges, 1}, small.gpu).front();
  REQUIRE(lanes.size() == 2);
  REQUIRE(lanes[0].lane->extent() == TimeRange{50, 350});
  REQUIRE(lanes[1].lane->extent() == TimeRange{320, 400});
  REQUIRE(trace->name(lanes[1].lane->name(0)) == "step 1");
  const LevelContent content(trace, {LaneSource{.lane = ranges, .on_gpu = small.gpu}});
  REQUIRE(content.busy({0, 1'000}) == 350);
  REQUIRE(hit_test(content, {{0, 400}, 400}, 60).event == EventRef{ranges, 0});  // the range itself
  REQUIRE(hit_test(content, {{0, 400}, 400}, 380).event == EventRef{ranges, 2});
}

TEST_CASE("of more lanes than are kept, columns are the same sums, and have no boxes") {
  // A quarter of the lanes is covered by one event to the end, like ranges that were never ended; another quarter has one event of any length.
  constexpr std::uint32_t kLanes = 700;
  constexpr Nanoseconds kSpan = 4'000;
  std::mt19937 random(3);
  SmallTrace small;
  std::vector<std::vector<Event>> all;
  for (std::uint32_t stream = 1; stream <= kLanes; ++stream) {
    const auto begin = static_cast<Nanoseconds>(random() % kSpan);
    const auto length = static_cast<Nanoseconds>(random() % (stream % 3 == 0 ? 8 : stream % 3 == 1 ? 150 : 3'000));
    all.push_back(stream % 2 == 0   ? random_events(small, random, stream % 8 == 0 ? 300 : 6, kSpan)
                  : stream % 4 == 1 ? std::vector{small.event(stream, kSpan, "open")}
                                    : std::vector{small.event(begin, begin + length, "short")});
    small.builder.add(small.on_gpu(TrackKind::kKernels, stream), all.back());
  }
  const auto trace = small.builder.snapshot();
  Level level;
  for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) level.push_back(LaneSource{lane});
  const LevelContent content(trace, level);
  LevelRasterizer rasterizer;
  for (const TimeRange range : {TimeRange{0, kSpan}, TimeRange{1'000, 1'900}}) {
    const Viewport viewport{range, 300};
    const LevelPixels& pixels = rasterizer.rasterize(content, viewport);
    CHECK(pixels.boxes().empty());
    for (std::int32_t x = 0; x < viewport.width; ++x) {
      const TimeRange window{viewport.time_at(x), viewport.time_at(std::int64_t{x} + 1)};
      Nanoseconds total = 0, longest = -1, open = 0;
      EventIndex count = 0, carried = 0;
      for (const std::vector<Event>& events : all)
        for (const Event& event : events) {
          const Nanoseconds time = window.intersected({event.start, event.end()}).length();
          total += time;
          open += trace->name(event.name) == "open" ? time : 0;
          count += window.contains(event.start);
          carried += event.start < window.begin && event.end() > window.begin;
          if (window.contains(event.start) || time > 0) longest = std::max(longest, event.duration);
        }
      const Column& column = pixels.column(x);
      REQUIRE(column.total == total);
      REQUIRE(column.count == count);
      REQUIRE(column.carried == carried);
      REQUIRE(column.longest_duration == longest);
      if (open * 2 > total) REQUIRE(trace->name(column.dominant) == "open");
    }
  }
}
