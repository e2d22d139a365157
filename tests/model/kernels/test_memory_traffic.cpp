// The known traffic of kernels, against counters of an H200: tests/data/kernel_counters.trace. The transpositions read and write a matrix of 8192 x 4096
// floats.
#include "model/kernels/counters/memory_traffic.h"

#include <algorithm>

#include "model/kernels/counters/recorded_metrics.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

constexpr double kMatrix = 8192.0 * 4096 * 4;  // bytes

class Zoo {
 public:
  Zoo() : recorded_(recorded_metrics(**load_trace(test::data_file("kernel_counters.trace")))) {}
  [[nodiscard]] const KernelMetrics& metrics() const { return recorded_.metrics; }
  [[nodiscard]] const ProfiledKernel& kernel(std::string_view name) const {
    const auto found =
        std::find_if(metrics().kernels().begin(), metrics().kernels().end(), [&](const ProfiledKernel& one) { return one.name.starts_with(name); });
    REQUIRE(found != metrics().kernels().end());
    return *found;
  }

 private:
  RecordedMetrics recorded_;
};

double amount(const MemoryTraffic& traffic, MemoryPlace from, MemoryPlace to, std::string_view what) {
  for (const MemoryWay& way : traffic.ways)
    if (way.from == from && way.to == to && way.what == what) return way.amount;
  return 0;
}

double row(const std::vector<Section>& all, std::string_view section, std::string_view label) {
  for (const Section& one : all)
    for (const SectionRow& candidate : one.rows)
      if (one.name == section && candidate.label.english() == label) return candidate.value;
  FAIL("no " << section << ", " << label);
  return 0;
}

}  // namespace

TEST_CASE("a transposition that writes along columns moves eight times its matrix to the L2 cache") {
  const Zoo zoo;
  const MemoryTraffic naive = memory_traffic(zoo.metrics(), zoo.kernel("transpose_naive"));
  CHECK(amount(naive, MemoryPlace::kL2, MemoryPlace::kL1, "Read") == kMatrix);
  CHECK(amount(naive, MemoryPlace::kL1, MemoryPlace::kL2, "Written") == 8 * kMatrix);  // a sector of 32 bytes for each float
  CHECK(amount(naive, MemoryPlace::kDram, MemoryPlace::kL2, "Read") == Approx(kMatrix).epsilon(0.1));
  CHECK(amount(naive, MemoryPlace::kL2, MemoryPlace::kDram, "Written") == Approx(kMatrix).epsilon(0.1));

  const MemoryTraffic padded = memory_traffic(zoo.metrics(), zoo.kernel("transpose_padded"));
  CHECK(amount(padded, MemoryPlace::kL1, MemoryPlace::kL2, "Written") == kMatrix);
  CHECK(amount(padded, MemoryPlace::kKernel, MemoryPlace::kSharedMemory, "Wavefronts") > 0);
}

TEST_CASE("memory that a kernel does not use is not in its chart") {
  const Zoo zoo;
  const MemoryTraffic saxpy = memory_traffic(zoo.metrics(), zoo.kernel("saxpy"));
  CHECK(amount(saxpy, MemoryPlace::kL1, MemoryPlace::kKernel, "Global loads") == Approx(2 * kMatrix));
  CHECK(std::none_of(saxpy.ways.begin(), saxpy.ways.end(), [](const MemoryWay& way) { return way.what.starts_with("Local") || way.what == "Bank conflicts"; }));
  const MemoryTraffic spill = memory_traffic(zoo.metrics(), zoo.kernel("spill"));
  CHECK(amount(spill, MemoryPlace::kL1, MemoryPlace::kKernel, "Local loads") > 0);
  CHECK(amount(spill, MemoryPlace::kKernel, MemoryPlace::kL1, "Local stores") > 0);
  for (const MemoryLevel& level : spill.levels)
    if (level.hit_rate) CHECK((*level.hit_rate >= 0 && *level.hit_rate <= 100));

  KernelMetrics nothing(std::vector<Metric>{{"gpu__time_duration.sum", "ns"}});
  ProfiledKernel kernel;
  kernel.values = {1000};
  nothing.add(kernel);
  CHECK(memory_traffic(nothing, nothing.kernels()[0]).empty());
}

TEST_CASE("the busiest part is the one that the kernel's fault is in") {
  const Zoo zoo;
  const auto busiest = [&zoo](std::string_view name) {
    for (const Section& section : sections(zoo.metrics(), zoo.kernel(name)))
      if (section.name == "SpeedOfLight_Breakdown") return section.rows.front().label.english();
    return std::string();
  };
  CHECK(busiest("transpose_naive") == "Memory: SM to L2");
  CHECK(busiest("transpose_shared") == "Memory: L1 data pipe");
  CHECK(busiest("saxpy") == "Memory: DRAM");
  CHECK(busiest("divergent") == "Compute: issue slots");
  CHECK(busiest("fp64") == "Compute: FP64");
  // If the parts were measured, the throughput is the largest of them.
  const std::vector<Section> naive = sections(zoo.metrics(), zoo.kernel("transpose_naive"));
  CHECK(row(naive, "SpeedOfLight_Breakdown", "Memory: SM to L2") == Approx(row(naive, "SpeedOfLight", "Memory throughput")));
  // A grid of 8 blocks leaves most of 132 multiprocessors idle.
  const std::vector<Section> small = sections(zoo.metrics(), zoo.kernel("small_grid"));
  CHECK(row(small, "WorkloadDistribution", "Multiprocessors, most") > 10 * row(small, "WorkloadDistribution", "Multiprocessors, mean"));
}
