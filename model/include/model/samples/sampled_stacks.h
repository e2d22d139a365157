// Which call chains a trace has of a time and of some threads, and how often.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::samples {

enum class StackSource : std::uint8_t {
  kCpuSamples,  // what threads were seen to run, every so often
  kBacktraces,  // where CUDA and OS calls came from
  kGpuWork,     // where the time of GPUs came from: gpu_time_tree() makes a tree of it
};

struct SampleSelection {
  StackSource source = StackSource::kCpuSamples;
  std::optional<TimeRange> window;  // samples that lie in it, calls that overlap it; all where there is none
  std::vector<ThreadId> threads;    // all where empty
  std::string run = {};             // of runs that are compared, one of them, as run_of() says it; all where empty
  bool operator==(const SampleSelection&) const = default;
};

// How much a chain, or what is below a call, amounts to.
struct Weight {
  std::uint64_t count = 0;  // samples; calls
  Nanoseconds time = 0;     // processor time that the samples stand for, 0 where the recording does not say; duration of the calls
  Weight& operator+=(const Weight& other) noexcept {
    count += other.count;
    time += other.time;
    return *this;
  }
  auto operator<=>(const Weight&) const = default;
};

enum class WeightBy : std::uint8_t { kCount, kTime };
[[nodiscard]] inline double amount(const Weight& weight, WeightBy by) noexcept {
  return by == WeightBy::kCount ? static_cast<double>(weight.count) : static_cast<double>(weight.time);
}

struct SampledStack {
  CallNodeId chain = 0;  // 0 for samples whose chain could not be read
  Weight weight;
  auto operator<=>(const SampledStack&) const = default;
};

// Each chain once, by its id, of samples or backtraces. O(samples in the window + distinct chains · log). When asked to stop, it ends early.
[[nodiscard]] std::vector<SampledStack> sampled_stacks(const Trace& trace, const SampleSelection& selection, const std::stop_token& stop = {});

// Whether the trace has any of them.
[[nodiscard]] bool has_stacks(const Trace& trace, StackSource source) noexcept;

}  // namespace lanescope::samples
