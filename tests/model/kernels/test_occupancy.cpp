#include "model/kernels/occupancy.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

Gpu h200() {
  Gpu gpu;
  gpu.compute_major = 9;
  gpu.multiprocessor_count = 132;
  return gpu;
}

KernelDetail shape(std::uint32_t blocks, std::uint32_t threads, std::uint32_t registers, std::uint32_t shared, std::uint32_t split) {
  KernelDetail kernel;
  kernel.grid[0] = blocks;
  kernel.block[0] = threads;
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.registers_per_thread = registers;
  kernel.dynamic_shared_memory = shared;
  kernel.shared_memory_executed = split;
  return kernel;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      result.emplace_back();
    else
      result.back() += c;
  }
  return result;
}

double number(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

}  // namespace

// Printed by Nsight Compute for twelve kernels on an H200.
TEST_CASE("limits, occupancy and waves are what Nsight Compute says") {
  const auto corpus = test::corpus();
  if (!corpus) {
    WARN("no corpus: skipped");
    return;
  }
  std::ifstream file(*corpus / "ncu/zoo_raw.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells(line);
  std::getline(file, line);  // units
  const auto multiprocessor = multiprocessor_of(h200());
  REQUIRE(multiprocessor);
  int kernels = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> row = cells(line);
    REQUIRE(row.size() == names.size());
    std::map<std::string, std::string> value;
    for (std::size_t i = 0; i < names.size(); ++i) value[names[i]] = row[i];
    const auto integer = [&](const char* name, double unit = 1) {
      return static_cast<std::uint32_t>(number(value.at(std::string("launch__") + name)) * unit + 0.5);
    };
    KernelDetail kernel = shape(integer("grid_size"), integer("block_size"), integer("registers_per_thread"), integer("shared_mem_per_block_dynamic", 1000),
                                integer("shared_mem_config_size", 1000));
    kernel.static_shared_memory = integer("shared_mem_per_block_static", 1000);
    INFO(value.at("Kernel Name"));
    const auto found = occupancy(kernel, *multiprocessor);
    REQUIRE(found);
    CHECK(found->limit(Limiter::kWarps) == integer("occupancy_limit_warps"));
    CHECK(found->limit(Limiter::kBlocks) == integer("occupancy_limit_blocks"));
    CHECK(found->limit(Limiter::kRegisters) == integer("occupancy_limit_registers"));
    CHECK(found->limit(Limiter::kSharedMemory) == integer("occupancy_limit_shared_mem"));
    CHECK(100 * found->share() == Approx(number(value.at("sm__maximum_warps_per_active_cycle_pct"))));
    const auto run = waves(kernel, h200(), *found);
    REQUIRE(run);
    CHECK(run->waves() == Approx(number(value.at("launch__waves_per_multiprocessor"))).margin(0.005));
    ++kernels;
  }
  CHECK(kernels == 12);
}

