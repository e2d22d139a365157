#include "model/trace/trace_builder.h"

#include <algorithm>
#include <random>

#include "model/file/limits.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

TrackKey kernels_of_stream(std::uint32_t stream) {
  TrackKey key{TrackKind::kKernels, 0};
  key.gpu = 0;
  key.stream = stream;
  return key;
}

std::vector<Event> all_events(const Trace& trace) {
  std::vector<Event> events;
  for (const Lane& lane : trace.lanes())
    for (EventIndex i = 0; i < lane.size(); ++i) events.push_back(lane.event(i));
  return events;
}

bool by_time(const Event& a, const Event& b) { return std::tie(a.start, a.duration, a.correlation) < std::tie(b.start, b.duration, b.correlation); }

void require_no_overlap(const Trace& trace) {
  for (const Lane& lane : trace.lanes())
    for (EventIndex i = 1; i < lane.size(); ++i)
      if (lane.end(i - 1) > lane.start(i)) FAIL("event " << i << " begins before the one before it ends");
}

}  // namespace

TEST_CASE("whatever the order in which events come, none is lost and none overlaps another on its lane") {
  const auto seed = GENERATE(range(1u, 30u));
  std::mt19937 random(seed);
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 500; ++i) events.push_back({static_cast<Nanoseconds>(random() % 5'000), static_cast<Nanoseconds>(random() % 60), 1, i, 0});
  TraceBuilder builder;
  builder.process_of_instance(1);
  for (std::size_t at = 0; at < events.size(); at += 50) {
    builder.add(kernels_of_stream(7), {events.begin() + static_cast<long>(at), events.begin() + static_cast<long>(at) + 50});
    require_no_overlap(*builder.snapshot());
  }
  const auto trace = builder.snapshot();
  auto seen = all_events(*trace);
  std::sort(seen.begin(), seen.end(), by_time);
  std::sort(events.begin(), events.end(), by_time);
  CHECK(seen == events);
  CHECK(trace->event_count() == 500);
}

TEST_CASE("nested calls lie below the call that encloses them, in whichever order they were reported") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 100);
  const NameId outer = builder.intern("cudaLaunchKernel_v7000"), inner = builder.intern("cuLaunchKernel");
  builder.add(key, {{110, 20, inner, 2, 0}});
  builder.add(key, {{100, 50, outer, 1, 0}, {200, 50, outer, 3, 0}});
  const auto trace = builder.snapshot();
  REQUIRE(trace->tracks().size() == 1);
  REQUIRE(trace->tracks()[0].lanes.size() == 2);
  const Lane& top = trace->lane(trace->tracks()[0].lanes[0]);
  REQUIRE(top.size() == 2);
  CHECK(trace->name(top.name(0)) == "cudaLaunchKernel_v7000");
  const Lane& below = trace->lane(trace->tracks()[0].lanes[1]);
  REQUIRE(below.size() == 1);
  CHECK(trace->name(below.name(0)) == "cuLaunchKernel");
}

TEST_CASE("NVTX ranges lie at their depth though inner ranges end, and so come, first") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kNvtxRanges, process};
  key.thread = builder.thread(process, 100);
  const std::vector<std::uint32_t> depths{1, 1, 0, 1, 0};
  builder.add(key, {{10, 5, 1, 0, 0}, {20, 5, 2, 0, 0}, {5, 30, 3, 0, 0}, {50, 5, 4, 0, 0}, {45, 20, 5, 0, 0}}, depths);
  const auto trace = builder.snapshot();
  const auto& lanes = trace->tracks()[0].lanes;
  REQUIRE(lanes.size() == 2);
  CHECK(trace->lane(lanes[0]).size() == 2);
  CHECK(trace->lane(lanes[1]).size() == 3);
  CHECK(trace->nvtx_stack(key.thread, 12).size() == 2);
  CHECK(trace->nvtx_stack(key.thread, 40).empty());
}

