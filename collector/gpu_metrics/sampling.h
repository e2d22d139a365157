// The sampling of several GPUs: a thread each for the performance monitors, and one for what NVML says of all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "effort.h"
#include "frame_output.h"
#include "libraries.h"
#include "metric_sets.h"

namespace lanescope::gpu_metrics {

struct SamplingRequest {
  DeviceChoice devices;
  std::vector<MetricWish> wishes;    // none: the performance monitors are left alone, and what NVML counts stands in for them
  std::uint64_t frequency = 10'000;  // Hz, of the performance monitors
  Effort effort;
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
  class Worker;
  struct Nvml;
  void start_nvml(const Driver& driver, std::chrono::milliseconds period, const std::vector<GpuDevice>& without_monitors);
  // Returns the GPUs whose monitors can't be had.
  std::vector<GpuDevice> start_monitors(const Driver& driver, const SamplingRequest& request);

  FrameOutput& output_;
  std::atomic<bool> rests_{false};
  std::vector<std::unique_ptr<Worker>> workers_;  // last: they use all of the above
};

// What could be sampled here: a sentence for each GPU, and for each obstacle.
[[nodiscard]] std::vector<std::string> check(const DeviceChoice& devices, std::span<const MetricWish> wishes, std::uint64_t frequency);

}  // namespace lanescope::gpu_metrics
