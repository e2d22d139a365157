// Samples several GPUs: one thread each for their performance monitors, and one for the NVML values of all.
//
// Threads of the monitors use only processors that other programs leave idle (see processor_share.h), and samples are evaluated there too. So a
// program that computes on every processor is hardly disturbed. A viewer of the live recording gets its samples late, but none is lost: a thread that
// has waited too long for a processor takes one.
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
  std::vector<MetricWish> wishes;    // empty: the performance monitors are not used, and NVML's counts replace them
  std::uint64_t frequency = 10'000;  // Hz, of the performance monitors
  Effort effort;
  enum class Account { kNone, kStandardError } account = Account::kNone;  // whether to report at the end what the monitors of each GPU have cost
};

class Sampling {
 public:
  // Starts everything that can be sampled; reports what can't, and why, as diagnostics.
  Sampling(const SamplingRequest& request, FrameOutput& output);
  // Ends the sampling and hands over the rest.
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  // Writes everything that was sampled up to now, followed by an acknowledgement, then returns.
  void hand_over();
  // Samples nothing from now on, or goes on; writes an acknowledgement. Returns when this is done.
  void rest();
  void go_on();

 private:
  struct Nvml;
  void start_nvml(const Driver& driver, std::chrono::milliseconds period, const std::vector<GpuDevice>& without_monitors);
  // Returns the GPUs whose monitors are not available.
  std::vector<GpuDevice> start_monitors(const Driver& driver, const SamplingRequest& request);

  FrameOutput& output_;
  std::atomic<bool> rests_{false};
  std::atomic<bool> ends_{false};
  std::vector<std::shared_ptr<const PmSampler>> accounted_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Watch> watch_;  // last: it uses all of the above
};

// What can be sampled here: a sentence for each GPU, and for each obstacle.
[[nodiscard]] std::vector<std::string> check(const DeviceChoice& devices, std::span<const MetricWish> wishes, std::uint64_t frequency);

}  // namespace lanescope::gpu_metrics
