// Occupancy against the calculator of the CUDA toolkit.
#include <cuda_occupancy.h>

#include <climits>
#include <random>

#include "model/kernels/occupancy.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

struct Chip {
  int major;
  int minor;
  int threads;         // per multiprocessor
  std::size_t shared;  // bytes per multiprocessor, and per block that asks for more than usual
  std::size_t shared_of_block;
};
// As reported by cudaGetDeviceProperties.
constexpr std::size_t kKiB = 1024;
const std::vector<Chip> kChips{{7, 0, 2048, 96 * kKiB, 96 * kKiB},    {7, 5, 1024, 64 * kKiB, 64 * kKiB},    {8, 0, 2048, 164 * kKiB, 163 * kKiB},
                               {8, 6, 1536, 100 * kKiB, 99 * kKiB},   {8, 7, 1536, 164 * kKiB, 163 * kKiB},  {8, 9, 1536, 100 * kKiB, 99 * kKiB},
                               {9, 0, 2048, 228 * kKiB, 227 * kKiB},  {10, 0, 2048, 228 * kKiB, 227 * kKiB}, {10, 3, 2048, 228 * kKiB, 227 * kKiB},
                               {11, 0, 1536, 228 * kKiB, 227 * kKiB}, {12, 0, 1536, 100 * kKiB, 99 * kKiB},  {12, 1, 1536, 100 * kKiB, 99 * kKiB}};

cudaOccDeviceProp properties_of(const Chip& chip) {
  cudaOccDeviceProp properties;
  properties.computeMajor = chip.major;
  properties.computeMinor = chip.minor;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = chip.threads;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 * kKiB;
  properties.sharedMemPerMultiprocessor = chip.shared;
  properties.numSms = 100;
  properties.sharedMemPerBlockOptin = chip.shared_of_block;
  properties.reservedSharedMemPerBlock = chip.major >= 8 ? kKiB : 0;
  return properties;
}

Gpu gpu_with(const Chip& chip) {
  Gpu gpu;
  gpu.compute_major = static_cast<std::uint32_t>(chip.major);
  gpu.compute_minor = static_cast<std::uint32_t>(chip.minor);
  return gpu;
}

// The warps that a multiprocessor holds of blocks with so many threads, registers per thread and bytes of dynamic shared memory.
int warps_by_calculator(const Chip& chip, int threads, int registers, std::size_t shared) {
  const cudaOccDeviceProp properties = properties_of(chip);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = 1024;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = 0;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = chip.shared_of_block;
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads, shared) == CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor * ((threads + 31) / 32);
}

std::uint32_t as_limit(int blocks) { return blocks == INT_MAX ? kUnlimited : static_cast<std::uint32_t>(blocks); }

}  // namespace

