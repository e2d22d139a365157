#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "model/trace/combining/combine.h"
#include "support/catch.h"
#include "timeline/core/navigation.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/words/describe.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::SmallTrace;

namespace {

LaneId lane_of(const Trace& trace, TrackKind kind, std::size_t depth = 0) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind) return track.lanes.at(depth);
  return kNone;
}

std::string value_of(const std::vector<Property>& properties, const std::string& label) {
  const auto found = std::find_if(properties.begin(), properties.end(), [&](const Property& property) { return property.label == label; });
  return found == properties.end() ? "(absent)" : found->value;
}

// A kernel and a copy, each with the call that launched it, inside a range.
struct Launches : SmallTrace {
  Launches() {
    KernelDetail kernel;
    kernel.short_name = builder.intern("gemm");
    kernel.grid[0] = 128, kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256, kernel.block[1] = kernel.block[2] = 1;
    kernel.registers_per_thread = 64;
    kernel.dynamic_shared_memory = 48 << 10;
    builder.add(on_gpu(TrackKind::kKernels), {event(5'000, 9'000, "void gemm<float>(float*, int)", 11, builder.intern(kernel))});
    builder.add(on_gpu(TrackKind::kMemory), {copy(10'000, 11'000, CopyKind::kHostToDevice, 1'000'000, 12)});
    builder.add(on_thread(TrackKind::kCudaApi), {event(1'000, 2'000, "cudaLaunchKernel_v7000", 11), event(3'000, 4'000, "cudaMemcpyAsync_v3020", 12),
                                                 event(4'500, 4'600, "cudaEventRecord", 13)});
    const std::vector<Event> ranges{event(500, 20'000, "step 12"), event(900, 2'500, "forward")};
    const std::vector<std::uint32_t> depths{0, 1};
    builder.add(on_thread(TrackKind::kNvtxRanges), ranges, depths);
    trace = builder.snapshot();
    kernel_event = {lane_of(*trace, TrackKind::kKernels), 0};
    copy_event = {lane_of(*trace, TrackKind::kMemory), 0};
    launch_event = {lane_of(*trace, TrackKind::kCudaApi), 0};
  }
  std::shared_ptr<const Trace> trace;
  EventRef kernel_event;
  EventRef copy_event;
  EventRef launch_event;
};

}  // namespace

TEST_CASE("the selected event leads to its launch and back") {
  const Launches small;
  REQUIRE(correlated_events(*small.trace, small.kernel_event) == std::vector{small.launch_event});
  REQUIRE(correlated_events(*small.trace, small.launch_event) == std::vector{small.kernel_event});
  REQUIRE(correlated_events(*small.trace, {small.launch_event.lane, 2}).empty());
}

TEST_CASE("neighbours are found along the lane and along the nesting") {
  const Launches small;
  const EventRef second{small.launch_event.lane, 1};
  REQUIRE(neighbour(*small.trace, small.launch_event, Neighbour::kNext) == second);
  REQUIRE(neighbour(*small.trace, second, Neighbour::kPrevious) == small.launch_event);
  REQUIRE_FALSE(neighbour(*small.trace, small.launch_event, Neighbour::kPrevious));
  const EventRef step{lane_of(*small.trace, TrackKind::kNvtxRanges, 0), 0};
  const EventRef forward{lane_of(*small.trace, TrackKind::kNvtxRanges, 1), 0};
  REQUIRE(neighbour(*small.trace, step, Neighbour::kInner) == forward);
  REQUIRE(neighbour(*small.trace, forward, Neighbour::kOuter) == step);
  REQUIRE_FALSE(neighbour(*small.trace, step, Neighbour::kOuter));
}

// Kernels of a stream, and ranges that start and end anywhere, lie on adjacent lanes if they overlap.
TEST_CASE("what overlaps an event without holding it does not enclose it") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 20, "a"), small.event(5, 9, "b"), small.event(6, 18, "c"), small.event(10, 30, "d")});
  const auto trace = small.builder.snapshot();
  std::map<std::string, EventRef> by_name;
  for (LaneId lane = 0; lane < trace->lanes().size(); ++lane)
    for (EventIndex i = 0; i < trace->lane(lane).size(); ++i) by_name[std::string(trace->name(trace->lane(lane).name(i)))] = {lane, i};
  REQUIRE(by_name["c"].lane == 2);
  CHECK(neighbour(*trace, by_name["c"], Neighbour::kOuter) == by_name["a"]);  // past b, which ends before it
  CHECK_FALSE(neighbour(*trace, by_name["d"], Neighbour::kOuter));
  CHECK(neighbour(*trace, by_name["a"], Neighbour::kInner) == by_name["b"]);
  CHECK_FALSE(neighbour(*trace, by_name["d"], Neighbour::kInner));
}

