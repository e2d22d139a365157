// Samples the performance monitors of one GPU at a fixed rate, by CUPTI.
//
// The monitors are the whole GPU's: what every process does on it is counted, and no process notices. Only one tool at a time can have
// them, and most machines keep them for administrators: see Refusal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/encode/clock_map.h"
#include "chip_metrics.h"
#include "effort.h"
#include "evaluation.h"
#include "frame_output.h"
#include "libraries.h"
#include "metric_sets.h"
#include "worker.h"

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
  // How long samples may wait to be fetched from a hardware buffer of this size, so that none is lost.
  [[nodiscard]] std::chrono::milliseconds patience(std::size_t hardware_buffer) const noexcept;
};

// What fetching has done, for those who want to know what it costs.
struct PmAccount {
  std::uint64_t samples = 0;
  std::uint64_t rounds = 0;          // of fetching
  std::uint64_t overflows = 0;       // of the hardware's buffer, or of an image
  std::int64_t longest_pause = 0;    // ns between two rounds
  std::int64_t decoding = 0;         // ns of a processor
  std::atomic<std::int64_t> evaluation = 0;  // ns of processors
  std::size_t hardware_buffer = 0;   // bytes
  std::size_t sample_bytes = 0;      // of a sample in an image
  std::size_t most_waiting = 0;      // samples that waited to be evaluated
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
  // Fetches what the hardware has counted since it was last done, to be evaluated later; nothing where it is not started. Where it is not due and
  // others want the thread's processor, all of it waits in the hardware's memory. Where CUPTI fails, that is said and it is not started any more:
  // start() may help. One thread, which is that of start(), stop() and finish(), too.
  Round collect(Due due = Due::kYes);
  // Writes what was fetched up to now, evaluated. Returns then.
  void finish();
  // How long samples may wait to be fetched, or, while they are, may have waited in all. Any thread.
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return std::chrono::milliseconds(patience_.load()); }
  [[nodiscard]] const PmAccount& account() const noexcept { return account_; }

 private:
  PmSampler(const CuptiFunctions& cupti, const GpuDevice& gpu, FrameOutput& output) : cupti_(cupti), gpu_(gpu), output_(output) {}
  [[nodiscard]] std::optional<Refusal> prepare(std::span<const MetricWish> wishes, const PmPace& pace);
  [[nodiscard]] CUptiResult configure(const PmPace& pace);
  [[nodiscard]] Refusal refused(const std::string& what, CUptiResult result) const;
  // Where CUPTI decodes to in each round: an image of a fixed number of samples, which is made fresh once.
  struct Image {
    std::size_t samples = 0;
    std::vector<std::uint8_t> fresh;
    std::vector<std::uint8_t> data;  // as fresh between rounds
  };
  [[nodiscard]] CUptiResult size_image(std::size_t samples, std::size_t& bytes) const;
  [[nodiscard]] CUptiResult reset(std::span<std::uint8_t> image) const;
  [[nodiscard]] bool prepare_usual();
  // Samples that there may be once all is fetched that was counted in so many ns: more are counted while CUPTI decodes.
  [[nodiscard]] std::size_t room_for(std::int64_t pause) const;
  // ns in which this room fills up, less what is counted while CUPTI decodes.
  [[nodiscard]] std::int64_t time_for(std::size_t samples) const;
  [[nodiscard]] double decoding_share() const;  // of a processor, which decoding takes
  // Each: whether there may be more.
  bool fetch(std::int64_t since);
  bool fetch_as_usual();
  bool fetch_into_own(std::int64_t since);
  struct Decoded {
    std::size_t samples = 0;
    bool is_full = false;
    bool overflowed = false;
  };
  [[nodiscard]] std::optional<Decoded> decode(std::span<std::uint8_t> image);
  bool go_on_after(const Decoded& decoded);
  void fail(const std::string& what, CUptiResult result);
  [[nodiscard]] std::vector<SampleTime> times_of(std::span<const std::uint8_t> image, std::size_t samples);
  void begin_evaluation(const PmPace& pace, const std::vector<std::string>& names);
  void take(std::span<const SampleTime> times, std::span<const double> values);
  void lost_some(const std::string& sentence);
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
  std::uint64_t frequency_ = 0;
  Image usual_;                    // for what is counted from one look to the next; after a pause, samples get an image of their own
  std::uint64_t decoded_bytes_ = 0;  // of that image, at most
  std::vector<std::int64_t> integers_;
  std::unique_ptr<CounterStream> counters_;
  std::int64_t last_flush_ = 0;
  std::int64_t last_round_ = 0;
  std::int64_t usual_patience_ = 0;         // ms, between rounds
  std::atomic<std::int64_t> patience_ = 0;  // ms, now
  PmAccount account_;
  agent::encode::ClockMap clocks_;
  std::int64_t last_clock_reading_ = 0;
  std::optional<std::int64_t> clock_offset_;  // what the GPU's times lack to CLOCK_REALTIME; known from the first sample on
  bool started_ = false;
  bool first_sample_ = true;
  bool told_of_overflow_ = false;
  std::atomic<bool> told_of_failure_ = false;
  std::unique_ptr<Evaluation> evaluation_;  // last: its threads use all of the above
};

}  // namespace lanescope::gpu_metrics
