// What the machine's networks and disks do, sampled from what the kernel counts of them: /proc/net/dev, /sys/class/infiniband and
// /proc/diskstats. It takes no rights, and shows the whole machine: other programs' traffic, too.
//
// The kernel has totals; a sample is what was added since the one before, for each second. A device that comes later is sampled from then on.
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

// Of the frames that hold them.
inline constexpr auto kSource = static_cast<proto::FrameSource>(proto::SOURCE_MACHINE);

// Under which proc and sys of the machine lie: what LANESCOPE_MACHINE_ROOT says (a container may have them elsewhere), else "/".
[[nodiscard]] std::filesystem::path machine_root();

// Samples on a thread of its own, for a device's driver may take its time to answer. Its functions are for one other thread.
class Sampler {
 public:
  // Begins at once. Throws std::system_error where no thread can be had.
  explicit Sampler(const Settings& settings, std::filesystem::path root = machine_root(), std::chrono::milliseconds period = std::chrono::milliseconds(100));
  // Samples a last time.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // What was asked for and is not there: a sentence each.
  [[nodiscard]] const std::vector<std::string>& lacks() const noexcept;

  using Take = std::function<void(proto::FrameType type, const google::protobuf::MessageLite& message)>;
  // Hands on what has come since: Resources that describe counters, and EventChunks of their samples, half a second late at most.
  void drain(const Take& take);
  // Asks for a sample now; once it has answered, everything up to then can be drained.
  void ask_for_rest();
  [[nodiscard]] bool has_answered() const;
  // Samples a last time, and hands on the rest.
  void end(const Take& take);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace lanescope::machine_metrics
