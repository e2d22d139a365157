// Recordings from a GPU agree with the programs: every fact here is stated in the program's source.
#include <map>
#include <set>

#include "cuda_streams_facts.h"
#include "model/trace/load.h"
#include "model/trace/trace.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::shared_ptr<const Trace> recorded(const std::string& name) {
  auto trace = load_trace(test::data_file(name + ".trace"));
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

template <typename Use>
void for_each_event(const Trace& trace, TrackKind kind, Use use) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) use(track, EventRef{id, i}, trace.lane(id).event(i));
  }
}

std::size_t count(const Trace& trace, TrackKind kind, std::string_view name) {
  std::size_t events = 0;
  for_each_event(trace, kind, [&](const Track&, EventRef, const Event& event) { events += api_display_name(trace.name(event.name)) == name ? 1 : 0; });
  return events;
}

// Streams, as (context, id), on which a GPU worked.
std::set<std::pair<std::uint32_t, std::uint32_t>> busy_streams(const Trace& trace) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> streams;
  for (const Track& track : trace.tracks())
    if (is_gpu_work(track.key.kind)) streams.insert({track.key.context, track.key.stream});
  return streams;
}

// The only NVTX range with this name.
Event range_named(const Trace& trace, std::string_view name) {
  Event found;
  for_each_event(trace, TrackKind::kNvtxRanges, [&](const Track&, EventRef, const Event& event) {
    if (trace.name(event.name) == name) found = event;
  });
  REQUIRE(found.duration > 0);
  return found;
}

}  // namespace

TEST_CASE("every launch, copy and set of cuda_streams is there, with its size and kind of memory") {
  using namespace programs::cuda_streams;
  const auto trace = recorded("cuda_streams");
  CHECK(trace->provenance().finished);
  CHECK(trace->provenance().condition.empty());
  REQUIRE(trace->processes().size() == 1);
  const Process& process = trace->processes()[0];
  CHECK(process.completeness.dropped == 0);
  CHECK(process.end_kind == ProcessEndKind::kExited);
  CHECK(process.exit_code == 0);
  REQUIRE(trace->gpus().size() == 1);
  CHECK(trace->gpus()[0].name == "NVIDIA H200");
  CHECK(trace->gpus()[0].compute_major == 9);

  std::map<std::uint32_t, int> scales, reduces;  // by stream
  for_each_event(*trace, TrackKind::kKernels, [&](const Track& track, EventRef, const Event& event) {
    const KernelDetail& detail = trace->kernel_detail(event.detail);
    if (trace->name(detail.short_name) == "scale") {
      ++scales[track.key.stream];
      CHECK(detail.grid[0] == kBlocks);
      CHECK(detail.block[0] == kThreadsPerBlock);
    } else {
      CHECK(trace->name(detail.short_name) == "reduce");
      ++reduces[track.key.stream];
      CHECK(detail.grid[0] == kBigBlocks);
      CHECK(detail.block[0] == kBigThreadsPerBlock);
      CHECK(detail.dynamic_shared_memory == kReduceSharedBytes);
    }
    CHECK(event.duration > 0);
  });
  REQUIRE(scales.size() == kStreams);
  for (const auto& [stream, launches] : scales) CHECK(launches == kDefaultLaunches / kStreams);
  REQUIRE(reduces.size() == kStreams);
  for (const auto& [stream, launches] : reduces) CHECK(launches == 1);

  int pinned_in = 0, pinned_out = 0, pageable_in = 0, pageable_out = 0, on_device = 0, sets = 0;
  for_each_event(*trace, TrackKind::kMemory, [&](const Track&, EventRef, const Event& event) {
    const MemoryDetail& detail = trace->memory_detail(event.detail);
    if (detail.operation == MemoryOperation::kSet) {
      ++sets;
      CHECK(detail.bytes == kSetBytes);
      CHECK(detail.value == kSetValue);
      return;
    }
    const bool in = detail.copy_kind == CopyKind::kHostToDevice;
    const MemoryKind host = in ? detail.source_memory : detail.destination_memory;
    if (detail.copy_kind == CopyKind::kDeviceToDevice) {
      ++on_device;
      CHECK(detail.bytes == kPinnedBytes);
    } else if (host == MemoryKind::kPinned) {
      ++(in ? pinned_in : pinned_out);
      CHECK(detail.bytes == kPinnedBytes);
    } else {
      CHECK(host == MemoryKind::kPageable);
      ++(in ? pageable_in : pageable_out);
      CHECK(detail.bytes == kPageableBytes);
    }
  });
  CHECK(pinned_in == kPinnedCopies * kStreams);
  CHECK(pinned_out == kPinnedCopies * kStreams);
  CHECK(pageable_in == kPageableCopies);
  CHECK(pageable_out == kPageableCopies);
  CHECK(on_device == kDeviceCopies * kStreams);
  CHECK(sets == kSets * kStreams);

  CHECK(count(*trace, TrackKind::kCudaApi, "cudaLaunchKernel") == kDefaultLaunches + kStreams);
  CHECK(count(*trace, TrackKind::kCudaApi, "cudaMemcpy") == 2 * kPageableCopies);
  CHECK(count(*trace, TrackKind::kCudaApi, "cudaMemcpyAsync") == (2 * kPinnedCopies + kDeviceCopies) * kStreams);
  CHECK(count(*trace, TrackKind::kCudaApi, "cudaMemsetAsync") == kSets * kStreams);
}