TEST_CASE("the next event of the same name is found past others") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 1, "a"), small.event(2, 3, "b"), small.event(4, 5, "a"), small.event(6, 7, "b")});
  const auto trace = small.builder.snapshot();
  REQUIRE(neighbour(*trace, {0, 0}, Neighbour::kNextOfSameName) == EventRef{0, 2});
  REQUIRE(neighbour(*trace, {0, 3}, Neighbour::kPreviousOfSameName) == EventRef{0, 1});
  REQUIRE_FALSE(neighbour(*trace, {0, 2}, Neighbour::kNextOfSameName));
}

TEST_CASE("an event is found again when late events moved it") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(100, 110, "a"), small.event(200, 210, "b")});
  const auto before = small.builder.snapshot();
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(50, 60, "late")});
  const auto after = small.builder.snapshot();
  const EventRef moved = find_again(*before, {0, 1}, *after);
  REQUIRE(after->event(moved) == before->event({0, 1}));
  REQUIRE(moved.index == 2);
}

TEST_CASE("an event is found again among others that begin with it, and where its trace was shifted along another") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kNvtxMarks), {small.event(100, 100, "a"), small.event(100, 100, "b")});
  const auto marks = small.builder.snapshot();
  small.builder.add(small.on_thread(TrackKind::kNvtxMarks), {small.event(50, 50, "late"), small.event(100, 100, "c")});
  const auto later = small.builder.snapshot();
  for (LaneId lane = 0; lane < marks->lanes().size(); ++lane)
    for (EventIndex i = 0; i < marks->lane(lane).size(); ++i) REQUIRE(later->event(find_again(*marks, {lane, i}, *later)) == marks->event({lane, i}));
  REQUIRE_FALSE(find_again(*marks, {0, 0}, *SmallTrace().builder.snapshot()).valid());

  const auto combined = [&](Nanoseconds shift) { return combine_traces(std::array{TraceSource{marks, "A"}, TraceSource{marks, "B", shift}}); };
  const auto before = combined(0), after = combined(1'000);
  const EventRef of_second{before->tracks()[before->parts()[1].first_track].lanes.front(), 0};
  const EventRef found = find_again(*before, of_second, *after);
  REQUIRE(found == of_second);
  REQUIRE(after->event(found).start == 1'100);
}

TEST_CASE("a kernel is described with its launch, its shape and what limits it") {
  const Launches small;
  const auto properties = describe_event(*small.trace, small.kernel_event);
  REQUIRE(properties.front().value.english() == "void gemm<float>(float*, int)");
  REQUIRE(value_of(properties, "Duration") == "4.000 µs");
  REQUIRE(value_of(properties, "Grid") == "<<<128, 1, 1>>>");
  REQUIRE(value_of(properties, "Block") == "<<<256, 1, 1>>>");
  REQUIRE(value_of(properties, "Registers per thread") == "64");
  REQUIRE(value_of(properties, "Dynamic shared memory") == "48.00 KiB");
  // 233 472 B of shared memory hold 4 blocks of 49 152 + 1 024 B, with 8 warps each: 32 of 64 warps.
  REQUIRE(value_of(properties, "Theoretical occupancy") == "50.0 %");
  REQUIRE(value_of(properties, "Blocks a multiprocessor") == "4, limited by registers and shared memory");
  REQUIRE(value_of(properties, "Launched by") == "cudaLaunchKernel");
  REQUIRE(value_of(properties, "Launch latency") == "4.000 µs");
  REQUIRE(value_of(properties, "NVTX") == "step 12 › forward");
  REQUIRE(value_of(properties, "Stream") == "7");
  REQUIRE(value_of(properties, "Correlation") == "11");
  REQUIRE(value_of(properties, "Last warp of a block") == "(absent)");
}

TEST_CASE("a block of no whole warps is described with what its last warp has") {
  SmallTrace small;
  KernelDetail kernel;
  kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
  kernel.block[0] = 10, kernel.block[1] = 10, kernel.block[2] = 1;  // 100 threads: three warps, and 4 threads
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(5'000, 9'000, "k", 11, small.builder.intern(kernel))});
  const auto trace = small.builder.snapshot();
  REQUIRE(value_of(describe_event(*trace, {lane_of(*trace, TrackKind::kKernels), 0}), "Last warp of a block") == "4 of 32 threads");
}

TEST_CASE("a copy is described with its size, speed and kinds of memory") {
  const Launches small;
  const auto properties = describe_event(*small.trace, small.copy_event);
  REQUIRE(value_of(properties, "Size") == "976.56 KiB (1,000,000 B)");
  REQUIRE(value_of(properties, "Throughput") == "1000.00 GB/s");
  REQUIRE(value_of(properties, "Source memory") == "Pageable");
  REQUIRE(value_of(properties, "Destination memory") == "Device");
  REQUIRE(value_of(properties, "Grid") == "(absent)");
}

