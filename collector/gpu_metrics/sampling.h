// The sampling of several GPUs: a thread each for the performance monitors, and one for what NVML says of all.
//
// Threads of the monitors run on what other programs leave of the processors (see processor_share.h), and what they fetch is evaluated there,
// too. So a program that computes on every processor hardly feels them; its samples come late to somebody who watches, and none is lost: a
// thread that has waited too long for a processor takes one.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "effort.h"
#include "frame_output.h"
#include "samplers/libraries.h"
#include "values/metric_sets.h"

namespace lanescope::gpu_metrics {

class PmSampler;
class Watch;
class Worker;

struct SamplingRequest {
  DeviceChoice devices;
  std::vector<MetricWish> wishes;    // none: the performance monitors are left alone, and what NVML counts stands in for them
  std::uint64_t frequency = 10'000;  // Hz, of the performance monitors
  Effort effort;
  enum class Account { kNone, kStandardError } account = Account::kNone;  // says at the end what the monitors of each GPU have cost
};

class Sampling {
 public:
  // Starts whatever can be sampled; says what can't, and why, as diagnostics.
  Sampling(const SamplingRequest& request, FrameOutput& output);
  // Ends it, and hands over the rest.
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  // Writes everything that was sampled up to now, and an acknowledgement behind it. Returns then.
  void hand_over();
  // Nothing is sampled from here on, or again; an acknowledgement follows. Returns once that is so.
  void set_resting(bool rests);

 private:
  struct Nvml;
  void start_nvml(const Driver& driver, std::chrono::milliseconds period, const std::vector<GpuDevice>& without_monitors);
  // Returns the GPUs whose monitors can't be had.
  std::vector<GpuDevice> start_monitors(const Driver& driver, const SamplingRequest& request);

  FrameOutput& output_;
  std::atomic<bool> rests_{false};
  std::atomic<bool> ends_{false};
  std::vector<std::shared_ptr<const PmSampler>> accounted_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Watch> watch_;  // last: it uses all of the above
};

// What could be sampled here: a sentence for each GPU, and for each obstacle.
[[nodiscard]] std::vector<std::string> check(const DeviceChoice& devices, std::span<const MetricWish> wishes, std::uint64_t frequency);

}  // namespace lanescope::gpu_metrics