TEST_CASE("a snapshot stays as it was while the recording goes on") {
  TraceBuilder builder;
  builder.process_of_instance(1);
  builder.add(kernels_of_stream(1), {{100, 10, builder.intern("first"), 1, 0}});
  const auto before = builder.snapshot();
  builder.add(kernels_of_stream(1), {{50, 10, builder.intern("late"), 2, 0}, {200, 10, builder.intern("next"), 3, 0}});
  const auto after = builder.snapshot();
  CHECK(before->event_count() == 1);
  CHECK(before->extent() == TimeRange{100, 110});
  CHECK(after->event_count() == 3);
  CHECK(after->extent() == TimeRange{50, 210});
  CHECK(after->name(after->lane(0).name(0)) == "late");
}

TEST_CASE("a launch and its GPU work find each other within their process only") {
  TraceBuilder builder;
  for (const std::uint32_t instance : {1u, 2u}) {
    const ProcessId process = builder.process_of_instance(instance);
    TrackKey api{TrackKind::kCudaApi, process};
    api.thread = builder.thread(process, 100);
    builder.add(api, {{10, 5, builder.intern("cudaGraphLaunch_v10000"), 7, 0}});
    for (const std::uint32_t stream : {1u, 2u}) {
      TrackKey gpu{TrackKind::kKernels, process};
      gpu.gpu = 0;
      gpu.stream = stream;
      builder.add(
          gpu,
          {{20 + stream, 5, builder.intern("node"), 7, 0}, {40 + stream, 5, builder.intern("node"), 7, 0}, {60 + stream, 5, builder.intern("other"), 8, 0}});
    }
  }
  const auto trace = builder.snapshot();
  for (const Track& track : trace->tracks()) {
    if (track.key.kind == TrackKind::kCudaApi) {
      const auto work = trace->work_of({track.lanes[0], 0});
      REQUIRE(work.size() == 4);
      CHECK(std::is_sorted(work.begin(), work.end(), [&](EventRef a, EventRef b) { return trace->event(a).start < trace->event(b).start; }));
      for (const EventRef each : work) CHECK(trace->track_of(each.lane).key.process == track.key.process);
    } else {
      const auto launch = trace->launch_of({track.lanes[0], 1});
      REQUIRE(launch);
      CHECK(trace->track_of(launch->lane).key.process == track.key.process);
      CHECK_FALSE(trace->launch_of({track.lanes[0], 2}));  // its call was not recorded
    }
  }
}

TEST_CASE("all nodes of a large CUDA graph are the work of its launch") {
  constexpr int kNodes = 20'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey api{TrackKind::kCudaApi, process};
  api.thread = builder.thread(process, 100);
  builder.add(api, {{10, 5, builder.intern("cudaGraphLaunch_v10000"), 7, 0}});
  TrackKey gpu{TrackKind::kKernels, process};
  gpu.gpu = 0;
  gpu.stream = 1;
  for (int node = 0; node < kNodes; ++node) builder.add(gpu, {{20 + 2 * node, 1, builder.intern("node"), 7, 0}});
  const auto trace = builder.snapshot();
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kCudaApi) CHECK(trace->work_of({track.lanes[0], 0}).size() == kNodes);
}

TEST_CASE("the same GPU seen by two processes is one GPU") {
  TraceBuilder builder;
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = std::string(16, 'u');
  const ProcessId a = builder.process_of_instance(1), b = builder.process_of_instance(2);
  builder.set_device(a, 0, gpu);
  builder.set_device(b, 3, gpu);
  CHECK(builder.gpu_of_device(a, 0) == builder.gpu_of_device(b, 3));
  CHECK(builder.snapshot()->gpus().size() == 1);
}

TEST_CASE("events of negative duration are refused and counted") {
  TraceBuilder builder;
  builder.process_of_instance(1);
  builder.add(kernels_of_stream(1), {{100, -5, 0, 1, 0}, {200, 5, 0, 2, 0}});
  const auto trace = builder.snapshot();
  CHECK(trace->event_count() == 1);
  CHECK(trace->processes()[0].completeness.invalid == 1);
}

