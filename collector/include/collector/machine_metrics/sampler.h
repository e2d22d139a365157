// Activity of the machine's networks and disks, sampled from counts of the kernel: /proc/net/dev, /sys/class/infiniband and /proc/diskstats. No
// rights are needed. The counts are of the whole machine, so they include the traffic of other programs.
//
// The kernel counts totals; a sample is the increase since the last sample, per second. A device that is added later is sampled from then on.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lanescope/machine_metrics.pb.h"
#include "lanescope/trace.pb.h"

namespace lanescope::machine_metrics {

struct Settings {
  bool networks = false;
  bool storage = false;
  bool operator==(const Settings&) const = default;
  [[nodiscard]] bool asked_for() const noexcept { return networks || storage; }
};

// Source of the frames that hold the samples.
inline constexpr auto kSource = static_cast<proto::FrameSource>(proto::SOURCE_MACHINE);

// The folder that has the machine's proc and sys: the value of LANESCOPE_MACHINE_ROOT (a container may have them elsewhere), else "/".
[[nodiscard]] std::filesystem::path machine_root();

// Samples on a thread of its own, because a device's driver may answer slowly. The functions must be called from one other thread.
class Sampler {
 public:
  // Begins at once. Throws std::system_error if no thread can be started.
  explicit Sampler(const Settings& settings, std::filesystem::path root = machine_root(), std::chrono::milliseconds period = std::chrono::milliseconds(100));
  // Samples a last time.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // What was asked for and is not available, one sentence each.
  [[nodiscard]] const std::vector<std::string>& lacks() const noexcept;

  using Take = std::function<void(proto::FrameType type, const google::protobuf::MessageLite& message)>;
  // Hands on what was added since the last call: Resources that describe counters, and EventChunks of their samples, at most half a second late.
  void drain(const Take& take);
  // Asks for a sample now. Once has_answered() is true, everything up to the request can be drained.
  void ask_for_rest();
  [[nodiscard]] bool has_answered() const;
  // Samples a last time, and hands on what is left.
  void end(const Take& take);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace lanescope::machine_metrics
