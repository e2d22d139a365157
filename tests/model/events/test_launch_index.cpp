#include "model/events/launch_index.h"

#include <random>

#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("the index finds the call that the trace finds one by one, where correlation ids come round again") {
  const auto seed = GENERATE(range(1u, 20u));
  std::mt19937 random(seed);
  TraceBuilder builder;
  const std::uint32_t spread = seed % 2 == 0 ? 1 : 100'000;  // sparse ids are stored in another way
  for (std::uint32_t instance = 1; instance <= 2; ++instance) {
    const ProcessId process = builder.process_of_instance(instance);
    TrackKey kernels{TrackKind::kKernels, process};
    kernels.gpu = 0;
    for (std::uint32_t tid = 1; tid <= 2; ++tid) {
      TrackKey calls{TrackKind::kCudaApi, process};
      calls.thread = builder.thread(process, tid);
      for (Nanoseconds i = 0; i < 200; ++i) {
        const Nanoseconds start = i * 1'000 + static_cast<Nanoseconds>(random() % 300);
        const std::uint32_t id = (1 + random() % 100) * spread;
        builder.add(calls, {{start, 500, 0, id, 0}, {start + 100, 200, 0, id, 0}});  // a call, and the driver's call within it
      }
    }
    for (Nanoseconds i = 0; i < 500; ++i) {
      const std::uint32_t id = (1 + random() % 110) * spread;
      builder.add(kernels, {{i * 400 + static_cast<Nanoseconds>(random() % 100), 50, 0, id, 0}});
    }
  }
  const auto trace = builder.snapshot();
  // The whole index, or slices, of which two are kept.
  const LaunchIndex index = seed % 3 == 0 ? LaunchIndex(*trace, {.whole_bytes = 0, .slice_ids = 50, .slice_bytes = 1'000}) : LaunchIndex(*trace);
  for (ProcessId process = 0; process < 2; ++process) {
    for (const TrackId track : trace->tracks_of(process, TrackKind::kKernels)) {
      for (const LaneId id : trace->tracks()[track].lanes) {
        const Lane& lane = trace->lane(id);
        for (EventIndex i = 0; i < lane.size(); ++i) {
          const std::optional<EventRef> launch = trace->launch_of({id, i});
          const EventRef found = index.find(process, lane.correlation(i), lane.start(i));
          REQUIRE(found.valid() == launch.has_value());
          if (launch) {
            REQUIRE(launch_distance(trace->event(found).start, lane.start(i)) == launch_distance(trace->event(*launch).start, lane.start(i)));
            REQUIRE(trace->event(found).duration == 500);  // the outer call
          }
        }
      }
    }
  }
}

TEST_CASE("what an index keeps of many calls does not grow with them, and it finds each") {
  constexpr std::uint32_t kTurns = 300'000, kThreads = 2, kSliceIds = 1u << 14;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::vector<TrackKey> keys;
  for (std::uint32_t tid = 1; tid <= kThreads; ++tid) {
    keys.push_back({TrackKind::kCudaApi, process});
    keys.back().thread = builder.thread(process, tid);
    std::vector<Event> calls;
    for (std::uint32_t turn = 0; turn < kTurns; ++turn) calls.push_back({Nanoseconds{turn} * 100 + tid, 50, 0, turn * kThreads + tid, 0});
    builder.add(keys.back(), std::move(calls));
  }
  const auto trace = builder.snapshot();
  const LaunchIndex sliced(*trace, {.whole_bytes = 0, .slice_ids = kSliceIds, .slice_bytes = 4 * 8 * 4 * kSliceIds});
  std::uint64_t most = 0;
  for (std::uint32_t turn = 0; turn < kTurns; ++turn)
    for (std::uint32_t tid = 1; tid <= kThreads; ++tid) {
      const EventRef found = sliced.find(process, turn * kThreads + tid, Nanoseconds{turn} * 100 + 70);
      if (!found.valid() || found.index != turn || trace->track_of(found.lane).key.thread != keys[tid - 1].thread) FAIL("another call");
      if (turn % 1'000 == 0) most = std::max(most, sliced.memory_bytes());
    }
  CHECK_FALSE(sliced.find(process, kTurns * kThreads + 1, 0).valid());
  // The ids in the segments of each thread span twice as many ids, so slices are larger than requested; the whole index would take 4.8 MB.
  CHECK(most > 0);
  CHECK(most <= 4 * 8 * 4 * kSliceIds);
  CHECK(LaunchIndex(*trace).memory_bytes() == 8 * kTurns * kThreads);
}

TEST_CASE("what indexes of several processes may take is for all of them together") {
  constexpr std::uint32_t kCalls = 100'000, kProcesses = 3;
  TraceBuilder builder;
  for (std::uint32_t instance = 1; instance <= kProcesses; ++instance) {
    const ProcessId process = builder.process_of_instance(instance);
    TrackKey key{TrackKind::kCudaApi, process};
    key.thread = builder.thread(process, instance);
    std::vector<Event> calls;
    for (std::uint32_t i = 0; i < kCalls; ++i) calls.push_back({Nanoseconds{i} * 100, 50, 0, i + 1, 0});
    builder.add(key, std::move(calls));
  }
  const auto trace = builder.snapshot();
  const LaunchIndex index(*trace, {.whole_bytes = 8 * kCalls, .slice_ids = 1u << 15, .slice_bytes = 8u << 15});  // one segment, and a slice
  for (ProcessId process = 0; process < kProcesses; ++process)
    for (std::uint32_t i = 0; i < kCalls; ++i)
      if (const EventRef found = index.find(process, i + 1, Nanoseconds{i} * 100 + 60); !found.valid() || found.index != i) FAIL("another call");
  CHECK(index.memory_bytes() <= 8 * (kCalls + (1u << 15)));
}
