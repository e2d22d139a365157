// Where the counted samples of one GPU come from: the memory into which its monitors count, from which they are fetched into images.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "agent/encode/clock_map.h"
#include "effort.h"
#include "samplers/libraries.h"
#include "values/evaluation.h"
#include "worker.h"

namespace lanescope::gpu_metrics {

// How often the monitors count, in Hz, and how much work may be done for it.
struct PmPace {
  std::uint64_t frequency;
  Effort effort;
  std::size_t gpus = 1;  // that are sampled

  // Between looks at what was counted.
  [[nodiscard]] std::chrono::milliseconds look_every() const noexcept;
};

// What fetching has done, for those who want to know what it costs.
struct PmAccount {
  std::uint64_t samples = 0;
  std::uint64_t rounds = 0;                  // of fetching
  std::uint64_t overflows = 0;               // of the hardware's buffer, or of an image
  std::int64_t longest_pause = 0;            // ns between two rounds
  std::int64_t decoding = 0;                 // ns of a processor
  std::atomic<std::int64_t> evaluation = 0;  // ns of processors
  std::size_t hardware_buffer = 0;           // bytes
  std::size_t most_unread = 0;               // bytes of it, where that is known
  std::size_t sample_bytes = 0;              // of a sample in an image
  std::size_t most_waiting = 0;              // samples that waited to be evaluated
};

// A sample in an image, its times in ns on the clock of the source.
struct RawSample {
  std::size_t index;
  std::uint64_t begin;
  std::uint64_t end;
};

// Whoever is given samples, on the thread of the source.
class SampleReceiver {
 public:
  virtual ~SampleReceiver() = default;
  // The next sample began before the sampling did.
  virtual void began() = 0;
  // Samples of an image that began as `fresh`, and is so again afterwards; `fresh` stays as it is as long as the source lives.
  virtual void take(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::span<const RawSample> samples) = 0;
  // Returns once no image that was handed over waits any more.
  virtual void await_image() = 0;
  // Samples of an image, and the image. Requires: await_image() since the last one.
  virtual void take(OwnedImage image, std::span<const RawSample> samples) = 0;
  // Evaluates all that was taken. Returns then.
  virtual void evaluate() = 0;
  // Some are missing, and why: a sentence.
  virtual void lost_some(const std::string& sentence) = 0;
  // A call was refused, and nothing comes any more until the source is started again.
  virtual void failed(const std::string& call, const std::string& answer) = 0;
};

// One thread, but for patience().
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // False where it is refused.
  virtual bool start() = 0;
  // What was not fetched is gone.
  virtual void stop() = 0;
  [[nodiscard]] virtual bool is_started() const noexcept = 0;
  // Fetches what the hardware has counted. Where it is not due and others want the thread's processor, all of it waits in the hardware's memory.
  virtual Round fetch(Due due) = 0;
  // Ends the sampling, with all that was counted fetched.
  virtual void stop_with_rest() = 0;
  // How long samples may wait to be fetched from now on, or, while they are, may have waited in all. Any thread.
  [[nodiscard]] virtual std::chrono::milliseconds patience() const noexcept = 0;
  // Whether it fetches in time where fetch() is called often enough, although it may never be due.
  [[nodiscard]] virtual bool keeps_its_time() const noexcept = 0;
  // The clock of its samples beside CLOCK_MONOTONIC; none where it can't be read, and should be CLOCK_REALTIME.
  [[nodiscard]] virtual std::optional<agent::encode::ClockReading> read_clock() = 0;
};

// Whether samples are counted in cycles of the system clock, of so many Hz, nearly.
constexpr std::uint64_t kSystemClock = 1'400'000'000;
[[nodiscard]] bool counts_in_cycles(const std::string& chip);

constexpr std::size_t kSmallestBuffer = 32u << 20;  // bytes, of what the hardware counts into
// Of what is asked for, what neither the machine nor the GPU feels.
[[nodiscard]] std::size_t modest_buffer(std::size_t asked, const GpuDevice& gpu, std::size_t gpus);

}  // namespace lanescope::gpu_metrics