TEST_CASE("data of a range is shown field by field, and says why where nobody knows the fields") {
  const auto described = [](const std::string& data) {
    SmallTrace small;
    NvtxDetail detail;
    detail.payload_json = small.builder.intern(data);
    small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(0, 10, "range", 0, small.builder.intern(detail))});
    const auto trace = small.builder.snapshot();
    return describe_event(*trace, {lane_of(*trace, TrackKind::kNvtxRanges), 0});
  };
  const auto known = described(R"({"Message size [bytes]":4096})");
  REQUIRE(value_of(known, "Message size [bytes]") == "4096");
  REQUIRE(value_of(known, "Fields of its data") == "(absent)");
  const auto unknown = described(R"({"schema":16777221,"size":4,"bytes":"01000000"})");
  REQUIRE(value_of(unknown, "bytes") == "01000000");
  REQUIRE(value_of(unknown, "Fields of its data") == "unknown: they were described before the recording began, or never");
}

TEST_CASE("labels are short where descriptions are whole") {
  const Launches small;
  REQUIRE(event_label(*small.trace, TrackKind::kKernels, small.trace->event(small.kernel_event)) == "gemm");
  REQUIRE(event_label(*small.trace, TrackKind::kMemory, small.trace->event(small.copy_event)) == "HtoD");
  REQUIRE(event_label(*small.trace, TrackKind::kCudaApi, small.trace->event(small.launch_event)) == "cudaLaunchKernel");
  REQUIRE(compact_kernel_name("void f<(int)4, g(int)>(int*, float)") == "f<(int)4, g>");
  REQUIRE(compact_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
                              ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)") ==
          "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul> >");
  REQUIRE(compact_kernel_name("void (anonymous namespace)::f<a::(anonymous namespace)::B>(int)") == "f<B>");
  REQUIRE(compact_kernel_name("void c::each<c::step(bool, c::Buffer<double> &)::[lambda(int, int) (instance 1)]>(int)") == "each<step::[lambda (instance 1)]>");
  REQUIRE(compact_kernel_name("void sort<cub::Policy<int>::Large, (bool)0>(int*)") == "sort<Policy<int>::Large, (bool)0>");
  REQUIRE(compact_kernel_name("void sort(") == "sort");
  REQUIRE(compact_kernel_name("()") == "()");
  REQUIRE(compact_kernel_name("sm80_xmma_gemm") == "sm80_xmma_gemm");
}

TEST_CASE("kernels whose compact names are the same keep what tells them apart") {
  const std::vector<std::string_view> names{"void a::scale<float>(float*)", "void b::scale<float>(float*)", "void a::sum(int)",
                                            "void a::sum(float)",           "void c::only<a::Part>(int)",   "plain",
                                            "Memcpy HtoD (Pageable)"};
  REQUIRE(distinct_kernel_names(names) ==
          std::vector<std::string>{"a::scale<float>", "b::scale<float>", "a::sum(int)", "a::sum(float)", "only<Part>", "plain", "Memcpy HtoD (Pageable)"});
  REQUIRE(distinct_kernel_names({}).empty());
}

TEST_CASE("colours tell the kinds of work apart, in light and in dark") {
  for (const ColorScheme scheme : {ColorScheme::kLight, ColorScheme::kDark}) {
    const auto channel = [](Rgb color, unsigned shift) { return (color >> shift) & 0xff; };
    const Rgb kernel = event_color(TrackKind::kKernels, "gemm", 0, scheme);
    const Rgb to_device = event_color(TrackKind::kMemory, "[CUDA memcpy Host-to-Device]", 0, scheme);
    const Rgb to_host = event_color(TrackKind::kMemory, "[CUDA memcpy Device-to-Host]", 0, scheme);
    REQUIRE(channel(kernel, 0) > channel(kernel, 16));        // blue
    REQUIRE(channel(to_device, 8) > channel(to_device, 16));  // green
    REQUIRE(channel(to_device, 8) > channel(to_device, 0));
    REQUIRE(channel(to_host, 16) > channel(to_host, 8));  // red
    REQUIRE(event_color(TrackKind::kNvtxRanges, "step 1", 0, scheme) == event_color(TrackKind::kNvtxRanges, "step 22", 0, scheme));
  }
  REQUIRE(text_color_on(0xffffffffu) != text_color_on(0xff000000u));
  REQUIRE(contrast(0xff000000u, 0xffffffffu) == Approx(21));  // values of WCAG
  REQUIRE(contrast(0xff777777u, 0xffffffffu) == Approx(4.48).margin(0.005));
  for (Rgb color = 0; color < 0x1000000; color += 0x010307) REQUIRE(contrast(text_color_on(color), color) >= 4.5);
  REQUIRE(blend(0xff000000u, 0xffffffffu, 0) == 0xff000000u);
  REQUIRE(blend(0xff000000u, 0xffffffffu, 1) == 0xffffffffu);
}