TEST_CASE("display names of API calls lose a version of four digits and keep any other") {
  CHECK(api_display_name("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(api_display_name("cudaLaunchKernelExC_v11060") == "cudaLaunchKernelExC_v11060");
  CHECK(api_display_name("cuMemAlloc_v2") == "cuMemAlloc_v2");
  CHECK(api_display_name("_v7000") == "_v7000");
}

namespace {

// First fit, found by looking at every lane.
std::size_t lanes_needed(std::vector<Event> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return std::tuple(a.start, -a.duration) < std::tuple(b.start, -b.duration); });
  std::vector<Nanoseconds> ends;
  for (const Event& event : events) {
    const auto free = std::find_if(ends.begin(), ends.end(), [&](Nanoseconds end) { return end <= event.start; });
    if (free == ends.end())
      ends.push_back(event.end());
    else
      *free = event.end();
  }
  return ends.size();
}

}  // namespace

TEST_CASE("events that overlap take the first free lanes, however many, in whichever order they come") {
  const auto seed = GENERATE(range(1u, 12u));
  std::mt19937 random(seed);
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 20'000; ++i) events.push_back({static_cast<Nanoseconds>(random() % 40'000), static_cast<Nanoseconds>(random() % 400), 1, i, 0});
  const auto by_start = [](const Event& a, const Event& b) { return a.start < b.start; };
  if (seed % 3 != 0) std::stable_sort(events.begin(), events.end(), by_start);
  if (seed % 3 == 1) std::reverse(events.begin(), events.end());
  TraceBuilder builder(seed % 2 == 0 ? TraceBuilder::LaneWork::kWhereAdded : TraceBuilder::LaneWork::kOnAnotherThread);
  builder.process_of_instance(1);
  for (std::size_t at = 0, size = 0; at < events.size(); at += size) {
    size = std::min<std::size_t>(1 + random() % 500, events.size() - at);
    builder.add(kernels_of_stream(7), {events.begin() + static_cast<long>(at), events.begin() + static_cast<long>(at + size)});
    if (random() % 20 == 0) require_no_overlap(*builder.snapshot());
  }
  const auto trace = builder.snapshot();
  require_no_overlap(*trace);
  auto seen = all_events(*trace);
  std::sort(seen.begin(), seen.end(), by_time);
  auto given = events;
  std::sort(given.begin(), given.end(), by_time);
  CHECK(seen == given);
  CHECK(trace->lanes().size() == lanes_needed(events));
}

TEST_CASE("75,000 ranges that are never closed lie on as many lanes, in little memory") {
  TraceBuilder builder(TraceBuilder::LaneWork::kOnAnotherThread);
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kNvtxProcessRanges, process};
  constexpr Nanoseconds kRanges = 75'000, kEnd = 1'000'000;
  for (Nanoseconds first = 0; first < kRanges; first += 1'000) {
    std::vector<Event> events;
    for (Nanoseconds i = first; i < first + 1'000; ++i) events.push_back({i, kEnd - i, 1, 0, 0});
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  CHECK(trace->lanes().size() == kRanges);
  CHECK(trace->event_count() == kRanges);
  CHECK(builder.memory_bytes() < 160'000'000);  // including the memory to draw and sum up each lane: a third of what any file may take
}

TEST_CASE("ranges of falling order are all on the lane of their depth") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kNvtxRanges, process};
  constexpr Nanoseconds kRanges = 50'000;
  const std::vector<std::uint32_t> depth{1};
  for (Nanoseconds i = kRanges; i > 0; --i) builder.add(key, {{i * 10, 5, 1, static_cast<std::uint32_t>(i), 0}}, depth);
  const auto trace = builder.snapshot();
  REQUIRE(trace->lanes().size() == 2);
  REQUIRE(trace->lane(1).size() == kRanges);
  for (EventIndex i = 0; i < kRanges; ++i) REQUIRE(trace->lane(1).correlation(i) == i + 1);
}

