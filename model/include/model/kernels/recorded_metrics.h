// Counters of kernels that a recording holds, with what its trace knows of the launches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/file/result.h"
#include "model/kernels/kernel_metrics.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

// All launches of a kernel and shape, measured or not.
struct AllLaunches {
  std::uint64_t count = 0;
  Nanoseconds time = 0;  // together
};

enum class Replay : std::uint8_t { kNone = 0, kKernel = 1, kSpread = 2 };  // as proto::KernelReplay numbers them

// How a launch was measured.
struct Measurement {
  Replay replay = Replay::kNone;
  std::uint32_t passes = 0;
  std::uint32_t launches = 1;  // over which passes were spread
  Nanoseconds spent = 0;       // by the program, on measuring
  AllLaunches of_its_kind;
};

struct LeftOutKernel {
  std::string name;
  std::string reason;  // one sentence
};

struct RecordedMetrics {
  KernelMetrics metrics;
  std::vector<Measurement> measurements;  // one for each of metrics.kernels()
  std::vector<LeftOutKernel> left_out;
};

// Of a .trace file, and the trace that was read from it. Launches of which the trace has no kernel are left out. Fails where the file can't be
// read; without counters the result is empty. O(frames + kernels · log kernels).
[[nodiscard]] Result<RecordedMetrics> read_recorded_metrics(const std::filesystem::path& path, const Trace& trace);

}  // namespace lanescope::kernels
