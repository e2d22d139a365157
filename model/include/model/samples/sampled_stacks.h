// The call chains of a trace in a time range and of some threads, and their weights.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::samples {

enum class StackSource : std::uint8_t {
  kCpuSamples,  // periodic samples of what threads ran
  kBacktraces,  // where CUDA and OS calls were made
  kGpuWork,     // the origin of the time of GPUs; gpu_time_tree() makes a tree of it
};

struct SampleSelection {
  StackSource source = StackSource::kCpuSamples;
  std::optional<TimeRange> window;  // samples that lie in it, calls that overlap it; if absent, all
  std::vector<ThreadId> threads;    // if empty, all
  std::string run = {};             // if runs are compared, one of them, as named by run_of(); if empty, all
  bool operator==(const SampleSelection&) const = default;
};

// The weight of a chain, or of everything below a call.
struct Weight {
  std::uint64_t count = 0;  // samples or calls
  Nanoseconds time = 0;     // processor time that the samples represent, 0 if not recorded; or duration of the calls
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

// Each chain of samples or backtraces once, sorted by id. O(samples in the window + distinct chains · log). Ends early if `stop` is requested.
[[nodiscard]] std::vector<SampledStack> sampled_stacks(const Trace& trace, const SampleSelection& selection, const std::stop_token& stop = {});

// True if the trace has any chains of this source.
[[nodiscard]] bool has_stacks(const Trace& trace, StackSource source) noexcept;

}  // namespace lanescope::samples