TEST_CASE("ranges of several depths whose chunks come in any order are on their lanes as those that come in order") {
  constexpr std::uint32_t kChunks = 200, kOfChunk = 600, kDepths = 3;
  struct Chunk {
    std::vector<Event> events;
    std::vector<std::uint32_t> depths;
  };
  std::vector<Chunk> chunks(kChunks);
  for (std::uint32_t i = 0; i < kChunks * kOfChunk; ++i) {
    Chunk& chunk = chunks[i / kOfChunk];
    chunk.events.push_back({Nanoseconds{i / kDepths} * 10, i % 7 == 0 ? 0 : 5, 1, i, 0});
    chunk.depths.push_back(i % kDepths);
  }
  const auto lanes_of = [&](const std::vector<Chunk>& in_order) {
    TraceBuilder builder;
    TrackKey key{TrackKind::kNvtxRanges, builder.process_of_instance(1)};
    for (const Chunk& chunk : in_order) builder.add(key, chunk.events, chunk.depths);
    const auto trace = builder.snapshot();
    REQUIRE(trace->lanes().size() == kDepths);
    return all_events(*trace);
  };
  const std::vector<Event> expected = lanes_of(chunks);
  REQUIRE(expected.size() == kChunks * kOfChunk);
  std::reverse(chunks.begin(), chunks.end());
  CHECK(lanes_of(chunks) == expected);
  std::shuffle(chunks.begin(), chunks.end(), std::mt19937(GENERATE(1u, 2u, 3u)));
  CHECK(lanes_of(chunks) == expected);
}

TEST_CASE("work is joined to the nearest call of its correlation id, where ids come round again") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ProcessId other = builder.process_of_instance(2);
  const auto calls_of = [&](ProcessId of, std::uint32_t tid) {
    TrackKey key{TrackKind::kCudaApi, of};
    key.thread = builder.thread(of, tid);
    return key;
  };
  constexpr Nanoseconds kLater = 1'000'000;
  // Each call, and the driver's call within it; on two threads; and one with the same id in another process.
  builder.add(calls_of(process, 100), {{100, 50, 1, 7, 0}, {110, 20, 1, 7, 0}, {kLater, 50, 1, 7, 0}, {kLater + 10, 20, 1, 7, 0}});
  builder.add(calls_of(process, 101), {{kLater * 2, 50, 1, 7, 0}});
  builder.add(calls_of(other, 100), {{130, 50, 1, 7, 0}});
  builder.add(kernels_of_stream(7), {{120, 500, 1, 7, 0}, {kLater + 5, 10, 1, 7, 0}, {kLater * 2 - 3, 10, 1, 7, 0}});
  const auto trace = builder.snapshot();
  const LaneId kernels = trace->tracks()[trace->tracks_of(process, TrackKind::kKernels)[0]].lanes[0];
  const auto start_of_launch = [&](EventIndex kernel) { return trace->event(*trace->launch_of({kernels, kernel})).start; };
  CHECK(start_of_launch(0) == 100);
  CHECK(start_of_launch(1) == kLater);
  CHECK(start_of_launch(2) == kLater * 2);  // clocks differ slightly
  const Track& calls = trace->tracks()[trace->tracks_of(process, TrackKind::kCudaApi)[0]];
  CHECK(trace->work_of({calls.lanes[0], 0}) == std::vector<EventRef>{{kernels, 0}});
  CHECK(trace->work_of({calls.lanes[1], 1}) == std::vector<EventRef>{{kernels, 1}});  // the inner call's work belongs to the outer one
}