TEST_CASE("occupancy is what CUDA's calculator says, of thousands of shapes on each compute capability") {
  const Chip chip = GENERATE(from_range(kChips));
  CAPTURE(chip.major, chip.minor);
  const cudaOccDeviceProp properties = properties_of(chip);
  const auto multiprocessor = multiprocessor_of(gpu_with(chip));
  REQUIRE(multiprocessor);
  CHECK(multiprocessor->warps == static_cast<std::uint32_t>(chip.threads) / 32);
  CHECK(multiprocessor->shared_memory == chip.shared);

  std::mt19937 random(7);
  const auto any = [&random](std::uint32_t least, std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(least, most)(random); };
  int compared = 0;
  for (int round = 0; round < 5'000; ++round) {
    KernelDetail kernel;
    kernel.block[0] = any(1, 1024);
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers_per_thread = any(0, 255);
    const auto most_static = static_cast<std::uint32_t>(48 * kKiB);
    kernel.static_shared_memory = any(0, 2) == 0 ? 0 : any(0, most_static);
    const auto room = static_cast<std::uint32_t>(chip.shared_of_block) - kernel.static_shared_memory;
    kernel.dynamic_shared_memory = any(0, 2) == 0 ? 0 : any(0, any(0, 1) == 0 ? room : std::min<std::uint32_t>(room, 8192));

    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = 1024;
    attributes.numRegs = static_cast<int>(kernel.registers_per_thread);
    attributes.sharedSizeBytes = kernel.static_shared_memory;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = room;
    attributes.numBlockBarriers = 1;
    cudaOccDeviceState state;
    // The driver's choice: any of the splits that hold a block, or unknown in the trace.
    const std::size_t block = attributes.sharedSizeBytes + kernel.dynamic_shared_memory + properties.reservedSharedMemPerBlock;
    if (any(0, 1) == 0) {
      const std::uint32_t split = multiprocessor->splits[any(0, static_cast<std::uint32_t>(multiprocessor->splits.size()) - 1)];
      const std::size_t unit = chip.major >= 8 ? 128 : 256;
      if (split > 0 && split * kKiB >= (block + unit - 1) / unit * unit) {
        kernel.shared_memory_executed = split * static_cast<std::uint32_t>(kKiB);
        state.carveoutConfig = static_cast<int>(split * kKiB * 100 / chip.shared);
      }
    }
    cudaOccResult expected;
    REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &properties, &attributes, &state, static_cast<int>(kernel.block[0]),
                                                    kernel.dynamic_shared_memory) == CUDA_OCC_SUCCESS);
    const auto found = occupancy(kernel, *multiprocessor);
    REQUIRE(found);
    CAPTURE(kernel.block[0], kernel.registers_per_thread, kernel.static_shared_memory, kernel.dynamic_shared_memory, kernel.shared_memory_executed);
    REQUIRE(found->blocks == static_cast<std::uint32_t>(expected.activeBlocksPerMultiprocessor));
    REQUIRE(found->limit(Limiter::kWarps) == as_limit(expected.blockLimitWarps));
    REQUIRE(found->limit(Limiter::kBlocks) == as_limit(expected.blockLimitBlocks));
    REQUIRE(found->limit(Limiter::kRegisters) == as_limit(expected.blockLimitRegs));
    REQUIRE(found->limit(Limiter::kSharedMemory) == as_limit(expected.blockLimitSharedMem));
    ++compared;
  }
  CHECK(compared == 5'000);
}

