#include "model/kernels/occupancy.h"

#include <algorithm>
#include <cstdio>

namespace lanescope::kernels {
namespace {

constexpr std::uint32_t kRegisterUnit = 256;   // allocation unit of registers for a warp
constexpr std::uint32_t kRegisters = 65'536;   // of a multiprocessor, for all compute capabilities since 5.0
constexpr std::uint32_t kMostThreads = 1024;   // of a block
constexpr std::uint32_t kMostRegisters = 255;  // of a thread
constexpr std::uint64_t kKibibyte = 1024;
// For compute capability 9.0, according to its driver and measured on its hardware: tests/gpu/clusters.sh.
constexpr std::uint32_t kBlocksInClustersOf90 = 8;

constexpr std::array<std::uint32_t, 6> kSplitsOf70{0, 8, 16, 32, 64, 96};
constexpr std::array<std::uint32_t, 2> kSplitsOf75{32, 64};
constexpr std::array<std::uint32_t, 8> kSplitsOf80{0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::array<std::uint32_t, 6> kSplitsOf86{0, 8, 16, 32, 64, 100};
constexpr std::array<std::uint32_t, 10> kSplitsOf90{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

struct Capability {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t warps;
  std::uint32_t blocks;
  std::span<const std::uint32_t> splits;  // the last is the largest
};
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and cuda_occupancy.h of CUDA 13.0. The first entry of a major number is also
// used for minor numbers that are not listed.
constexpr std::array kCapabilities{
    Capability{7, 0, 64, 32, kSplitsOf70},  Capability{7, 5, 32, 16, kSplitsOf75},  Capability{8, 6, 48, 16, kSplitsOf86},
    Capability{8, 0, 64, 32, kSplitsOf80},  Capability{8, 7, 48, 16, kSplitsOf80},  Capability{8, 9, 48, 24, kSplitsOf86},
    Capability{9, 0, 64, 32, kSplitsOf90},  Capability{10, 0, 64, 32, kSplitsOf90}, Capability{10, 1, 48, 24, kSplitsOf90},
    Capability{11, 0, 48, 24, kSplitsOf90}, Capability{12, 0, 48, 24, kSplitsOf86},
};

const Capability* find_capability(std::uint32_t major, std::uint32_t minor) {
  const Capability* found = nullptr;
  for (const Capability& capability : kCapabilities) {
    if (capability.major != major) continue;
    if (capability.minor == minor) return &capability;
    if (found == nullptr) found = &capability;
  }
  return found;
}

template <typename Integer>
constexpr Integer rounded_up(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

// Bytes for one block.
std::uint64_t allocated_shared_memory(std::uint64_t asked, const Multiprocessor& multiprocessor) {
  return rounded_up<std::uint64_t>(asked + multiprocessor.reserved_shared_memory, multiprocessor.shared_memory_unit);
}

std::uint64_t asked_shared_memory(const KernelDetail& kernel) { return std::uint64_t{kernel.static_shared_memory} + kernel.dynamic_shared_memory; }

// Bytes of a multiprocessor: as the driver set them for this launch if the trace has a plausible value, else the maximum.
std::uint64_t split_of(const KernelDetail& kernel, const Multiprocessor& multiprocessor, std::uint64_t block) {
  const std::uint64_t set = kernel.shared_memory_executed;
  return set >= block && set > 0 && set <= multiprocessor.shared_memory ? set : multiprocessor.shared_memory;
}

std::uint32_t blocks_by_registers(std::uint32_t registers, std::uint32_t warps_of_block, const Multiprocessor& multiprocessor) {
  if (registers == 0 || multiprocessor.registers == 0) return kUnlimited;
  if (registers > kMostRegisters + 1) return 0;
  const std::uint32_t of_warp = rounded_up(registers * kWarpSize, kRegisterUnit);
  // A launch is checked as if each partition had the same number of a block's warps.
  if (of_warp * rounded_up(warps_of_block, multiprocessor.partitions) > multiprocessor.registers) return 0;
  const std::uint32_t warps = multiprocessor.registers / multiprocessor.partitions / of_warp * multiprocessor.partitions;
  return warps / warps_of_block;
}

std::optional<Occupancy> occupancy_of(std::uint64_t threads, const KernelDetail& kernel, const Multiprocessor& multiprocessor) {
  if (threads == 0 || threads > kMostThreads || multiprocessor.warps == 0) return std::nullopt;
  Occupancy result;
  result.most_warps = multiprocessor.warps;
  result.warps_of_block = static_cast<std::uint32_t>((threads + kWarpSize - 1) / kWarpSize);
  const auto set = [&result](Limiter limiter, std::uint64_t blocks) {
    result.limits[static_cast<std::size_t>(limiter)] = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, kUnlimited));
  };
  set(Limiter::kWarps, multiprocessor.warps / result.warps_of_block);
  set(Limiter::kBlocks, multiprocessor.blocks != 0 ? multiprocessor.blocks : kUnlimited);
  set(Limiter::kRegisters, blocks_by_registers(kernel.registers_per_thread, result.warps_of_block, multiprocessor));
  const std::uint64_t block = allocated_shared_memory(asked_shared_memory(kernel), multiprocessor);
  result.shared_memory = split_of(kernel, multiprocessor, block);
  set(Limiter::kSharedMemory, block == 0 || multiprocessor.shared_memory == 0 ? kUnlimited : result.shared_memory / block);
  set(Limiter::kClusters, is_launched_in_clusters(kernel) && multiprocessor.blocks_in_clusters != 0 ? multiprocessor.blocks_in_clusters : kUnlimited);
  result.blocks = *std::min_element(result.limits.begin(), result.limits.end());
  return result;
}

// Searches values of some properties of a launch; the others stay unchanged.
class ReliefSearch {
 public:
  ReliefSearch(const KernelDetail& kernel, const Multiprocessor& multiprocessor, const Occupancy& now, const std::vector<Relief::Change>& changes)
      : kernel_(kernel), multiprocessor_(multiprocessor), now_(now), changes_(changes) {}

  // Nothing if these changes do not help.
  std::optional<Relief> smallest() {
    const auto threads = static_cast<std::uint32_t>(threads_of_block(kernel_));
    const std::uint32_t first = has(Relief::Change::kBlockSize) ? kWarpSize : threads, last = has(Relief::Change::kBlockSize) ? kMostThreads : threads;
    for (std::uint32_t size = first; size <= last; size += kWarpSize) try_registers(size);
    if (!best_) return std::nullopt;
    Relief relief{{}, best_->share};
    for (const Relief::Change change : changes_) relief.steps.push_back({change, value_of(*best_, change)});
    return relief;
  }

 private:
  // A possible launch. Of two candidates, the one with more registers, then more shared memory, then the smaller split is nearer to the present launch.
  struct Candidate {
    std::uint32_t registers = 0;
    std::uint64_t shared_memory = 0;  // of a block
    std::uint64_t split = 0;
    std::uint32_t threads = 0;
    double share = 0;
  };

  [[nodiscard]] bool has(Relief::Change change) const { return std::find(changes_.begin(), changes_.end(), change) != changes_.end(); }

  static std::uint64_t value_of(const Candidate& candidate, Relief::Change change) {
    switch (change) {
      case Relief::Change::kRegisters:
        return candidate.registers;
      case Relief::Change::kSharedMemory:
        return candidate.shared_memory;
      case Relief::Change::kSplit:
        return candidate.split;
      case Relief::Change::kBlockSize:
        return candidate.threads;
    }
    return 0;
  }

  void try_registers(std::uint32_t threads) {
    if (!has(Relief::Change::kRegisters)) return static_cast<void>(try_shared_memory(kernel_, threads));
    constexpr std::uint32_t kUnit = kRegisterUnit / kWarpSize, kFewest = 16;
    KernelDetail changed = kernel_;
    for (std::uint32_t registers = std::min(kernel_.registers_per_thread, kMostRegisters) / kUnit * kUnit; registers >= kFewest; registers -= kUnit) {
      changed.registers_per_thread = registers;
      if (try_shared_memory(changed, threads)) return;  // even fewer would be further away
    }
  }

  // Returns true if that helps.
  bool try_shared_memory(KernelDetail changed, std::uint32_t threads) {
    if (has(Relief::Change::kSharedMemory)) {
      // The largest size that leaves room for the fewest blocks with more warps; the driver may then choose another split.
      const std::uint64_t blocks = std::uint64_t{now_.blocks} * now_.warps_of_block / ((threads + kWarpSize - 1) / kWarpSize) + 1;
      const std::uint64_t room = multiprocessor_.shared_memory / blocks / multiprocessor_.shared_memory_unit * multiprocessor_.shared_memory_unit;
      if (room < multiprocessor_.reserved_shared_memory || room - multiprocessor_.reserved_shared_memory >= asked_shared_memory(kernel_)) return false;
      changed.shared_memory_executed = 0;
      changed.static_shared_memory = 0;
      changed.dynamic_shared_memory = static_cast<std::uint32_t>(room - multiprocessor_.reserved_shared_memory);
      return try_launch(changed, threads);
    }
    if (!has(Relief::Change::kSplit)) return try_launch(changed, threads);
    for (const std::uint32_t split : multiprocessor_.splits) {
      changed.shared_memory_executed = static_cast<std::uint32_t>(split * kKibibyte);
      if (changed.shared_memory_executed > now_.shared_memory && try_launch(changed, threads)) return true;
    }
    return false;
  }

  bool try_launch(const KernelDetail& changed, std::uint32_t threads) {
    const std::optional<Occupancy> then = occupancy_of(threads, changed, multiprocessor_);
    if (!then || then->share() <= now_.share()) return false;
    const Candidate candidate{changed.registers_per_thread, asked_shared_memory(changed), changed.shared_memory_executed, threads, then->share()};
    if (!best_ || is_nearer(candidate, *best_)) best_ = candidate;
    return true;
  }

  [[nodiscard]] bool is_nearer(const Candidate& a, const Candidate& b) const {
    if (a.registers != b.registers) return a.registers > b.registers;
    if (a.shared_memory != b.shared_memory) return a.shared_memory > b.shared_memory;
    if (a.split != b.split) return a.split < b.split;
    if (a.share != b.share) return a.share > b.share;
    const std::uint64_t threads = threads_of_block(kernel_);
    const auto distance = [threads](std::uint64_t value) { return value > threads ? value - threads : threads - value; };
    return distance(a.threads) < distance(b.threads);
  }

  const KernelDetail& kernel_;
  const Multiprocessor& multiprocessor_;
  const Occupancy& now_;
  const std::vector<Relief::Change>& changes_;
  std::optional<Candidate> best_;
};

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.4g %%", share * 100);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes % kKibibyte == 0) return std::to_string(bytes / kKibibyte) + " KiB";
  return std::to_string(bytes) + " B";
}

}  // namespace

std::optional<Multiprocessor> multiprocessor_of(const Gpu& gpu) {
  Multiprocessor result;
  if (const Capability* capability = find_capability(gpu.compute_major, gpu.compute_minor)) {
    result.warps = capability->warps;
    result.blocks = capability->blocks;
    result.registers = kRegisters;
    result.splits = capability->splits;
    result.shared_memory = result.splits.back() * kKibibyte;
  }
  if (gpu.compute_major != 0 && gpu.compute_major < 8) result.shared_memory_unit = 256;
  if (gpu.compute_major >= 8) result.reserved_shared_memory = 1024;
  if (gpu.compute_major == 9) result.blocks_in_clusters = kBlocksInClustersOf90;
  if (gpu.compute_major == 6 && gpu.compute_minor == 0) result.partitions = 2;
  if (gpu.max_warps_per_multiprocessor != 0) result.warps = gpu.max_warps_per_multiprocessor;
  if (gpu.max_blocks_per_multiprocessor != 0) result.blocks = gpu.max_blocks_per_multiprocessor;
  if (gpu.max_registers_per_multiprocessor != 0) result.registers = gpu.max_registers_per_multiprocessor;
  if (gpu.max_shared_memory_per_multiprocessor != 0) result.shared_memory = gpu.max_shared_memory_per_multiprocessor;
  return result.warps != 0 ? std::optional(result) : std::nullopt;
}

std::string_view limiter_name(Limiter limiter) noexcept {
  switch (limiter) {
    case Limiter::kWarps:
      return "warps";
    case Limiter::kBlocks:
      return "blocks";
    case Limiter::kRegisters:
      return "registers";
    case Limiter::kSharedMemory:
      return "shared memory";
    case Limiter::kClusters:
      return "clusters";
  }
  return "";
}

std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Multiprocessor& multiprocessor) {
  return occupancy_of(threads_of_block(kernel), kernel, multiprocessor);
}

