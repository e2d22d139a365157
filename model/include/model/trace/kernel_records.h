// What a trace knows of kernels beyond their times: the code that ran on its GPUs, the instructions at which warps were sampled, what the hardware
// counted, and what was counted at each instruction.
//
// Immutable; copies share nearly all their memory, so any number of threads may read them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/types.h"

namespace lanescope {

// Code as a driver loaded it: an ELF file (cubin).
struct CodeObject {
  ProcessId process = kNone;
  std::uint64_t crc = 0;   // names it in functions, within its process
  std::uint64_t size = 0;  // bytes of the whole; `image` has fewer if parts are missing
  std::string image;
  [[nodiscard]] bool whole() const noexcept { return image.size() == size; }
};

// A function of such code: a kernel, or a function that kernels call.
using GpuFunctionId = std::uint32_t;  // position in KernelRecords::functions
struct GpuFunction {
  ProcessId process = kNone;
  std::uint64_t code_object = 0;  // CodeObject::crc
  std::uint32_t index = 0;        // in its symbol table; 0: its name alone identifies it
  NameId name = 0;                // as kernels have it: readable
  NameId mangled = 0;
};

// Why warps did not go on at an instruction, or that they did ("selected"), and how often that was seen.
struct PcSample {
  GpuFunctionId function = 0;
  std::uint32_t reason = 0;  // position in KernelRecords::reasons
  std::uint32_t pc = 0;      // bytes from the start of the function
  std::uint32_t samples = 0;
  std::uint32_t not_issued = 0;  // of these: in cycles in which the scheduler issued nothing
};

// The samples of one context in a window of time.
struct PcSampleWindow {
  ProcessId process = kNone;
  GpuId gpu = kNone;
  std::uint32_t context = 0;  // CUDA context id in its process
  TimeRange time;
  std::uint64_t period = 0;  // cycles of a multiprocessor between two of its samples
  std::vector<PcSample> samples;
  std::uint64_t dropped = 0;  // samples for which there was no room
  // Of kernels of others, and of warps that had not issued their first instruction: CUPTI does not say which kernel these belong to (ADR 16).
  std::uint64_t other_samples = 0;
  bool buffer_was_full = false;  // the hardware's buffer: it lost samples that nobody could count
  Nanoseconds every = 0;         // from its start to the start of the next window, with no samples in between; 0: sampling went on all the time
};

enum class KernelReplay : std::uint8_t {
  kOnePass = 0,      // one pass took all counters
  kKernel = 1,       // the launch ran again and again, and the memory that it wrote was restored in between
  kSpread = 2,       // launches of the same kernel and shape took a pass each
  kApplication = 3,  // the program ran again for each pass
  kRange = 4,        // as kApplication, but this is no launch: all kernels that ran in a range were counted together
};

struct MetricValue {
  std::uint32_t metric = 0;  // position in KernelRecords::metrics
  double value = 0;
};

// A launch of a kernel whose hardware counters were read.
struct MeasuredLaunch {
  ProcessId process = kNone;
  std::uint32_t correlation = 0;  // of the launching call, in its process
  KernelReplay replay = KernelReplay::kOnePass;
  std::uint32_t passes = 0;
  std::vector<std::uint32_t> other_launches;  // correlations of the launches that took the other passes
  Nanoseconds spent = 0;                      // by the program, on measuring
  std::vector<MetricValue> values;            // those that were measured
};

// What was counted at instructions of one launch, or at some of them: a launch with very many instructions has several of these.
struct InstructionCounts {
  struct Row {
    GpuFunctionId function = 0;
    std::uint32_t pc = 0;  // bytes from the start of the function
  };
  ProcessId process = kNone;
  std::uint32_t correlation = 0;       // of the launching call, in its process
  Nanoseconds spent = 0;               // by the program, on counting
  std::vector<std::uint32_t> metrics;  // positions in KernelRecords::metrics
  std::vector<Row> rows;
  std::vector<std::uint64_t> values;  // metric after metric, each with one value a row

  [[nodiscard]] std::uint64_t value(std::size_t metric, std::size_t row) const noexcept { return values[metric * rows.size() + row]; }
};

// A kernel that was chosen to be measured and was not.
struct LeftOutKernel {
  ProcessId process = kNone;
  std::string name;    // as kernels have it: readable
  std::string reason;  // one sentence
};

// A source file of that code, as it was where the trace was recorded.
struct SourceText {
  std::string path;  // as the code's line tables name it
  std::string text;
};

struct KernelRecords {
  std::vector<std::shared_ptr<const CodeObject>> code;
  std::vector<GpuFunction> functions;
  std::vector<std::string> reasons;                            // "long_scoreboard"
  std::vector<std::shared_ptr<const PcSampleWindow>> windows;  // in the order in which they were recorded
  std::vector<std::string> metrics;                            // "sm__throughput.avg.pct_of_peak_sustained_elapsed"
  std::vector<std::shared_ptr<const MeasuredLaunch>> measured;
  std::vector<std::shared_ptr<const InstructionCounts>> counted;  // in the order in which they were recorded
  std::vector<LeftOutKernel> left_out;
  std::vector<std::shared_ptr<const SourceText>> sources;  // each path once

  [[nodiscard]] bool empty() const noexcept {
    return sources.empty() && code.empty() && windows.empty() && measured.empty() && counted.empty() && left_out.empty();
  }
  // Null if the trace does not have it. O(sources).
  [[nodiscard]] const SourceText* find_source(std::string_view path) const noexcept;
  // Null if the trace does not have it. O(code).
  [[nodiscard]] const CodeObject* find_code(ProcessId process, std::uint64_t crc) const noexcept;
};

}  // namespace lanescope
