#include "model/events/event_values.h"

#include <algorithm>

#include "model/events/column_reader.h"
#include "model/events/event_query.h"
#include "model/trace/domains/python_lock.h"
#include "random_trace.h"
#include "support/catch.h"

using namespace lanescope;
using lanescope::test::random_trace;

namespace {

// A stream with a copy and two kernels, launched by one thread within "step" > "forward".
//
//   step     [0                                          100)
//   forward           [10             40)
//   calls             [12 15)  [20 24)          [50 52)
//   kernels                [16     30)                  [60 80)
//   copies                             [35 40)
struct KnownTrace {
  std::shared_ptr<const Trace> trace;
  EventRef step, forward, first_call, first_kernel, second_kernel, copy;

  KnownTrace() {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    builder.process(process).pid = 4711;
    builder.process(process).name = "python";
    const ThreadId thread = builder.thread(process, 4712);
    builder.name_thread(thread, "main");
    const GpuId gpu = builder.gpu(Gpu{.name = "NVIDIA H200", .ordinal = 0, .multiprocessor_count = 3, .compute_major = 9});
    const auto named = [&](std::string_view text) { return builder.intern(text); };
    const std::uint32_t depths[] = {0, 1};
    builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, {{0, 100, named("step"), 0, 0}, {10, 30, named("forward"), 0, 0}},
                depths);
    builder.add(
        {.kind = TrackKind::kCudaApi, .process = process, .thread = thread},
        {{12, 3, named("cudaLaunchKernel_v7000"), 1, 0}, {20, 4, named("cudaMemcpyAsync_v3020"), 2, 0}, {50, 2, named("cudaLaunchKernel_v7000"), 3, 0}});
    KernelDetail kernel;
    kernel.grid[0] = 4;
    kernel.grid[1] = 2;
    kernel.grid[2] = 1;
    kernel.block[0] = 128;
    kernel.block[1] = 1;
    kernel.block[2] = 1;
    kernel.registers_per_thread = 32;
    const DetailId detail = builder.intern(kernel);
    TrackKey key{.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7};
    builder.add(key, {{16, 14, named("gemm"), 1, detail}, {60, 20, named("relu"), 3, detail}});
    key.kind = TrackKind::kMemory;
    builder.add(key, {{35, 5, named("copy"), 2, builder.intern(MemoryDetail{.copy_kind = CopyKind::kHostToDevice, .bytes = 4096})}});
    trace = builder.snapshot();
    step = find("step");
    forward = find("forward");
    first_kernel = find("gemm");
    second_kernel = find("relu");
    copy = find("copy");
    first_call = find("cudaLaunchKernel_v7000");
  }
  [[nodiscard]] EventRef find(std::string_view name) const {
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane)
      for (EventIndex i = 0; i < trace->lane(lane).size(); ++i)
        if (trace->name(trace->lane(lane).name(i)) == name) return {lane, i};
    return {};
  }
};

// The gap between an event and the latest end of the events before it on its row, found by looking at every event of the row.
std::optional<Nanoseconds> gap_by_looking_at_all(const EventValues& values, EventRef event) {
  const Trace& trace = values.trace();
  const std::span<const LaneId> row = values.row_of(event.lane);
  const auto position = [&](LaneId lane) { return std::find(row.begin(), row.end(), lane) - row.begin(); };
  const Nanoseconds start = trace.event(event).start;
  std::optional<Nanoseconds> last_end;
  for (const LaneId lane : row)
    for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) {
      const bool before = std::tuple(trace.lane(lane).start(i), position(lane), i) < std::tuple(start, position(event.lane), event.index);
      if (before) last_end = std::max(last_end.value_or(trace.lane(lane).end(i)), trace.lane(lane).end(i));
    }
  if (!last_end || trace.track_of(event.lane).key.kind == TrackKind::kOverhead) return std::nullopt;
  return std::max<Nanoseconds>(0, start - *last_end);
}