std::optional<Occupancy> occupancy(const KernelDetail& kernel, const Gpu& gpu) {
  const std::optional<Multiprocessor> multiprocessor = multiprocessor_of(gpu);
  return multiprocessor ? occupancy(kernel, *multiprocessor) : std::nullopt;
}

std::vector<Relief> reliefs(const KernelDetail& kernel, const Multiprocessor& multiprocessor) {
  std::vector<Relief> found;
  const std::optional<Occupancy> now = occupancy(kernel, multiprocessor);
  if (!now || now->share() >= 1) return found;
  using Changes = std::vector<Relief::Change>;
  constexpr auto kRegisters = Relief::Change::kRegisters, kSharedMemory = Relief::Change::kSharedMemory, kSplit = Relief::Change::kSplit,
                 kBlockSize = Relief::Change::kBlockSize;
  // Fewer changes come before more.
  const std::array<Changes, 11> all{Changes{kRegisters},
                                    Changes{kSharedMemory},
                                    Changes{kSplit},
                                    Changes{kBlockSize},
                                    Changes{kRegisters, kSharedMemory},
                                    Changes{kRegisters, kSplit},
                                    Changes{kRegisters, kBlockSize},
                                    Changes{kSharedMemory, kBlockSize},
                                    Changes{kSplit, kBlockSize},
                                    Changes{kRegisters, kSharedMemory, kBlockSize},
                                    Changes{kRegisters, kSplit, kBlockSize}};
  std::vector<Changes> helping;
  for (const Changes& changes : all) {
    const auto is_part = [&changes](const Changes& fewer) { return std::includes(changes.begin(), changes.end(), fewer.begin(), fewer.end()); };
    if (std::any_of(helping.begin(), helping.end(), is_part)) continue;
    std::optional<Relief> relief = ReliefSearch(kernel, multiprocessor, *now, changes).smallest();
    if (!relief) continue;
    helping.push_back(changes);
    found.push_back(*std::move(relief));
  }
  std::stable_sort(found.begin(), found.end(), [](const Relief& a, const Relief& b) { return a.share > b.share; });
  return found;
}

