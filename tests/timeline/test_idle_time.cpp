#include <algorithm>
#include <cmath>
#include <random>

#include "model/analysis/idle/idle.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"
#include "timeline/core/lanes/idle_time.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

std::vector<std::shared_ptr<const Trace>> recorded() {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const char* name : {"cuda_streams", "torch_loader_samples", "torch_training_workers0"})
    if (auto trace = load_trace(data_file(std::string(name) + ".trace"))) traces.push_back(*trace);
  REQUIRE(traces.size() == 3);
  return traces;
}

std::string value(const std::vector<Property>& properties, const std::string& label) {
  for (const Property& property : properties)
    if (property.label == label) return property.value;
  return {};
}

std::vector<IdleTime::Stretch> stretches_of(const IdleTime& idle, GpuId gpu, const Viewport& viewport, std::int32_t narrowest) {
  return idle.stretches(gpu, viewport, idle.columns(gpu, viewport), narrowest);
}

}  // namespace

TEST_CASE("a gap lies between two operations of a GPU, whatever streams they are on") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels, 7), {small.event(0, 10, "a"), small.event(100, 110, "c")});
  small.builder.add(small.on_gpu(TrackKind::kKernels, 8), {small.event(30, 40, "b"), small.event(112, 120, "d")});
  const IdleTime idle(small.builder.snapshot(), 5);
  const auto range_at = [&](Nanoseconds time) {
    const auto gap = idle.at(small.gpu, time);
    return gap ? gap->range : TimeRange{};
  };
  CHECK(range_at(5) == TimeRange{});
  CHECK(range_at(10) == TimeRange{10, 30});
  CHECK(range_at(29) == TimeRange{10, 30});
  CHECK(range_at(70) == TimeRange{40, 100});
  CHECK(range_at(111) == TimeRange{});  // below the threshold
  CHECK(range_at(120) == TimeRange{});
  REQUIRE(idle.find({40, 100}));
  CHECK_FALSE(idle.find({40, 99}));

  using enum IdleTime::Direction;
  CHECK(idle.nearest(-1, 0, kNext)->range == TimeRange{10, 30});
  CHECK(idle.nearest(10, 0, kNext)->range == TimeRange{40, 100});
  CHECK(idle.nearest(-1, 21, kNext)->range == TimeRange{40, 100});
  CHECK_FALSE(idle.nearest(40, 0, kNext));
  CHECK(idle.nearest(1'000, 0, kPrevious)->range == TimeRange{40, 100});
  CHECK(idle.nearest(40, 0, kPrevious)->range == TimeRange{10, 30});
  CHECK_FALSE(idle.nearest(10, 0, kPrevious));
}

TEST_CASE("gaps of several GPUs that begin together are told apart, and walked through one after the other") {
  SmallTrace small;
  Gpu description;
  description.name = "another";
  small.builder.set_device(small.process, 1, description);
  const GpuId other = small.builder.gpu_of_device(small.process, 1);
  TrackKey on_other = small.on_gpu(TrackKind::kKernels);
  on_other.gpu = other;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 10, "a"), small.event(50, 60, "b"), small.event(90, 95, "c")});
  small.builder.add(on_other, {small.event(0, 10, "a"), small.event(50, 60, "b"), small.event(80, 95, "c")});
  const IdleTime idle(small.builder.snapshot(), 5);
  CHECK(idle.find({10, 50}, small.gpu)->gpu == small.gpu);
  CHECK(idle.find({10, 50}, other)->gpu == other);
  CHECK_FALSE(idle.find({60, 90}, other));
  using enum IdleTime::Direction;
  std::vector<std::pair<GpuId, Nanoseconds>> forth, back;
  for (std::optional<Gap> gap = idle.nearest(-1, 0, kNext); gap; gap = idle.nearest(*gap, 0, kNext)) forth.emplace_back(gap->gpu, gap->range.end);
  const std::vector<std::pair<GpuId, Nanoseconds>> all{{small.gpu, 50}, {other, 50}, {small.gpu, 90}, {other, 80}};
  CHECK(forth == all);
  for (std::optional<Gap> gap = idle.find({60, 80}, other); gap; gap = idle.nearest(*gap, 0, kPrevious)) back.emplace_back(gap->gpu, gap->range.end);
  CHECK(back == std::vector(all.rbegin(), all.rend()));
  CHECK_FALSE(idle.nearest(*idle.find({10, 50}, other), 41, kNext));
}