// The latest-starting range of the launching thread that contains the launch, found by looking at every range.
std::optional<EventRef> range_by_looking_at_all(const Trace& trace, EventRef event) {
  const TrackKey key = trace.track_of(event.lane).key;
  EventRef call = event;
  if (is_on_stream(key.kind)) {
    const std::optional<EventRef> launch = trace.launch_of(event);
    if (!launch) return std::nullopt;
    call = *launch;
  }
  const Nanoseconds start = trace.event(call).start;
  std::optional<EventRef> innermost;
  for (LaneId lane = 0; lane < trace.lanes().size(); ++lane) {
    const TrackKey& other = trace.track_of(lane).key;
    if (other.kind != TrackKind::kNvtxRanges || other.thread != trace.track_of(call.lane).key.thread || lane >= call.lane) continue;
    for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) {
      const Event range = trace.event({lane, i});
      if (range.start > start || range.end() <= start) continue;
      if (key.kind == TrackKind::kNvtxRanges && range.end() < trace.event(event).end()) continue;
      if (!innermost || range.start >= trace.event(*innermost).start) innermost = EventRef{lane, i};
    }
  }
  return innermost;
}

}  // namespace

TEST_CASE("a kernel knows its launch shape, its stream and who launched it") {
  const KnownTrace known;
  const EventValues values(known.trace, EventScope::whole_trace(*known.trace));
  CHECK(values.text(known.second_kernel, EventColumn::kName) == "relu");
  CHECK(values.text(known.second_kernel, EventColumn::kKind) == "Kernel");
  CHECK(values.text(known.second_kernel, EventColumn::kProcess) == "[4711] python");
  CHECK(values.text(known.second_kernel, EventColumn::kDevice) == "GPU 0 NVIDIA H200");
  CHECK(values.text(known.second_kernel, EventColumn::kStream) == "Stream 7");
  CHECK(values.text(known.second_kernel, EventColumn::kThread).empty());
  CHECK(values.text(known.second_kernel, EventColumn::kGrid) == "4 × 2 × 1");
  CHECK(values.number(known.second_kernel, EventColumn::kGrid) == 8);
  CHECK(values.number(known.second_kernel, EventColumn::kRegisters) == 32);
  CHECK(values.text(known.second_kernel, EventColumn::kOccupancy) == "100");  // 16 blocks of 4 warps
  CHECK(values.number(known.second_kernel, EventColumn::kOccupancy) == 100'00);
  CHECK(values.text(known.second_kernel, EventColumn::kWaves) == "0.17");  // 8 of 3 x 16 blocks
  CHECK(values.text(known.copy, EventColumn::kOccupancy).empty());
  CHECK(values.number(known.second_kernel, EventColumn::kQueueTime) == 60 - 52);
  CHECK(values.text(known.second_kernel, EventColumn::kNvtxRange) == "step");
  CHECK(values.text(known.first_kernel, EventColumn::kNvtxRange) == "forward");
  CHECK_FALSE(values.number(known.second_kernel, EventColumn::kBytes).has_value());
}

TEST_CASE("a call knows its thread and loses the version in its name") {
  const KnownTrace known;
  const EventValues values(known.trace, EventScope::whole_trace(*known.trace));
  CHECK(values.text(known.first_call, EventColumn::kName) == "cudaLaunchKernel");
  CHECK(values.text(known.first_call, EventColumn::kThread) == "[4712] main");
  CHECK(values.text(known.first_call, EventColumn::kStream).empty());
  CHECK_FALSE(values.number(known.first_call, EventColumn::kQueueTime).has_value());
  CHECK(values.text(known.forward, EventColumn::kNvtxRange) == "step");
  CHECK(values.text(known.step, EventColumn::kNvtxRange).empty());
}

TEST_CASE("the gap before a kernel counts what its stream did last, also copies") {
  const KnownTrace known;
  const EventValues values(known.trace, EventScope::whole_trace(*known.trace));
  CHECK_FALSE(values.number(known.first_kernel, EventColumn::kGapBefore).has_value());
  CHECK(values.number(known.copy, EventColumn::kGapBefore) == 35 - 30);
  CHECK(values.number(known.second_kernel, EventColumn::kGapBefore) == 60 - 40);
}

TEST_CASE("what the profiler did has no gap in front of it") {
  TraceBuilder builder;
  TrackKey key;
  key.kind = TrackKind::kOverhead;
  key.process = builder.process_of_instance(1);
  key.thread = builder.thread(key.process, 1);
  builder.add(key, {Event{0, 10, builder.intern("Buffer flush"), 0, 0}, Event{5'000, 10, builder.intern("Buffer flush"), 0, 0}});
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const EventRef second{0, 1};
  CHECK_FALSE(values.number(second, EventColumn::kGapBefore).has_value());
  const std::vector<EventRef> sorted =
      sort_events(values, gather_events(*trace, values.scope().lanes(), {}), EventColumn::kGapBefore, SortDirection::kDescending, {});
  CHECK(sorted.size() == 2);
}

TEST_CASE("on a row of kernels alone, the gap is that between kernels") {
  const KnownTrace known;
  const EventValues values(known.trace, EventScope::row({known.second_kernel.lane}));
  CHECK(values.number(known.second_kernel, EventColumn::kGapBefore) == 60 - 30);
}

TEST_CASE("gaps of every event equal what a look at all events of its row finds") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const bool one_row = GENERATE(false, true);
  const EventScope all = EventScope::whole_trace(*trace);
  const EventValues values(trace, one_row ? EventScope::row(all.lanes()) : all);
  for (const EventRef event : gather_events(*trace, all.lanes(), {}))
    REQUIRE(values.number(event, EventColumn::kGapBefore) == gap_by_looking_at_all(values, event));
}

TEST_CASE("the NVTX range of every event equals what a look at all ranges finds") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const EventScope all = EventScope::whole_trace(*trace);
  const EventValues values(trace, all);
  for (const EventRef event : gather_events(*trace, all.lanes(), {})) {
    const auto expected = range_by_looking_at_all(*trace, event);
    const auto found = values.enclosing_range(event);
    REQUIRE(found.has_value() == expected.has_value());
    if (found) REQUIRE(*found == *expected);
  }
}

TEST_CASE("a column read at once equals the column read event by event") {
  const auto trace = random_trace(GENERATE(range(1u, 9u)));
  const EventColumn column = GENERATE(from_range(all_event_columns()));
  const EventScope all = EventScope::whole_trace(*trace);
  const EventValues values(trace, all);
  const std::vector<EventRef> events = gather_events(*trace, all.lanes(), {});
  std::vector<std::int64_t> numbers(events.size());
  ColumnReader(values, column).read(events, numbers);
  const bool is_text = event_column_content(column) == ColumnContent::kText;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_text) {
      REQUIRE(numbers[i] == values.number(events[i], column).value_or(ColumnReader::kMissing));
    } else {
      const std::string text = values.text(events[i], column);
      REQUIRE((numbers[i] == ColumnReader::kMissing) == text.empty());
      if (i > 0) REQUIRE((numbers[i] == numbers[i - 1]) == (text == values.text(events[i - 1], column)));
    }
  }
}