Message relief_text(const Relief& relief, const KernelDetail& kernel) {
  const auto change = [](std::string_view pattern, std::string then, std::string now) {
    return Message(pattern, {{"then", std::move(then)}, {"now", std::move(now)}});
  };
  const auto text_of = [&](const Relief::Step& step) -> Message {
    switch (step.change) {
      case Relief::Change::kRegisters:
        return change("{then} registers or fewer a thread ({now} now)", std::to_string(step.value), std::to_string(kernel.registers_per_thread));
      case Relief::Change::kSharedMemory:
        return change("{then} of shared memory or less a block ({now} now)", bytes_text(step.value), bytes_text(asked_shared_memory(kernel)));
      case Relief::Change::kSplit:
        return change("{then} of shared memory a multiprocessor ({now} now), less of L1 cache", bytes_text(step.value),
                      bytes_text(kernel.shared_memory_executed));
      case Relief::Change::kBlockSize:
        return change("blocks of {then} threads ({now} now)", std::to_string(step.value), std::to_string(threads_of_block(kernel)));
    }
    return {};
  };
  Message changes;
  for (const Relief::Step& step : relief.steps)
    changes = changes.empty() ? text_of(step) : Message("{first} and {then}", {{"first", std::move(changes)}, {"then", text_of(step)}});
  return Message("{changes}: {share}", {{"changes", std::move(changes)}, {"share", percent(relief.share)}});
}