TEST_CASE("a gap tells its causes, what ended it, and in which range its thread was") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 1'000, "a", 1), small.event(5'000, 6'000, "b", 2)});
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(-500, -400, "cudaLaunchKernel", 1), small.event(-300, 2'000, "cudaDeviceSynchronize", 9),
                                                           small.event(4'500, 4'900, "cudaLaunchKernel", 2)});
  small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(-1'000, 10'000, "step 1")});
  const IdleTime idle(small.builder.snapshot(), 100);
  const auto gap = idle.find({1'000, 5'000});
  REQUIRE(gap);
  const std::vector<Property> properties = idle.describe(*gap);
  CHECK(properties.front().value.english() == "GPU 0 idle for 4.000 µs");
  CHECK(value(properties, "Ended by") == "b");
  CHECK(value(properties, "NVTX") == "step 1");
  CHECK(value(properties, "Launched by") == "cudaLaunchKernel");
  // The parts add up to the gap.
  const auto causes = idle.causes(gap->range);
  REQUIRE(causes.size() == 1);
  Nanoseconds sum = 0;
  for (const IdleTime::CauseTime& cause : causes.front().second) sum += cause.time;
  CHECK(sum == 4'000);
  CHECK(gap->cause == causes.front().second.front().cause);
}

TEST_CASE("gaps of recordings are those that the analysis finds, with the cause that holds most of each") {
  for (const auto& trace : recorded()) {
    constexpr Nanoseconds kThreshold = 10'000;
    const IdleTime idle(trace, kThreshold);
    const analysis::Bubbles bubbles = analysis::find_bubbles(*trace, kThreshold);
    REQUIRE(!bubbles.bubbles.empty());
    for (const analysis::Bubble& bubble : bubbles.bubbles) {
      const auto gap = idle.at(bubble.gap.gpu, bubble.gap.range.begin);
      REQUIRE(gap);
      CHECK(gap->range == bubble.gap.range);
      CHECK(gap->cause == bubble.main_cause());
      CHECK(idle.find(bubble.gap.range));
    }
  }
}

TEST_CASE("columns hold exactly the idle time of the view, each with the cause that holds most of it") {
  std::mt19937 random(7);
  for (const auto& trace : recorded()) {
    const IdleTime idle(trace, 10'000);
    const analysis::Bubbles bubbles = analysis::find_bubbles(*trace, 10'000);
    const TimeRange extent = trace->extent();
    for (int round = 0; round < 20; ++round) {
      const Nanoseconds length = extent.length() >> (random() % 12);
      const Nanoseconds begin = extent.begin + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length()));
      const Viewport viewport{{begin, begin + length}, 97};
      for (const analysis::GpuIdle& gpu : bubbles.gpus) {
        const std::vector<IdleTime::Column> columns = idle.columns(gpu.gpu, viewport);
        REQUIRE(columns.size() == 97);
        for (std::int32_t x = 0; x < 97; ++x) {
          const TimeRange pixel{viewport.time_at(x), viewport.time_at(x + 1)};
          std::vector<Nanoseconds> times(analysis::kIdleCauses);
          for (const analysis::Bubble& bubble : bubbles.bubbles)
            if (bubble.gap.gpu == gpu.gpu)
              for (const analysis::IdlePart& part : bubble.parts) times[static_cast<std::size_t>(part.cause)] += part.range.intersected(pixel).length();
          Nanoseconds sum = 0;
          for (const Nanoseconds time : times) sum += time;
          const auto& column = columns[static_cast<std::size_t>(x)];
          CHECK(std::llround(column.share * static_cast<double>(pixel.length())) == sum);
          const Nanoseconds most = *std::max_element(times.begin(), times.end());
          if (most * 2 > sum) CHECK(times[static_cast<std::size_t>(column.cause)] == most);
        }
      }
    }
  }
}

TEST_CASE("each stretch of a gap is named by its own cause, which short parts of others do not end") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 1'000, "a", 1), small.event(5'000, 6'000, "b", 2), small.event(6'100, 7'000, "c", 2)});
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(-500, -400, "cudaLaunchKernel", 1), small.event(-300, 2'000, "cudaDeviceSynchronize", 9),
                                                           small.event(3'000, 3'050, "cudaMalloc", 8), small.event(4'500, 5'000, "cudaLaunchKernel", 2)});
  const IdleTime idle(small.builder.snapshot(), 50);
  using analysis::IdleCause;
  const Viewport viewport{{1'000, 9'000}, 800};  // 10 ns per pixel: the gap is [0, 400)
  const std::vector<IdleTime::Stretch> stretches = stretches_of(idle, small.gpu, viewport, 30);
  REQUIRE(stretches.size() == 3);
  CHECK(stretches[0] == IdleTime::Stretch{0, 100, IdleCause::kSynchronize});
  CHECK(stretches[1] == IdleTime::Stretch{100, 350, IdleCause::kCpuCode});
  CHECK(stretches[2] == IdleTime::Stretch{350, 400, IdleCause::kSynchronize});  // the launch could not hide behind work: the wait had let all work end
  // If the view starts in the middle of the gap's first part, the gap is not named after parts out of sight.
  CHECK(stretches_of(idle, small.gpu, {{1'000, 2'000}, 600}, 30) == std::vector{IdleTime::Stretch{0, 600, IdleCause::kSynchronize}});
  // If no cause has enough room, the gap is drawn with its main cause; a narrower gap has no cause.
  CHECK(stretches_of(idle, small.gpu, viewport, 300) == std::vector{IdleTime::Stretch{0, 400, IdleCause::kCpuCode}});
  CHECK(stretches_of(idle, small.gpu, viewport, 401).empty());
}
