// The source of the counted samples of one GPU: its monitors count into memory, from which samples are fetched into images.
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

// How often the monitors count, in Hz, and how much work may be done for that.
struct PmPace {
  std::uint64_t frequency;
  Effort effort;
  std::size_t gpus = 1;  // number of GPUs that are sampled

  // Time between looks at what was counted.
  [[nodiscard]] std::chrono::milliseconds look_every() const noexcept;
};

// Statistics of fetching, to find out what it costs.
struct PmAccount {
  std::uint64_t samples = 0;
  std::uint64_t rounds = 0;                  // of fetching
  std::uint64_t overflows = 0;               // of the hardware's buffer, or of an image
  std::int64_t longest_pause = 0;            // ns between two rounds
  std::int64_t decoding = 0;                 // ns of a processor
  std::atomic<std::int64_t> evaluation = 0;  // ns of processors
  std::size_t hardware_buffer = 0;           // bytes
  std::size_t most_unread = 0;               // bytes of it, if that is known
  std::size_t sample_bytes = 0;              // of a sample in an image
  std::size_t most_waiting = 0;              // samples that waited to be evaluated
};

// A sample in an image. Times are in ns on the clock of the source.
struct RawSample {
  std::size_t index;
  std::uint64_t begin;
  std::uint64_t end;
};

// Receives samples, on the thread of the source.
class SampleReceiver {
 public:
  virtual ~SampleReceiver() = default;
  // Sampling began: the next sample began before that.
  virtual void began() = 0;
  // Takes samples of an image that was `fresh` before and must be equal to it again afterwards. `fresh` is unchanged while the source lives.
  virtual void take(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::span<const RawSample> samples) = 0;
  // Returns when no image that was handed over is waiting any more.
  virtual void await_image() = 0;
  // Takes the samples of an image together with the image. Requires: await_image() was called since the last image.
  virtual void take(OwnedImage image, std::span<const RawSample> samples) = 0;
  // Evaluates everything that was taken, then returns.
  virtual void evaluate() = 0;
  // Some samples are missing; the sentence says why.
  virtual void lost_some(const std::string& sentence) = 0;
  // A call was refused. No samples come until the source is started again.
  virtual void failed(const std::string& call, const std::string& answer) = 0;
};

// For one thread, except patience().
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Returns false if starting is refused.
  virtual bool start() = 0;
  // Samples that were not fetched are lost.
  virtual void stop() = 0;
  [[nodiscard]] virtual bool is_started() const noexcept = 0;
  // Fetches what the hardware has counted. If it is not due and others want the thread's processor, the samples stay in the hardware's memory.
  virtual Round fetch(Due due) = 0;
  // Fetches everything that was counted, and ends the sampling.
  virtual void stop_with_rest() = 0;
  // How long samples may wait to be fetched from now on. While they are being fetched: how long they may have waited in all. Any thread.
  [[nodiscard]] virtual std::chrono::milliseconds patience() const noexcept = 0;
  // True if samples are fetched in time provided that fetch() is called often enough, even if it is never due.
  [[nodiscard]] virtual bool keeps_its_time() const noexcept = 0;
  // The clock of the samples together with CLOCK_MONOTONIC; nothing if it can't be read. It should then be CLOCK_REALTIME.
  [[nodiscard]] virtual std::optional<agent::encode::ClockReading> read_clock() = 0;
};

// True if the chip's sampling interval is counted in cycles of the system clock, which has approximately kSystemClock Hz.
constexpr std::uint64_t kSystemClock = 1'400'000'000;
[[nodiscard]] bool counts_in_cycles(const std::string& chip);

constexpr std::size_t kSmallestBuffer = 32u << 20;  // bytes, of what the hardware counts into
// Reduces the buffer size that is asked for to one that burdens neither the machine nor the GPU.
[[nodiscard]] std::size_t modest_buffer(std::size_t asked, const GpuDevice& gpu, std::size_t gpus);

}  // namespace lanescope::gpu_metrics
