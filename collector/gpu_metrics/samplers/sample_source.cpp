#include "samplers/sample_source.h"

#include <unistd.h>

#include <algorithm>

namespace lanescope::gpu_metrics {

std::chrono::milliseconds PmPace::look_every() const noexcept {
  constexpr std::uint64_t kMostSamples = 2'000;  // to be processed at a time
  constexpr std::chrono::milliseconds kShortest{5};
  constexpr std::chrono::milliseconds kLongest{100};  // a viewer of the live recording gets several updates a second
  if (effort.look_every.count() > 0) return effort.look_every;
  const std::chrono::milliseconds enough(kMostSamples * 1000 / std::max<std::uint64_t>(frequency, 1));
  return std::clamp(enough, kShortest, kLongest);
}

bool counts_in_cycles(const std::string& chip) { return chip.starts_with("TU") || chip == "GA100"; }

std::size_t modest_buffer(std::size_t asked, const GpuDevice& gpu, std::size_t gpus) {
  constexpr std::uint64_t kShare = 16;
  constexpr std::uint64_t kMostOfAll = 16ull << 30;  // bytes; also at most an eighth of the machine's memory
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t size = std::min<std::uint64_t>(asked, machine / kShare);
  size = std::min(size, std::min(kMostOfAll, machine / (kShare / 2)) / std::max<std::size_t>(gpus, 1));
  if (gpu.memory_bytes > 0) size = std::min<std::uint64_t>(size, gpu.memory_bytes / kShare);
  return std::max<std::size_t>(static_cast<std::size_t>(size) & ~(kSmallestBuffer - 1), kSmallestBuffer);
}

}  // namespace lanescope::gpu_metrics