TEST_CASE("what is said to lift the occupancy does, by CUDA's calculator, and no smaller change does") {
  const Chip chip = GENERATE(from_range(kChips));
  CAPTURE(chip.major, chip.minor);
  const auto multiprocessor = multiprocessor_of(gpu_with(chip));
  REQUIRE(multiprocessor);
  const auto share = [&](int threads, int registers, std::size_t shared) {
    return static_cast<double>(warps_by_calculator(chip, threads, registers, shared)) / (chip.threads / 32);
  };
  std::mt19937 random(11);
  const auto any = [&random](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int reliefs_seen = 0;
  for (int round = 0; round < 300; ++round) {
    const int threads = any(1, 1024), registers = any(16, 255), shared = any(0, 1) == 0 ? 0 : any(1, static_cast<int>(chip.shared_of_block));
    KernelDetail kernel;
    kernel.block[0] = static_cast<std::uint32_t>(threads);
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers_per_thread = static_cast<std::uint32_t>(registers);
    kernel.dynamic_shared_memory = static_cast<std::uint32_t>(shared);
    const double now = share(threads, registers, static_cast<std::size_t>(shared));
    CAPTURE(threads, registers, shared, now);
    double before = 2;
    for (const Relief& relief : reliefs(kernel, *multiprocessor)) {
      ++reliefs_seen;
      REQUIRE(relief.share > now);
      REQUIRE(relief.share <= before);
      before = relief.share;
      if (relief.steps.size() > 1) continue;
      const int value = static_cast<int>(relief.steps[0].value);
      switch (relief.steps[0].change) {
        case Relief::Change::kRegisters:
          REQUIRE(share(threads, value, static_cast<std::size_t>(shared)) == Approx(relief.share));
          for (int more = value + 1; more < registers; ++more) REQUIRE(share(threads, more, static_cast<std::size_t>(shared)) <= now);
          break;
        case Relief::Change::kSharedMemory:
          REQUIRE(share(threads, registers, relief.steps[0].value) == Approx(relief.share));
          REQUIRE(share(threads, registers, relief.steps[0].value + 1) <= now);
          break;
        case Relief::Change::kBlockSize: {
          REQUIRE(share(value, registers, static_cast<std::size_t>(shared)) == Approx(relief.share));
          for (int size = 32; size <= 1024; size += 32) {
            const double then = share(size, registers, static_cast<std::size_t>(shared));
            REQUIRE(then <= relief.share + 1e-9);
            if (std::abs(then - relief.share) < 1e-9) REQUIRE(std::abs(size - threads) >= std::abs(value - threads));
          }
          break;
        }
        case Relief::Change::kSplit:
          FAIL("nothing was set");
      }
    }
  }
  CHECK(reliefs_seen > 100);
}

TEST_CASE("where several limits bind, what lifts the occupancy is found by changing several things, and none of them could change less") {
  const Chip chip = GENERATE(from_range(kChips));
  CAPTURE(chip.major, chip.minor);
  const auto multiprocessor = multiprocessor_of(gpu_with(chip));
  REQUIRE(multiprocessor);
  const int least_registers = 16, unit = chip.major >= 8 ? 128 : 256;
  const auto warps = [&](int threads, int registers, int shared) { return warps_by_calculator(chip, threads, registers, static_cast<std::size_t>(shared)); };
  std::mt19937 random(17);
  const auto any = [&random](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int combined = 0, hopeless = 0;
  for (int round = 0; round < 200; ++round) {
    // Blocks use much of both, so several limits often apply at once.
    const int threads = 32 * any(1, 32), registers = any(std::min(255, 1024 * 48 / threads), 255),
              shared = any(static_cast<int>(chip.shared) / 8, static_cast<int>(chip.shared_of_block));
    KernelDetail kernel;
    kernel.block[0] = static_cast<std::uint32_t>(threads);
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers_per_thread = static_cast<std::uint32_t>(registers);
    kernel.dynamic_shared_memory = static_cast<std::uint32_t>(shared);
    const int now = warps(threads, registers, shared);
    CAPTURE(threads, registers, shared, now);
    // The largest result for any values of what may change; for each block size, the least registers and shared memory are best.
    const auto most = [&](bool with_registers, bool with_shared, bool with_size) {
      int found = 0;
      for (int size = with_size ? 32 : threads; size <= (with_size ? 1024 : threads); size += 32)
        found = std::max(found, warps(size, with_registers ? std::min(registers, least_registers) : registers, with_shared ? 0 : shared));
      return found;
    };
    const std::vector<Relief> found = reliefs(kernel, *multiprocessor);
    REQUIRE(found.empty() == (most(true, true, true) <= now));
    if (found.empty()) ++hopeless;
    for (const Relief& relief : found) {
      int new_registers = registers, new_shared = shared, new_threads = threads;
      bool has_registers = false, has_shared = false, has_size = false;
      for (const Relief::Step& step : relief.steps) {
        const int value = static_cast<int>(step.value);
        if (step.change == Relief::Change::kRegisters) has_registers = true, new_registers = value;
        if (step.change == Relief::Change::kSharedMemory) has_shared = true, new_shared = value;
        if (step.change == Relief::Change::kBlockSize) has_size = true, new_threads = value;
      }
      REQUIRE(relief.steps.size() == static_cast<std::size_t>(has_registers + has_shared + has_size));
      const int then = warps(new_threads, new_registers, new_shared);
      REQUIRE(then > now);
      REQUIRE(relief.share == Approx(static_cast<double>(then) / (chip.threads / 32)));
      if (relief.steps.size() < 2) continue;
      ++combined;
      CAPTURE(new_registers, new_shared, new_threads);
      // Changing fewer of them does not help, whatever their values.
      if (has_registers) REQUIRE(most(false, has_shared, has_size) <= now);
      if (has_shared) REQUIRE(most(has_registers, false, has_size) <= now);
      if (has_size) REQUIRE(most(has_registers, has_shared, false) <= now);
      // A larger value of one does not help, whatever the values after it.
      int best_of_size = 0;
      for (int size = has_size ? 32 : threads; size <= (has_size ? 1024 : threads); size += 32) {
        for (int more = new_registers + 1; has_registers && more < registers; ++more) REQUIRE(warps(size, more, has_shared ? 0 : shared) <= now);
        for (int more = new_shared + 1; has_shared && more < shared; more += unit / 2) REQUIRE(warps(size, new_registers, more) <= now);
        best_of_size = std::max(best_of_size, warps(size, new_registers, new_shared));
      }
      REQUIRE(then == best_of_size);
      for (int size = 32; has_size && size <= 1024; size += 32)
        if (warps(size, new_registers, new_shared) == then) REQUIRE(std::abs(size - threads) >= std::abs(new_threads - threads));
    }
  }
  CAPTURE(hopeless);
  CHECK(combined > 20);
}
