// Devices of the machine and what the kernel has counted of each up to now.
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

// How samples are made of what is counted.
enum class Measure {
  kPerSecond,  // what was added, for each second
  kShare,      // what was added, in ms, as a share of the time: %
  kLevel,      // as it is
};

struct Quantity {
  const char* name;  // behind that of the device
  const char* unit;
  Measure measure;
  const char* source;  // what the kernel calls it
  const char* description;
  bool reaches_speed = false;  // of the device's line at most
};

struct Device {
  const char* kind;  // "Network"
  std::string name;  // "eth0"; of no other one of its kind
  std::span<const Quantity> quantities;
  std::vector<std::optional<std::uint64_t>> totals;  // of each; none where the device does not count it
  double speed = 0;                                  // of its line, B/s; 0 where it is not known
};

// Those that are hardware; where none is (in a container, say), all that are up but the loopback. At most 64.
[[nodiscard]] std::vector<Device> networks(const std::filesystem::path& root);
// Ports of InfiniBand, RoCE and EFA adapters. At most 64.
[[nodiscard]] std::vector<Device> adapters(const std::filesystem::path& root);
// Disks that are hardware; where none is, all that hold data but loop devices and memory. At most 64.
[[nodiscard]] std::vector<Device> disks(const std::filesystem::path& root);

}  // namespace lanescope::machine_metrics