TEST_CASE("what a trace says of a GPU counts more than its compute capability, and either is enough") {
  Gpu gpu;
  CHECK_FALSE(multiprocessor_of(gpu));
  gpu.compute_major = 6;
  CHECK_FALSE(multiprocessor_of(gpu));
  gpu.max_warps_per_multiprocessor = 64;
  gpu.max_blocks_per_multiprocessor = 32;
  CHECK(multiprocessor_of(gpu)->blocks == 32);
  gpu = h200();
  gpu.max_warps_per_multiprocessor = 48;
  CHECK(multiprocessor_of(gpu)->warps == 48);
  CHECK(multiprocessor_of(gpu)->registers == 65'536);
  gpu.compute_major = 8;
  gpu.compute_minor = 8;  // not in the table: treated as 8.6
  gpu.max_warps_per_multiprocessor = 0;
  CHECK(multiprocessor_of(gpu)->blocks == 16);
}

TEST_CASE("a launch comes in waves, and the last one leaves places empty") {
  const auto multiprocessor = multiprocessor_of(h200());
  const auto of = [&](const KernelDetail& kernel) { return waves(kernel, h200(), occupancy(kernel, *multiprocessor).value()).value(); };
  // Blocks of 1,024 threads: two on a multiprocessor, 264 at a time.
  const Waves small = of(shape(33, 1024, 16, 0, 0));
  CHECK(small.at_once == 264);
  CHECK(small.idle_multiprocessors() == 0.75);
  CHECK(small.tail_share() == 0);
  CHECK(of(shape(264, 1024, 16, 0, 0)).tail_share() == 0);
  const Waves one_more = of(shape(265, 1024, 16, 0, 0));
  CHECK(one_more.full() == 1);
  CHECK(one_more.tail() == 1);
  CHECK(one_more.tail_share() == Approx((264.0 - 1) / 264 / 2));  // 263 of 264 places are empty for half of the time
  CHECK(of(shape(528, 1024, 16, 0, 0)).tail_share() == 0);

  KernelDetail clustered = shape(1'000, 1024, 16, 0, 0);
  clustered.cluster[0] = 16;
  clustered.cluster[1] = clustered.cluster[2] = 1;
  CHECK(of(clustered).at_once == 256);  // sixteen clusters, or fewer
}

TEST_CASE("of kernels in clusters a multiprocessor holds eight blocks, and the GPU what an H200 held, or what can't be known") {
  // Returned by cudaOccupancyMaxActiveClusters on an H200, where as many blocks ran side by side (tests/gpu/clusters.sh): threads of a block, blocks of a
  // cluster, blocks.
  struct Held {
    std::uint32_t threads, cluster;
    std::uint64_t blocks;
  };
  const auto multiprocessor = multiprocessor_of(h200());
  for (const Held& held : {Held{32, 0, 4224},
                           {32, 1, 1056},
                           {32, 2, 1056},
                           {32, 4, 992},
                           {96, 0, 2772},
                           {96, 1, 1056},
                           {192, 0, 1320},
                           {192, 2, 1056},
                           {192, 4, 992},
                           {256, 0, 1056},
                           {256, 1, 1056},
                           {256, 4, 992},
                           {512, 0, 528},
                           {512, 1, 528},
                           {512, 2, 528},
                           {512, 4, 496},
                           {1024, 2, 264},
                           {1024, 4, 248}}) {
    INFO(held.threads << " threads, clusters of " << held.cluster);
    KernelDetail kernel = shape(10'000, held.threads, 16, 0, 0);
    if (held.cluster != 0) std::fill_n(kernel.cluster, 3, 1);
    kernel.cluster[0] = held.cluster;
    const auto occupied = occupancy(kernel, *multiprocessor);
    REQUIRE(occupied);
    const auto in_waves = waves(kernel, h200(), *occupied);
    REQUIRE(in_waves);
    const bool is_known = held.cluster <= 2;
    CHECK((in_waves->places == Waves::Places::kKnown) == is_known);
    CHECK((is_known ? in_waves->at_once == held.blocks : in_waves->at_once >= held.blocks));
    CHECK((waves_text(*in_waves).english().find("or more") == std::string::npos) == is_known);
    if (!is_known) CHECK(in_waves->tail_share() == 0);
    CHECK(occupied->is_limited_by(Limiter::kClusters) == (held.cluster != 0 && held.threads <= 256));
    if (held.cluster != 0) CHECK(waves_of_clusters(kernel, h200(), held.blocks / held.cluster)->at_once == held.blocks);
  }
  // In this case larger blocks help.
  KernelDetail small = shape(10'000, 64, 16, 0, 0);
  std::fill_n(small.cluster, 3, 1);
  const std::vector<Relief> found = reliefs(small, *multiprocessor);
  REQUIRE(!found.empty());
  CHECK(found.front().steps.front().change == Relief::Change::kBlockSize);
  CHECK(found.front().steps.front().value == 256);
  CHECK(found.front().share == 1);
}

TEST_CASE("shapes that make no sense are no occupancy") {
  const auto multiprocessor = multiprocessor_of(h200());
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  CHECK_FALSE(occupancy(shape(1, 0, 16, 0, 0), *multiprocessor));
  CHECK_FALSE(occupancy(shape(1, 2048, 16, 0, 0), *multiprocessor));
  const auto impossible = occupancy(shape(most, 1024, most, most, most), *multiprocessor);
  REQUIRE(impossible);
  CHECK(impossible->blocks == 0);
  CHECK_FALSE(waves(shape(most, 1024, most, most, most), h200(), *impossible));
}

TEST_CASE("a GPU that is said to hold blocks without end needs no relief") {
  Gpu gpu = h200();
  gpu.max_warps_per_multiprocessor = gpu.max_blocks_per_multiprocessor = gpu.max_registers_per_multiprocessor = kUnlimited;
  gpu.max_shared_memory_per_multiprocessor = std::uint64_t{1} << 63;
  const KernelDetail kernel = shape(1, 32, 0, 1, 0);
  const auto multiprocessor = multiprocessor_of(gpu);
  REQUIRE(multiprocessor);
  const auto held = occupancy(kernel, *multiprocessor);
  REQUIRE(held);
  CHECK(held->blocks == kUnlimited);
  CHECK(held->share() == 1);
  CHECK(reliefs(kernel, *multiprocessor).empty());
}

TEST_CASE("what would lift the occupancy is said in words") {
  const auto multiprocessor = multiprocessor_of(h200());
  // 255 registers: eight warps, from 65,536 / (256 x 32); two blocks of 128 threads have as many.
  const KernelDetail spilling = shape(2048, 128, 255, 0, 0);
  const auto found = occupancy(spilling, *multiprocessor);
  CHECK(limiters_text(*found).english() == "registers");
  const std::vector<Relief> lifts = reliefs(spilling, *multiprocessor);
  REQUIRE(lifts.size() == 1);
  CHECK(relief_text(lifts[0], spilling).english() == "168 registers or fewer a thread (255 now): 18.75 %");
  CHECK(reliefs(shape(100, 256, 32, 0, 0), *multiprocessor).empty());
  // Blocks that are too small: 32 blocks of 32 threads fill half of the warps.
  const KernelDetail tiny = shape(100, 32, 16, 0, 0);
  CHECK(limiters_text(*occupancy(tiny, *multiprocessor)).english() == "blocks");
  CHECK(relief_text(reliefs(tiny, *multiprocessor).at(0), tiny).english() == "blocks of 64 threads (32 now): 100 %");
}
