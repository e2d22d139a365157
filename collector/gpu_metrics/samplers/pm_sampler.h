// Samples the performance monitors of one GPU at a fixed rate, by CUPTI or by the library below it. With the latter, more samples can stay in the
// hardware's memory while others want the processors.
//
// The monitors belong to the whole GPU: they count what every process does on it, and no process notices. Only one tool at a time can use them, and
// most machines reserve them for administrators: see Refusal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/encode/clock_map.h"
#include "frame_output.h"
#include "samplers/cupti_source.h"
#include "samplers/libraries.h"
#include "samplers/nvperf.h"
#include "samplers/sample_source.h"
#include "values/chip_metrics.h"
#include "values/evaluation.h"
#include "values/metric_sets.h"

namespace lanescope::gpu_metrics {

// Why the monitors of a GPU are not available.
struct Refusal {
  proto::ComponentState state = proto::STATE_FAILED;
  std::string text;  // one sentence or two: what is wrong, and what to do
};

// The libraries that fetch samples: the one below CUPTI if it is available, else CUPTI.
struct PmLibraries {
  const CuptiFunctions& cupti;
  const nvperf::Functions* below = nullptr;
  std::string why_not;  // why `below` is null
};

class PmSampler final : private SampleReceiver {
 public:
  // Chooses the metrics and takes the GPU's monitors.
  static std::unique_ptr<PmSampler> open(const PmLibraries& libraries, const GpuDevice& gpu, std::span<const MetricWish> wishes, const PmPace& pace,
                                         FrameOutput& output, Refusal& refusal);
  ~PmSampler() override;
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  [[nodiscard]] const std::vector<ChosenMetric>& metrics() const noexcept { return metrics_; }
  [[nodiscard]] const std::string& chip() const noexcept { return chip_; }

  // Which library fetches, and why not the other: "by CUPTI, since ...".
  [[nodiscard]] const std::string& way() const noexcept { return way_; }

  // Returns false if the library refuses.
  bool start();
  [[nodiscard]] bool is_started() const noexcept { return source_->is_started(); }
  // Fetches what the hardware has counted since the last call, to be evaluated later. Does nothing if sampling is not started. If it is not due and
  // others want the thread's processor, the samples stay in the hardware's memory. If the library fails, this is reported and sampling is no longer
  // started; start() may help. Must be called on the thread of start(), stop_with_rest() and finish().
  Round collect(Due due = Due::kAll);
  // Fetches everything that was counted, and ends the sampling.
  void stop_with_rest();
  // Evaluates and writes everything that was fetched up to now, then returns.
  void finish();
  // How long samples may wait to be fetched. While they are being fetched: how long they may have waited in all. Any thread.
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return source_->patience(); }
  // True if samples are fetched in time without anybody checking patience(), provided that collect() is called often.
  [[nodiscard]] bool keeps_its_time() const noexcept { return source_->keeps_its_time(); }
  [[nodiscard]] const PmAccount& account() const noexcept { return account_; }

 private:
  PmSampler(const PmLibraries& libraries, const GpuDevice& gpu, FrameOutput& output) : cupti_(libraries.cupti), gpu_(gpu), output_(output) {}
  [[nodiscard]] std::optional<Refusal> prepare(const PmLibraries& libraries, std::span<const MetricWish> wishes, const PmPace& pace);
  [[nodiscard]] std::optional<Refusal> open_source(const PmLibraries& libraries, const PmPace& pace);
  [[nodiscard]] Refusal refused(const std::string& what, CUptiResult result) const;
  void describe_counters();
  void begin_evaluation(const PmPace& pace, const std::vector<std::string>& names);

  void began() override;
  void take(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::span<const RawSample> samples) override;
  void await_image() override;
  void take(OwnedImage image, std::span<const RawSample> samples) override;
  void evaluate() override;
  void lost_some(const std::string& sentence) override;
  void failed(const std::string& call, const std::string& answer) override;

  [[nodiscard]] std::vector<SampleTime> times_of(std::span<const RawSample> samples);
  void write(std::span<const SampleTime> times, std::span<const double> values);
  void read_clocks();
  // Converts a time of the source to CLOCK_MONOTONIC ns.
  [[nodiscard]] std::int64_t converted(std::uint64_t time) const;
  void settle_clock(std::uint64_t newest);
  void tell_once(const std::string& what, const std::string& answer);

  const CuptiFunctions& cupti_;
  GpuDevice gpu_;
  FrameOutput& output_;
  std::string chip_;
  std::string way_;
  std::vector<ChosenMetric> metrics_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::unique_ptr<MetricProgram>> programs_;  // equal to each other; the first one configures, and each evaluates on a thread of its own
  std::vector<std::int64_t> integers_;
  std::unique_ptr<CounterStream> counters_;
  std::int64_t last_flush_ = 0;
  PmAccount account_;
  agent::encode::ClockMap clocks_;
  std::int64_t last_clock_reading_ = 0;
  std::optional<std::int64_t> clock_offset_;  // added to the source's times before clocks_ converts them; known from the first sample on
  bool has_own_clock_ = false;                // the source has a clock that can be read
  bool first_sample_ = true;
  bool told_of_loss_ = false;
  std::atomic<bool> told_of_failure_ = false;
  std::unique_ptr<SampleSource> source_;
  std::unique_ptr<Evaluation> evaluation_;  // last: its threads use all of the above
};

}  // namespace lanescope::gpu_metrics
