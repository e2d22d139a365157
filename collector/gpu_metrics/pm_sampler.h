// Samples the performance monitors of one GPU at a fixed rate, by CUPTI.
//
// The monitors are the whole GPU's: what every process does on it is counted, and no process notices. Only one tool at a time can have
// them, and most machines keep them for administrators: see Refusal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/encode/clock_map.h"
#include "chip_metrics.h"
#include "effort.h"
#include "frame_output.h"
#include "libraries.h"
#include "metric_sets.h"

namespace lanescope::gpu_metrics {

// Why the monitors of a GPU can't be had.
struct Refusal {
  proto::ComponentState state = proto::STATE_FAILED;
  std::string text;  // one sentence or two: what is wrong, and what to do
};

// How often the monitors count, in Hz, and how much work may be done for it.
struct PmPace {
  std::uint64_t frequency;
  Effort effort;

  // Between looks at what was counted.
  [[nodiscard]] std::chrono::milliseconds look_every() const noexcept;
  // Samples from one look to the next.
  [[nodiscard]] std::uint64_t samples_per_look() const noexcept;
};

class PmSampler {
 public:
  // Chooses the metrics and takes the GPU's monitors.
  static std::unique_ptr<PmSampler> open(const CuptiFunctions& cupti, const GpuDevice& gpu, std::span<const MetricWish> wishes,
                                         const PmPace& pace, FrameOutput& output, Refusal& refusal);
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  [[nodiscard]] const std::vector<ChosenMetric>& metrics() const noexcept { return metrics_; }
  [[nodiscard]] const std::string& chip() const noexcept { return chip_; }

  // False where CUPTI refuses.
  bool start();
  void stop();
  [[nodiscard]] bool is_started() const noexcept { return started_; }
  // Takes what the hardware has counted since the last call and hands it on; nothing where it is not started. One thread.
  void collect();
  void flush() { counters_->flush(); }

 private:
  PmSampler(const CuptiFunctions& cupti, const GpuDevice& gpu, FrameOutput& output) : cupti_(cupti), gpu_(gpu), output_(output) {}
  [[nodiscard]] std::optional<Refusal> prepare(std::span<const MetricWish> wishes, const PmPace& pace);
  [[nodiscard]] CUptiResult configure(std::uint64_t frequency);
  [[nodiscard]] Refusal refused(const std::string& what, CUptiResult result) const;
  bool reset_data();
  bool decode();  // whether there may be more
  void evaluate(std::size_t samples);
  void take(std::size_t index);
  // CLOCK_MONOTONIC ns.
  [[nodiscard]] std::int64_t converted(std::uint64_t time) const;
  void settle_clock(std::uint64_t newest);
  void tell_once(const std::string& what, CUptiResult result);

  const CuptiFunctions& cupti_;
  GpuDevice gpu_;
  FrameOutput& output_;
  std::string chip_;
  std::vector<ChosenMetric> metrics_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::unique_ptr<MetricProgram>> programs_;  // alike; the first one configures, and each evaluates on a thread of its own
  CUpti_PmSampling_Object* sampling_ = nullptr;
  std::vector<std::uint8_t> data_;
  std::vector<double> values_;  // of the samples that were decoded last, one row of metrics each
  std::vector<std::int64_t> integers_;
  std::size_t expected_ = 0;  // samples from one look to the next
  std::unique_ptr<CounterStream> counters_;
  agent::encode::ClockMap clocks_;
  std::int64_t last_clock_reading_ = 0;
  std::optional<std::int64_t> clock_offset_;  // what the GPU's times lack to CLOCK_REALTIME; known from the first sample on
  bool started_ = false;
  bool first_sample_ = true;
  bool told_of_overflow_ = false;
  bool told_of_failure_ = false;
};

}  // namespace lanescope::gpu_metrics
