// How many blocks of a kernel a multiprocessor holds at once, why not more, and what would change that: from a launch's shape alone, so for
// every trace that has kernels. The arithmetic is that of CUDA's occupancy calculator (cudaOccupancyMaxActiveBlocksPerMultiprocessor), which knows no clusters;
// what is said of these was measured (docs/analysis.md).
//
// Threads: functions of their arguments.
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

// What one multiprocessor of a GPU has for blocks, and how it gives that out.
struct Multiprocessor {
  std::uint32_t warps = 0;  // that are resident at once, at most; likewise blocks
  std::uint32_t blocks = 0;
  std::uint32_t blocks_in_clusters = 0;      // the same of kernels that are launched in clusters, of one block, too; 0: not known
  std::uint32_t registers = 0;               // of 32 bits
  std::uint32_t partitions = 4;              // a warp takes all its registers from one of them
  std::uint64_t shared_memory = 0;           // bytes, where as much as can be is shared memory and not L1 cache
  std::uint32_t shared_memory_unit = 128;    // bytes in which it is given out
  std::uint32_t reserved_shared_memory = 0;  // bytes that the system takes of it for each block
  std::span<const std::uint32_t> splits;     // KiB of shared memory that can be chosen, ascending; empty where that is not known
};

// Of this GPU: as the trace has it, and by its compute capability (7.0 to 12.x) what the trace lacks. None where neither says enough.
[[nodiscard]] std::optional<Multiprocessor> multiprocessor_of(const Gpu& gpu);

enum class Limiter : std::uint8_t { kWarps = 0, kBlocks = 1, kRegisters = 2, kSharedMemory = 3, kClusters = 4 };
inline constexpr std::array kLimiters{Limiter::kWarps, Limiter::kBlocks, Limiter::kRegisters, Limiter::kSharedMemory, Limiter::kClusters};
[[nodiscard]] std::string_view limiter_name(Limiter limiter) noexcept;  // "registers"

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct Occupancy {
  std::uint32_t blocks = 0;  // of the kernel that a multiprocessor holds at once
  std::uint32_t warps_of_block = 0;
  std::uint32_t most_warps = 0;           // that a multiprocessor holds of any kernel
  std::array<std::uint32_t, 5> limits{};  // blocks that each Limiter admits, kUnlimited where it admits any number
  std::uint64_t shared_memory = 0;        // bytes of it that the multiprocessor has, as it was set for this launch

  // Of the warps that a multiprocessor could hold, the share that it can hold of this kernel.
  [[nodiscard]] double share() const noexcept { return static_cast<double>(blocks) * warps_of_block / most_warps; }
  [[nodiscard]] std::uint32_t limit(Limiter limiter) const noexcept { return limits[static_cast<std::size_t>(limiter)]; }
  [[nodiscard]] bool is_limited_by(Limiter limiter) const noexcept { return limit(limiter) == blocks; }
};

// None where the trace lacks the shape of the block.
[[nodiscard]] std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Multiprocessor& multiprocessor);

// The same on a multiprocessor of this GPU; none where that is not known, either.
[[nodiscard]] std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Gpu& gpu);

// The smallest change that lets a multiprocessor hold more warps, all else the same. Of several things together where several limits bind: then
// no fewer of them help.
struct Relief {
  enum class Change : std::uint8_t {
    kRegisters,     // at most so many registers a thread, a multiple of 8, in which they are given out
    kSharedMemory,  // at most so many bytes of shared memory a block
    kSplit,         // so many bytes of shared memory a multiprocessor, in place of L1 cache
    kBlockSize,     // so many threads a block: the size nearest to what it is, of those that hold the most warps
  };
  struct Step {
    Change change;
    std::uint64_t value;
  };
  // In the order of Change. Of several, the first changes as little as it can, whatever the others do, then the next.
  std::vector<Step> steps;
  double share;  // the occupancy then
};
// One for each change that helps, the one that helps most first; changes of several things only of such that do not help with fewer. Empty
// where no registers, shared memory and block size whatever would let more warps fit.
[[nodiscard]] std::vector<Relief> reliefs(const KernelDetail& kernel, const Multiprocessor& multiprocessor);
// "128 registers or fewer a thread (168 now): 25 %".
[[nodiscard]] Message relief_text(const Relief& relief, const KernelDetail& kernel);
// "registers", "registers and shared memory": what admits no more blocks than there are.
[[nodiscard]] Message limiters_text(const Occupancy& occupancy);

// How a launch's blocks come over the GPU: in waves of as many as it holds at once.
//
// A cluster stays within a group of multiprocessors (GPC), and groups differ from GPU to GPU: how many of three blocks or more the GPU holds, the trace does
// not know, but that it is no more than would be without groups. Two always find room side by side.
struct Waves {
  enum class Places : std::uint8_t { kKnown, kAtMost };
  std::uint64_t blocks = 0;        // of the grid
  std::uint64_t at_once = 0;       // that the whole GPU holds...
  Places places = Places::kKnown;  // ...or fewer: then there are as many waves or more, and the last is not known
  std::uint32_t multiprocessors = 0;

  [[nodiscard]] double waves() const noexcept { return static_cast<double>(blocks) / static_cast<double>(at_once); }
  [[nodiscard]] std::uint64_t full() const noexcept { return blocks / at_once; }
  [[nodiscard]] std::uint64_t tail() const noexcept { return blocks % at_once; }  // blocks of the last wave, where that is not full
  // Where all blocks take the same time: of the launch's time, the share in which places of the last wave stand empty; 0 with one wave or
  // less, which has no other to wait for, and where the last is not known.
  [[nodiscard]] double tail_share() const noexcept;
  // Of the multiprocessors, the share that gets no block at all.
  [[nodiscard]] double idle_multiprocessors() const noexcept;
};
// None where the GPU's multiprocessors or the grid are not known, or a block does not fit.
[[nodiscard]] std::optional<Waves> waves(const KernelDetail& kernel, const Gpu& gpu, const Occupancy& occupancy);
// The same where it is known how many of its clusters the GPU holds (cudaOccupancyMaxActiveClusters).
[[nodiscard]] std::optional<Waves> waves_of_clusters(const KernelDetail& kernel, const Gpu& gpu, std::uint64_t clusters);
// "1.25"; "1.25 or more" where places are known at most.
[[nodiscard]] Message waves_text(const Waves& waves);

[[nodiscard]] std::uint64_t threads_of_block(const KernelDetail& kernel) noexcept;  // likewise
[[nodiscard]] std::uint64_t blocks_of_grid(const KernelDetail& kernel) noexcept;
[[nodiscard]] std::uint64_t blocks_of_cluster(const KernelDetail& kernel) noexcept;  // 1 without clusters
[[nodiscard]] bool is_launched_in_clusters(const KernelDetail& kernel) noexcept;     // of one block, too

}  // namespace lanescope::kernels
