// Devices of the machine, and what the kernel has counted for each up to now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanescope::machine_metrics {

constexpr const char* kNetworks = "Network";
constexpr const char* kAdapters = "InfiniBand";
constexpr const char* kElasticAdapters = "EFA";
constexpr const char* kDisks = "Disks";

// How samples are computed from the counts.
enum class Measure {
  kPerSecond,  // increase per second
  kShare,      // increase, in ms, as a share of the elapsed time: %
  kLevel,      // the value itself
};

struct Quantity {
  const char* name;  // appended to the name of the device
  const char* unit;
  Measure measure;
  const char* source;  // the kernel's name for it
  const char* description;
  bool reaches_speed = false;  // its maximum is the speed of the device's line
};

struct Device {
  const char* kind;  // "Network"
  std::string name;  // "eth0"; unique within its kind
  std::span<const Quantity> quantities;
  std::vector<std::optional<std::uint64_t>> totals;  // one for each quantity; nothing if the device does not count it
  double speed = 0;                                  // of its line, B/s; 0 if it is not known
};

// The interfaces of hardware devices; if there are none, as in a container, all that are up except the loopback. At most 64.
[[nodiscard]] std::vector<Device> networks(const std::filesystem::path& root);
// Ports of InfiniBand, RoCE and EFA adapters. At most 64.
[[nodiscard]] std::vector<Device> adapters(const std::filesystem::path& root);
// Hardware disks; if there are none, all that hold data except loop devices and memory. At most 64.
[[nodiscard]] std::vector<Device> disks(const std::filesystem::path& root);

}  // namespace lanescope::machine_metrics
