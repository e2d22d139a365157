#include <algorithm>
#include <random>
#include <string_view>

#include "model/import/open_trace.h"
#include "model/trace/combining/combine.h"
#include "support/catch.h"
#include "support/paths.h"
#include "timeline/core/lanes/communication_time.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

// Two GPUs of one process, each a rank. The first comes to its collective at 100 µs, the second at 700 µs, and the transfer takes 100 µs. On another stream of
// the first GPU, a kernel computes from 200 to 500 µs.
struct TwoRanks : SmallTrace {
  TwoRanks() {
    Gpu description;
    description.name = "NVIDIA H200";
    description.ordinal = 1;
    builder.set_device(process, 1, description);
    second = builder.gpu_of_device(process, 1);
    builder.add(on_gpu(TrackKind::kKernels, 7), {event(0, 90'000, "gemm"), event(100'000, 800'000, kReduce)});
    builder.add(on_gpu(TrackKind::kKernels, 8), {event(200'000, 500'000, "gemm")});
    TrackKey other = on_gpu(TrackKind::kKernels, 9);
    other.gpu = second;
    builder.add(other, {event(0, 690'000, "gemm"), event(700'000, 800'000, kReduce)});
    trace = builder.snapshot();
    time = CommunicationTime(*trace);
  }
  [[nodiscard]] const Row& row(RowKind kind, std::string_view title = {}) const {
    for (const Row& each : tree().rows())
      if (each.kind == kind && (title.empty() || each.label.english() == title)) return each;
    FAIL("no such row");
    return tree().rows().front();
  }
  [[nodiscard]] const RowTree& tree() const {
    if (!tree_) tree_ = std::make_unique<RowTree>(*trace);
    return *tree_;
  }

  GpuId second = kNone;
  std::shared_ptr<const Trace> trace;
  CommunicationTime time;

 private:
  mutable std::unique_ptr<RowTree> tree_;
};

}  // namespace

TEST_CASE("a collective waits until the last rank has come; a row waits where nothing else runs on it") {
  const TwoRanks ranks;
  REQUIRE(ranks.time.has_waits());
  const TimeRange all{0, 1'000'000};
  CHECK(ranks.time.waited(ranks.row(RowKind::kStream, "Stream 7").all, all) == 600'000);
  CHECK(ranks.time.waited(ranks.row(RowKind::kGpuHardware).all, all) == 300'000);  // except the time that the gemm takes meanwhile
  CHECK(ranks.time.waited(ranks.row(RowKind::kKernels).all, all) == 300'000);
  CHECK(ranks.time.waited(ranks.row(RowKind::kStream, "Stream 8").all, all) == 0);
  CHECK(ranks.time.waited(ranks.row(RowKind::kStream, "Stream 9").all, all) == 0);  // it came last
  CHECK(ranks.time.waited(ranks.row(RowKind::kGpuHardware).all, {150'000, 600'000}) == 50'000 + 100'000);

  const auto gpus = ranks.time.within(all);
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].communicated == 700'000);
  CHECK(gpus[0].alone == 400'000);
  CHECK(gpus[0].waited == 300'000);
  CHECK(gpus[1].communicated == 100'000);
  CHECK(gpus[1].alone == 100'000);
  CHECK(gpus[1].waited == 0);
}

TEST_CASE("the wait is the beginning of its kernel") {
  const TwoRanks ranks;
  const LaneId lane = ranks.row(RowKind::kStream, "Stream 7").all.front().lane;
  CHECK(ranks.time.wait_of(lane, 100'000) == TimeRange{100'000, 700'000});
  CHECK_FALSE(ranks.time.wait_of(lane, 0));
  CHECK_FALSE(ranks.time.wait_of(lane, 99'999));
  CHECK_FALSE(CommunicationTime().wait_of(lane, 100'000));
}

TEST_CASE("a program without communication has no times of it") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 10, "gemm")});
  const auto trace = small.builder.snapshot();
  const CommunicationTime time(*trace);
  CHECK_FALSE(time.has_waits());
  CHECK(time.within({0, 100}).empty());
  CHECK(time.waiting_columns(RowTree(*trace).rows().front().all, {{0, 100}, 10}).empty());
}

TEST_CASE("two runs that are laid over each other to be compared do not wait for each other") {
  const auto run = [](Nanoseconds begin, std::int64_t utc) {
    SmallTrace small;
    small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(begin, 800'000, kReduce)});
    small.builder.provenance().utc_epoch = utc;
    return small.builder.snapshot();
  };
  constexpr std::int64_t kNow = 1'800'000'000'000'000'000, kHour = 3'600'000'000'000;
  const auto has_waits = [&](std::int64_t utc_of_second) {
    const std::vector<TraceSource> sources{{run(100'000, kNow), "A", 0}, {run(700'000, utc_of_second), "B", 0}};
    return CommunicationTime(*combine_traces(sources)).has_waits();
  };
  CHECK(has_waits(kNow));
  CHECK(has_waits(kNow + 2'000'000));  // the clocks of two hosts differ by this
  CHECK_FALSE(has_waits(kNow + kHour));
  CHECK(has_waits(0));  // the time of day is unknown
}

// Checked nanosecond by nanosecond, for collectives and other kernels at random places.
TEST_CASE("columns of rows hold exactly the time in which nothing but a wait runs") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](unsigned most) { return static_cast<Nanoseconds>(random() % most); };
    constexpr Nanoseconds kUnit = 100'000, kSpan = 40;  // collectives match if their ends agree within 50 µs and within the shorter of the two
    SmallTrace small;
    Gpu description;
    description.ordinal = 1;
    small.builder.set_device(small.process, 1, description);
    const GpuId second = small.builder.gpu_of_device(small.process, 1);
    std::vector<Event> mine, others, beside;
    std::vector<bool> waits(kSpan), works(kSpan);  // for the first GPU, in each unit
    for (Nanoseconds at = 0; at + 10 < kSpan; at += 10) {
      const Nanoseconds end = at + 6 + any(3), late = end - 1, begin = at + any(4);
      mine.push_back(small.event(begin * kUnit, end * kUnit, kReduce));
      others.push_back(small.event(late * kUnit, end * kUnit, kReduce));
      for (Nanoseconds i = begin; i < late; ++i) waits[static_cast<std::size_t>(i)] = true;
      const Nanoseconds from = at + any(5), until = from + 1 + any(4);
      beside.push_back(small.event(from * kUnit, until * kUnit, "gemm"));
      for (Nanoseconds i = from; i < until; ++i) works[static_cast<std::size_t>(i)] = true;
    }
    small.builder.add(small.on_gpu(TrackKind::kKernels, 7), mine);
    small.builder.add(small.on_gpu(TrackKind::kKernels, 8), beside);
    TrackKey other = small.on_gpu(TrackKind::kKernels, 9);
    other.gpu = second;
    small.builder.add(other, others);
    const auto trace = small.builder.snapshot();
    const RowTree tree(*trace);
    const auto hardware = std::find_if(tree.rows().begin(), tree.rows().end(), [](const Row& row) { return row.kind == RowKind::kGpuHardware; });
    const CommunicationTime time(*trace);
    const auto columns = time.waiting_columns(hardware->all, {{0, kSpan * kUnit}, static_cast<std::int32_t>(kSpan)});
    REQUIRE(columns.size() == static_cast<std::size_t>(kSpan));
    for (std::size_t i = 0; i < columns.size(); ++i) CHECK(columns[i] == (waits[i] && !works[i] ? 1.0F : 0.0F));
  }
}

// Checked unit by unit, for collectives with several names and streams, and other kernels and copies, at random places; the waiting time of each kernel is
// known.
TEST_CASE("every row waits where it shows a wait and nothing else") {
  std::size_t rows_that_wait = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    constexpr Nanoseconds kUnit = 100'000, kSpan = 60;
    SmallTrace small;
    Gpu description;
    description.ordinal = 1;
    small.builder.set_device(small.process, 1, description);
    const GpuId second = small.builder.gpu_of_device(small.process, 1);
    for (std::uint32_t stream = 1; stream <= 6; ++stream) {
      std::vector<Event> events;
      const std::string names[] = {kReduce, "ncclKernel 1", "ncclKernel 2", "gemm 1", "gemm 2"};
      for (Nanoseconds at = random() % 4; at + 12 < kSpan; at += random() % 3) {
        const Nanoseconds end = at + random() % 9;
        const std::string& name = names[random() % 5];
        events.push_back(small.event(at * kUnit, end * kUnit, stream == 6 ? kReduce : name));
        at = end;
      }
      TrackKey key = small.on_gpu(TrackKind::kKernels, stream);
      if (stream % 2 == 0) key.gpu = second;
      small.builder.add(key, events);
    }
    small.builder.add(small.on_gpu(TrackKind::kMemory, 1),
                      {small.copy(3 * kUnit, 5 * kUnit, CopyKind::kHostToDevice, 8), small.copy(20 * kUnit, 29 * kUnit, CopyKind::kHostToDevice, 8)});
    const auto trace = small.builder.snapshot();
    const CommunicationTime time(*trace);
    const auto check = [&](const Level& level) {
      std::vector<bool> waits(kSpan), works(kSpan);
      for (const LaneSource& source : level) {
        const Lane& lane = trace->lane(source.lane);
        for (EventIndex i = 0; i < lane.size(); ++i) {
          if (!source.matches(*trace, lane.event(i))) continue;
          const Nanoseconds waited = time.wait_of(source.lane, lane.start(i)).value_or(TimeRange{lane.start(i), lane.start(i)}).end;
          const bool is_its_own = waited <= lane.end(i);  // a kernel without length may start where another one does
          for (Nanoseconds t = lane.start(i); t < lane.end(i); t += kUnit)
            (is_its_own && t < waited ? waits : works)[static_cast<std::size_t>(t / kUnit)] = true;
        }
      }
      Nanoseconds all = 0;
      for (std::size_t i = 0; i < waits.size(); ++i) {
        const auto at = static_cast<Nanoseconds>(i) * kUnit;
        const Nanoseconds expected = waits[i] && !works[i] ? kUnit : 0;
        CHECK(time.waited(level, {at, at + kUnit}) == expected);
        all += expected;
      }
      return all > 0;
    };
    const RowTree tree(*trace);
    for (const Row& row : tree.rows()) {
      if (row.kind != RowKind::kGpu && row.kind != RowKind::kGpuHardware && row.kind != RowKind::kKernels && row.kind != RowKind::kKernelFamily &&
          row.kind != RowKind::kKernelName && row.kind != RowKind::kStream && row.kind != RowKind::kQuietStreams)
        continue;
      rows_that_wait += check(row.all);
      for (const Level& level : row.levels) check(level);
    }
  }
  CHECK(rows_that_wait > 100);
}

TEST_CASE("of two recorded ranks, the one that does not sleep waits 15 ms in each of 20 steps") {
  const std::vector<std::filesystem::path> files{data_file("ranks_late0.trace"), data_file("ranks_late1.trace")};
  const auto opened = open_traces(files);  // aligned by the time of day
  REQUIRE(opened);
  const CommunicationTime time(**opened);
  TimeRange loop{};  // from the first range of a step to the last
  for (const Track& track : (*opened)->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = (*opened)->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (!(*opened)->name(lane.name(i)).starts_with("step")) continue;
        loop = loop.empty() ? TimeRange{lane.start(i), lane.end(i)} : TimeRange{std::min(loop.begin, lane.start(i)), std::max(loop.end, lane.end(i))};
      }
    }
  }
  REQUIRE_FALSE(loop.empty());
  const auto gpus = time.within(loop);
  REQUIRE(gpus.size() == 2);
  const auto [least, most] = std::minmax(gpus[0].waited, gpus[1].waited);
  CHECK(most >= 20 * 14'000'000);
  CHECK(most <= 20 * 17'000'000);
  CHECK(least < most / 10);
}