TEST_CASE("a text that is longer than any is cut at the end of a character, and the trace says so") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::string longest(limits::kTextBytes, 'x');
  std::string too_long(limits::kTextBytes - 4, 'x');
  too_long += "ééé";  // two bytes each; the first one would be cut in two
  const NameId kept = builder.intern(longest), cut = builder.intern(too_long);
  builder.add(kernels_of_stream(7), {{0, 1, kept, 0, 0}, {2, 1, cut, 0, 0}});
  const auto trace = builder.snapshot();
  CHECK(trace->name(kept) == longest);
  CHECK(trace->name(cut) == std::string(limits::kTextBytes - 4, 'x') + "…");
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK(trace->diagnostics()[0].text == "Texts of more than 64 KiB were cut: 1.");
  CHECK(trace->processes()[process].completeness.invalid == 0);
}

TEST_CASE("texts of things that are no events are cut, too, and count as often as they are kept") {
  constexpr std::uint64_t kCopies = 2;  // in the builder, and in the trace that it makes
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 5);
  const auto name_all = [&](const std::string& text) {
    builder.name_thread(thread, text);
    builder.set_stream({process, 1, 7, 0, 1, text});
    builder.set_cuda_name({process, CudaResource::kEvent, 1, text});
    builder.set_domain(process, 1, text);
    builder.set_category(process, 1, 1, text);
  };
  constexpr std::uint64_t kNames = 5;
  name_all("");
  const std::uint64_t without = builder.memory_bytes();
  name_all(std::string(1'000, 'x'));
  CHECK(builder.memory_bytes() - without == kNames * kCopies * 1'000);
  name_all("xy");  // replaces the long ones
  CHECK(builder.memory_bytes() - without == kNames * kCopies * 2);
  name_all(std::string(limits::kTextBytes + 1, 'x'));
  CHECK(builder.memory_bytes() - without == kNames * kCopies * limits::kTextBytes);
  Gpu gpu;
  builder.set_device(process, 0, gpu);
  const std::uint64_t with_nameless_gpu = builder.memory_bytes();
  gpu.name = std::string(1'000, 'g');
  builder.set_device(process, 0, gpu);
  CHECK(builder.memory_bytes() - with_nameless_gpu >= kCopies * 1'000);
  const std::uint64_t before_message = builder.memory_bytes();
  DiagnosticMessage message;
  message.text = std::string(1'000, 'm');
  builder.add_diagnostic(std::move(message));
  CHECK(builder.memory_bytes() - before_message >= kCopies * 1'000);
  const auto trace = builder.snapshot();
  CHECK(trace->threads()[thread].name == std::string(limits::kTextBytes - 3, 'x') + "…");
  CHECK(trace->diagnostics().back().text == "Texts of more than 64 KiB were cut: " + std::to_string(kNames) + ".");
}

TEST_CASE("calls that lie too deep count for the deepest that is kept, and the trace says how many") {
  TraceBuilder builder;
  CodeFunction function;
  function.function = builder.intern("f");
  const CodeLocationId location = builder.code_location({}, function);
  CallNodeId node = 0, deepest = 0;
  for (std::uint32_t depth = 0; depth < limits::kCallDepth + 3; ++depth) {
    node = builder.call_node({node, location});
    if (depth + 1 == limits::kCallDepth) deepest = node;
  }
  CHECK(node == deepest);
  const auto trace = builder.snapshot();
  CHECK(trace->call_stacks().chain(node).size() == limits::kCallDepth);
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK(trace->diagnostics()[0].text == "Calls that lie more than 1024 deep count for their callers: 3.");
  (void)builder.call_node({node, location});
  const auto later = builder.snapshot();
  REQUIRE(later->diagnostics().size() == 1);
  CHECK(later->diagnostics()[0].text == "Calls that lie more than 1024 deep count for their callers: 4.");
}

TEST_CASE("calls of a table are all added, and are found by those that come later") {
  TraceBuilder builder;
  CodeFunction function;
  function.function = builder.intern("f");
  const CodeLocationId location = builder.code_location({}, function);
  const CallNodeId first = builder.call_node({0, location});
  CHECK(builder.another_call_node({0, location}) == first + 1);
  CallNodeId deepest = first;
  for (std::uint32_t depth = 1; depth < limits::kCallDepth; ++depth) deepest = builder.another_call_node({deepest, location});
  CHECK(builder.another_call_node({deepest, location}) == deepest);  // it would lie too deep
  CHECK(builder.call_node({0, location}) == first);
  CallNodeId node = first;
  for (std::uint32_t depth = 1; depth < limits::kCallDepth; ++depth) node = builder.call_node({node, location});
  CHECK(node == deepest);
  CHECK(builder.snapshot()->call_stacks().node_count() == deepest + 1);
}

TEST_CASE("a snapshot has what is open behind all else of its lane, until it has ended") {
  TraceBuilder builder;
  TrackKey ranges{TrackKind::kNvtxRanges, builder.process_of_instance(1)};
  ranges.thread = builder.thread(0, 7);
  const NameId inner = builder.intern("inner"), outer = builder.intern("outer");
  const auto add = [&](std::uint32_t depth, const Event& event) { builder.add(ranges, {event}, std::vector<std::uint32_t>{depth}); };
  add(1, {10, 10, inner, 0, 0});
  builder.set_open({{ranges, 0, {5, 20, outer, 0, 0}}, {ranges, 2, {30, 0, inner, 0, 0}}});
  const auto open = builder.snapshot();
  REQUIRE(builder.open_events().size() == 2);
  const EventRef first = builder.open_events()[0];
  CHECK(open->event(first) == Event{5, 20, outer, 0, 0});
  CHECK(open->event(builder.open_events()[1]) == Event{30, 0, inner, 0, 0});
  CHECK(open->event_count() == 3);
  CHECK(builder.event_count() == 1);  // nothing else has arrived

  // The range goes on and then ends: in the same place, once, although it is still said to be open.
  builder.set_open({{ranges, 0, {5, 40, outer, 0, 0}}});
  const auto later = builder.snapshot();
  CHECK(later->event_count() == 2);
  CHECK(later->event(first).duration == 40);
  add(0, {5, 60, outer, 0, 0});
  const auto ended = builder.snapshot();
  CHECK(builder.open_events().empty());
  CHECK(ended->event_count() == 2);
  CHECK(ended->event(first) == Event{5, 60, outer, 0, 0});
  builder.set_open({});
  CHECK(builder.snapshot()->event_count() == 2);
  CHECK(open->event(first).duration == 20);  // an earlier snapshot does not change
}

TEST_CASE("what is open lies behind a lane's full segments, and what any thread may end on a lane that is free") {
  TraceBuilder builder;
  TrackKey ranges{TrackKind::kNvtxRanges, builder.process_of_instance(1)};
  ranges.thread = builder.thread(0, 7);
  std::vector<Event> events;
  for (EventIndex i = 0; i < 2 * LaneSegment::kCapacity; ++i) events.push_back({static_cast<Nanoseconds>(i) * 10, 5, 0, 0, 0});
  const std::vector<std::uint32_t> depths(events.size(), 0);
  builder.add(ranges, events, depths);
  const Nanoseconds end = events.back().end();
  builder.set_open({{ranges, 0, {end, 7, 0, 0, 0}}});
  const auto trace = builder.snapshot();
  REQUIRE(builder.open_events().size() == 1);
  CHECK(builder.open_events().front().index == events.size());
  CHECK(trace->event(builder.open_events().front()).duration == 7);

  TrackKey of_process{TrackKind::kNvtxProcessRanges, 0};
  of_process.thread = ranges.thread;
  builder.add(of_process, {{0, 100, 0, 1, 0}});
  builder.set_open(
      {{of_process, std::nullopt, {50, 100, 0, 2, 0}}, {of_process, std::nullopt, {60, 90, 0, 3, 0}}, {of_process, std::nullopt, {110, 40, 0, 4, 0}}});
  const auto with_ranges = builder.snapshot();
  REQUIRE(builder.open_events().size() == 3);
  require_no_overlap(*with_ranges);
  CHECK(with_ranges->event_count() == events.size() + 4);
}
