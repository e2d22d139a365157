// How many blocks of a kernel a multiprocessor holds at once, what limits the number, and what would change that. It uses only a launch's shape, so it works
// for every trace with kernels. The arithmetic is that of CUDA's occupancy calculator (cudaOccupancyMaxActiveBlocksPerMultiprocessor), which does not know
// clusters; the rules for clusters were measured (docs/analysis.md).
//
// Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/message.h"
#include "model/trace/details.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

inline constexpr std::uint32_t kWarpSize = 32;  // threads

// The resources of one multiprocessor for blocks, and how it allocates them.
struct Multiprocessor {
  std::uint32_t warps = 0;  // resident at once, at most; likewise blocks
  std::uint32_t blocks = 0;
  std::uint32_t blocks_in_clusters = 0;      // the same for kernels launched in clusters, including clusters of one block; 0: unknown
  std::uint32_t registers = 0;               // of 32 bits
  std::uint32_t partitions = 4;              // a warp gets all its registers from one partition
  std::uint64_t shared_memory = 0;           // bytes, with the largest possible part as shared memory instead of L1 cache
  std::uint32_t shared_memory_unit = 128;    // allocation unit in bytes
  std::uint32_t reserved_shared_memory = 0;  // bytes that the system reserves for each block
  std::span<const std::uint32_t> splits;     // possible sizes of shared memory in KiB, ascending; empty if unknown
};

// The multiprocessor of this GPU: from the trace, and from its compute capability (7.0 to 12.x) for what the trace lacks. Nothing if both together say too
// little.
[[nodiscard]] std::optional<Multiprocessor> multiprocessor_of(const Gpu& gpu);

enum class Limiter : std::uint8_t { kWarps = 0, kBlocks = 1, kRegisters = 2, kSharedMemory = 3, kClusters = 4 };
inline constexpr std::array kLimiters{Limiter::kWarps, Limiter::kBlocks, Limiter::kRegisters, Limiter::kSharedMemory, Limiter::kClusters};
[[nodiscard]] std::string_view limiter_name(Limiter limiter) noexcept;  // "registers"

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct Occupancy {
  std::uint32_t blocks = 0;  // of the kernel, held by a multiprocessor at once
  std::uint32_t warps_of_block = 0;
  std::uint32_t most_warps = 0;           // that a multiprocessor holds of any kernel
  std::array<std::uint32_t, 5> limits{};  // blocks that each Limiter permits; kUnlimited if it permits any number
  std::uint64_t shared_memory = 0;        // bytes of the multiprocessor, as configured for this launch

  // The share of a multiprocessor's warps that this kernel can fill.
  [[nodiscard]] double share() const noexcept { return static_cast<double>(blocks) * warps_of_block / most_warps; }
  [[nodiscard]] std::uint32_t limit(Limiter limiter) const noexcept { return limits[static_cast<std::size_t>(limiter)]; }
  [[nodiscard]] bool is_limited_by(Limiter limiter) const noexcept { return limit(limiter) == blocks; }
};

// Nothing if the trace lacks the shape of the block.
[[nodiscard]] std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Multiprocessor& multiprocessor);

// The same on a multiprocessor of this GPU; also nothing if that is unknown.
[[nodiscard]] std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Gpu& gpu);

// The smallest change that lets a multiprocessor hold more warps, with everything else unchanged. If several limits bind and no smaller set of changes helps,
// it has several steps.
struct Relief {
  enum class Change : std::uint8_t {
    kRegisters,     // at most this many registers for each thread, a multiple of 8, the allocation unit
    kSharedMemory,  // at most this many bytes of shared memory for each block
    kSplit,         // this many bytes of shared memory for each multiprocessor, instead of L1 cache
    kBlockSize,     // this many threads for each block: the nearest size among those that hold the most warps
  };
  struct Step {
    Change change;
    std::uint64_t value;
  };
  // In the order of Change. The first step is as small as possible for any values of the others, then the next.
  std::vector<Step> steps;
  double share;  // the resulting occupancy
};
// One for each change that helps, the most effective first. Combined changes are included only if no part of them helps. Empty if no registers, shared memory
// and block size would let more warps fit.
[[nodiscard]] std::vector<Relief> reliefs(const KernelDetail& kernel, const Multiprocessor& multiprocessor);
// "128 registers or fewer a thread (168 now): 25 %".
[[nodiscard]] Message relief_text(const Relief& relief, const KernelDetail& kernel);
// "registers", "registers and shared memory": the limits that permit no more blocks.
[[nodiscard]] Message limiters_text(const Occupancy& occupancy);

// How a launch's blocks are distributed over the GPU: in waves of as many blocks as it holds at once.
//
// A cluster stays within a group of multiprocessors (GPC), and groups differ from GPU to GPU. For clusters of three blocks or more, the trace only gives an
// upper bound: the number without groups. Clusters of two always fit.
struct Waves {
  enum class Places : std::uint8_t { kKnown, kAtMost };
  std::uint64_t blocks = 0;        // of the grid
  std::uint64_t at_once = 0;       // blocks that the whole GPU holds...
  Places places = Places::kKnown;  // ...or fewer: then there may be more waves, and the last one is unknown
  std::uint32_t multiprocessors = 0;

  [[nodiscard]] double waves() const noexcept { return static_cast<double>(blocks) / static_cast<double>(at_once); }
  [[nodiscard]] std::uint64_t full() const noexcept { return blocks / at_once; }
  [[nodiscard]] std::uint64_t tail() const noexcept { return blocks % at_once; }  // blocks of the last wave, if it is not full
  // The share of the launch's time in which places of the last wave are empty, if all blocks take the same time. 0 with at most one wave, which waits for no
  // other, and if the last wave is unknown.
  [[nodiscard]] double tail_share() const noexcept;
  // The share of multiprocessors that get no block.
  [[nodiscard]] double idle_multiprocessors() const noexcept;
};
// Nothing if the GPU's multiprocessors or the grid are unknown, or if a block does not fit.
[[nodiscard]] std::optional<Waves> waves(const KernelDetail& kernel, const Gpu& gpu, const Occupancy& occupancy);
// The same if the number of clusters that the GPU holds is known (cudaOccupancyMaxActiveClusters).
[[nodiscard]] std::optional<Waves> waves_of_clusters(const KernelDetail& kernel, const Gpu& gpu, std::uint64_t clusters);
// "1.25"; "1.25 or more" if places are kAtMost.
[[nodiscard]] Message waves_text(const Waves& waves);

[[nodiscard]] std::uint64_t threads_of_block(const KernelDetail& kernel) noexcept;  // likewise
[[nodiscard]] std::uint64_t blocks_of_grid(const KernelDetail& kernel) noexcept;
[[nodiscard]] std::uint64_t blocks_of_cluster(const KernelDetail& kernel) noexcept;  // 1 without clusters
[[nodiscard]] bool is_launched_in_clusters(const KernelDetail& kernel) noexcept;     // including clusters of one block

}  // namespace lanescope::kernels