TEST_CASE("copies have the memories that they go between and their throughput, kernels their shared memory") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const GpuId gpu = builder.gpu(Gpu{.name = "NVIDIA H200"});
  TrackKey key{.kind = TrackKind::kMemory, .process = process, .gpu = gpu, .context = 1, .stream = 7};
  const auto copy = [&](MemoryOperation operation, MemoryKind from, MemoryKind to, std::uint64_t bytes) {
    return builder.intern(MemoryDetail{.operation = operation, .source_memory = from, .destination_memory = to, .bytes = bytes});
  };
  builder.add(key, {{0, 1'000, builder.intern("a"), 1, copy(MemoryOperation::kCopy, MemoryKind::kPageable, MemoryKind::kDevice, 50'000)},
                    {2'000, 0, builder.intern("b"), 2, copy(MemoryOperation::kCopy, MemoryKind::kDevice, MemoryKind::kUnknown, 8)},
                    {3'000, 10, builder.intern("c"), 3, copy(MemoryOperation::kSet, MemoryKind::kUnknown, MemoryKind::kDevice, 0)},
                    {4'000, 1, builder.intern("d"), 4, copy(MemoryOperation::kCopy, MemoryKind::kUnknown, MemoryKind::kUnknown, UINT64_MAX)}});
  key.kind = TrackKind::kKernels;
  KernelDetail kernel;
  kernel.grid[0] = kernel.block[0] = 1;
  kernel.static_shared_memory = 1'024;
  kernel.dynamic_shared_memory = 4'096;
  builder.add(key, {{5'000, 10, builder.intern("kernel"), 5, builder.intern(kernel)}});
  const auto trace = builder.snapshot();
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const LaneId kernels = trace->track_of(0).key.kind == TrackKind::kKernels ? 0 : 1;
  const auto text = [&](EventIndex i, EventColumn column) { return values.text({1 - kernels, i}, column); };
  CHECK(text(0, EventColumn::kMemory) == "Pageable → Device");
  CHECK(text(0, EventColumn::kThroughput) == "50000000000");
  CHECK(text(1, EventColumn::kMemory) == "Device → ?");
  CHECK(text(1, EventColumn::kThroughput).empty());  // it took no time
  CHECK(text(2, EventColumn::kMemory) == "Device");
  CHECK(text(2, EventColumn::kThroughput) == "0");
  CHECK(text(3, EventColumn::kMemory).empty());
  CHECK(text(3, EventColumn::kThroughput) == "9000000000000000000");  // nothing has this size
  CHECK(values.text({kernels, 0}, EventColumn::kSharedMemory) == "5120");
  CHECK(text(0, EventColumn::kSharedMemory).empty());
  CHECK(values.text({kernels, 0}, EventColumn::kMemory).empty());
}

TEST_CASE("who holds Python's lock is a kind of its own") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const ThreadId thread = builder.thread(process, 7);
  builder.set_domain(process, 3, kPythonLockDomain);
  builder.add({.kind = TrackKind::kNvtxProcessRanges, .process = process, .thread = thread, .domain = 3}, {{0, 10, builder.intern(kHoldsPythonLock), 0, 0}});
  builder.add({.kind = TrackKind::kNvtxProcessRanges, .process = process, .thread = thread, .domain = 0}, {{0, 10, builder.intern("request"), 0, 0}});
  const auto trace = builder.snapshot();
  const std::vector<LaneId> lanes{0, 1};
  for (const EventKind kind : {EventKind::kPythonLock, EventKind::kNvtxRange}) {
    const std::vector<EventRef> found = gather_events(*trace, lanes, {.kind = kind});
    REQUIRE(found.size() == 1);
    CHECK(event_kind(*trace, found.front()) == kind);
    CHECK((trace->name(trace->event(found.front()).name) == kHoldsPythonLock) == (kind == EventKind::kPythonLock));
  }
  CHECK(event_kind_name(EventKind::kPythonLock) == "Python GIL");
}

// "forward" began at 10 and is known to have lasted 30; now it is 5,000.
TEST_CASE("an open event has lasted until now, for its value and for the order of a list") {
  const KnownTrace known;
  const EventScope scope = EventScope::whole_trace(*known.trace);
  const EventValues values(known.trace, scope, {{known.forward}, 5'000});
  CHECK(values.is_open(known.forward));
  CHECK_FALSE(values.is_open(known.step));
  CHECK(values.number(known.forward, EventColumn::kDuration) == 5'000 - 10);
  CHECK(values.text(known.forward, EventColumn::kDuration) == "4990");
  CHECK(values.number(known.step, EventColumn::kDuration) == 100);
  const std::vector<EventRef> both{known.forward, known.step};
  std::vector<std::int64_t> numbers(2);
  ColumnReader(values, EventColumn::kDuration).read(both, numbers);
  CHECK(numbers == std::vector<std::int64_t>{4'990, 100});
  const EventValues earlier(known.trace, scope, {{known.forward}, 20});  // a clock that is behind what is known of the event
  CHECK(earlier.number(known.forward, EventColumn::kDuration) == 30);
}