TEST_CASE("each GPU operation of cuda_streams comes after the call that launched it, on a thread that says its name") {
  const auto trace = recorded("cuda_streams");
  std::size_t operations = 0;
  for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory})
    for_each_event(*trace, kind, [&](const Track&, EventRef ref, const Event& event) {
      const auto launch = trace->launch_of(ref);
      REQUIRE(launch);
      CHECK(trace->event(*launch).start < event.end());
      const auto work = trace->work_of(*launch);
      REQUIRE(work.size() == 1);
      CHECK(work[0] == ref);
      const Thread& thread = trace->threads()[trace->track_of(launch->lane).key.thread];
      if (kind == TrackKind::kKernels) CHECK((thread.name == "driver 0" || thread.name == "driver 1"));
      ++operations;
    });
  CHECK(operations == 2'044);
}

TEST_CASE("NVTX ranges of cuda_streams nest as the program nests them, and one crosses threads") {
  const auto trace = recorded("cuda_streams");
  std::map<std::string, std::pair<int, std::size_t>> seen;  // name: count, depth
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (std::size_t depth = 0; depth < track.lanes.size(); ++depth)
      for (EventIndex i = 0; i < trace->lane(track.lanes[depth]).size(); ++i) {
        auto& [times, at] = seen[std::string(trace->name(trace->lane(track.lanes[depth]).name(i)))];
        ++times;
        at = depth;
      }
  }
  const std::map<std::string, std::pair<int, std::size_t>> expected{
      {"set-up", {1, 0}}, {"driver 0", {1, 0}}, {"driver 1", {1, 0}}, {"move data", {4, 1}}, {"launches", {2, 1}}};
  CHECK(seen == expected);
  int crossing = 0;
  for_each_event(*trace, TrackKind::kNvtxProcessRanges, [&](const Track& track, EventRef, const Event& event) {
    CHECK(trace->name(event.name) == "handed over");
    const NvtxDetail& detail = trace->nvtx_detail(event.detail);
    REQUIRE(detail.end_thread != kNone);
    CHECK(trace->threads()[detail.end_thread].name == "driver 0");
    CHECK(detail.end_thread != track.key.thread);
    ++crossing;
  });
  CHECK(crossing == 1);
}

TEST_CASE("the stream bug shows as two busy streams, not five") {
  CHECK(busy_streams(*recorded("numba_streams")).size() == 5);
  CHECK(busy_streams(*recorded("numba_streams_bug")).size() == 2);
}

TEST_CASE("with loader workers the GPU idles for a smaller share of the steps") {
  const auto idle_share = [](const Trace& trace) {
    const TimeRange steps{range_named(trace, "step 2").start, range_named(trace, "step 19").end()};
    // Work of one GPU, with streams combined, as consecutive intervals.
    std::vector<TimeRange> intervals;
    for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory})
      for_each_event(trace, kind, [&](const Track&, EventRef, const Event& event) {
        const TimeRange clipped = TimeRange{event.start, event.end()}.intersected(steps);
        if (!clipped.empty()) intervals.push_back(clipped);
      });
    std::sort(intervals.begin(), intervals.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
    Nanoseconds busy = 0, covered = steps.begin;
    for (const TimeRange& interval : intervals) {
      busy += std::max<Nanoseconds>(0, interval.end - std::max(covered, interval.begin));
      covered = std::max(covered, interval.end);
    }
    return 1.0 - static_cast<double>(busy) / static_cast<double>(steps.length());
  };
  const double alone = idle_share(*recorded("torch_training_workers0"));
  const double with_workers = idle_share(*recorded("torch_training_workers4"));
  INFO("idle with no workers " << alone << ", with four " << with_workers);
  CHECK(alone > 0.9);  // the transform takes 12.8 ms for a batch, the GPU less than 1 ms
  CHECK(with_workers < alone);
}

TEST_CASE("one training step has the kernels that torch.profiler counted") {
  const auto trace = recorded("torch_training_workers0");
  const Event step = range_named(*trace, "step 3");
  std::size_t kernels = 0;
  for_each_event(*trace, TrackKind::kKernels,
                 [&](const Track&, EventRef, const Event& event) { kernels += event.start >= step.start && event.end() <= step.end() ? 1 : 0; });
  CHECK(kernels == 46);
}

TEST_CASE("every kernel of a replayed graph belongs to the call that launched the graph") {
  const auto trace = recorded("torch_graph");
  constexpr std::size_t kReplays = 50;
  std::set<std::size_t> kernels_of_a_replay;
  std::size_t launches = 0, graph_kernels = 0;
  for_each_event(*trace, TrackKind::kCudaApi, [&](const Track& track, EventRef ref, const Event& event) {
    if (trace->name(event.name).find("cudaGraphLaunch") == std::string_view::npos) return;
    const auto work = trace->work_of(ref);
    std::set<std::uint64_t> nodes;
    for (const EventRef each : work) nodes.insert(trace->kernel_detail(trace->event(each).detail).graph_node);
    CHECK(nodes.size() == work.size());  // each node runs once for each launch
    CHECK(nodes.count(0) == 0);
    kernels_of_a_replay.insert(work.size());
    const auto stack = trace->nvtx_stack(track.key.thread, event.start);
    REQUIRE(stack.size() == 1);
    CHECK(trace->name(trace->event(stack[0]).name) == "replay " + std::to_string(launches));
    ++launches;
  });
  CHECK(launches == kReplays);
  REQUIRE(kernels_of_a_replay.size() == 1);
  for_each_event(*trace, TrackKind::kKernels,
                 [&](const Track&, EventRef, const Event& event) { graph_kernels += trace->kernel_detail(event.detail).graph_node != 0 ? 1 : 0; });
  CHECK(graph_kernels == kReplays * *kernels_of_a_replay.begin());
}