Message limiters_text(const Occupancy& occupancy) {
  std::vector<Message> names;
  for (const Limiter limiter : kLimiters)
    if (occupancy.is_limited_by(limiter)) names.emplace_back(limiter_name(limiter));
  if (names.empty()) return {};
  Message last = std::move(names.back());
  names.pop_back();
  Message others;
  for (Message& name : names) others = listed(std::move(others), std::move(name));
  return others.empty() ? last : Message("{first} and {then}", {{"first", std::move(others)}, {"then", std::move(last)}});
}

double Waves::tail_share() const noexcept {
  if (full() == 0 || tail() == 0 || places == Places::kAtMost) return 0;
  return 1 - waves() / static_cast<double>(full() + 1);
}

double Waves::idle_multiprocessors() const noexcept { return blocks >= multiprocessors ? 0 : 1 - static_cast<double>(blocks) / multiprocessors; }

std::optional<Waves> waves(const KernelDetail& kernel, const Gpu& gpu, const Occupancy& occupancy) {
  constexpr std::uint64_t kFindRoom = 2;  // blocks of a cluster that always find room
  const std::uint64_t cluster = blocks_of_cluster(kernel);
  std::optional<Waves> result = waves_of_clusters(kernel, gpu, std::uint64_t{gpu.multiprocessor_count} * occupancy.blocks / cluster);
  if (result && cluster > kFindRoom) result->places = Waves::Places::kAtMost;
  return result;
}

std::optional<Waves> waves_of_clusters(const KernelDetail& kernel, const Gpu& gpu, std::uint64_t clusters) {
  const Waves result{blocks_of_grid(kernel), clusters * blocks_of_cluster(kernel), Waves::Places::kKnown, gpu.multiprocessor_count};
  return result.blocks != 0 && result.at_once != 0 ? std::optional(result) : std::nullopt;
}

Message waves_text(const Waves& waves) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", waves.waves());
  return waves.places == Waves::Places::kAtMost ? Message("{waves} or more", {{"waves", std::string(text)}}) : Message::verbatim(text);
}

std::uint64_t threads_of_block(const KernelDetail& kernel) noexcept { return std::uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2]; }
std::uint64_t blocks_of_grid(const KernelDetail& kernel) noexcept { return std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2]; }
bool is_launched_in_clusters(const KernelDetail& kernel) noexcept { return kernel.cluster[0] != 0; }
std::uint64_t blocks_of_cluster(const KernelDetail& kernel) noexcept {
  return std::max<std::uint64_t>(std::uint64_t{kernel.cluster[0]} * kernel.cluster[1] * kernel.cluster[2], 1);
}

}  // namespace lanescope::kernels
