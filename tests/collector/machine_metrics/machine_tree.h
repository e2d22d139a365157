// An invented /proc and /sys of a machine.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/paths.h"

namespace lanescope::test {

class MachineTree {
 public:
  [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }

  // Replaces the file in one step, because the kernel's files are never half written.
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path.string() + ".new") << text;
    std::filesystem::rename(path.string() + ".new", path);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(root() / file); }
  void link_hardware(const std::string& device) const { std::filesystem::create_directories(root() / device / "device"); }

 private:
  TemporaryFolder folder_;
};

// A line of /proc/net/dev.
inline std::string network_line(const std::string& name, std::uint64_t received, std::uint64_t sent) {
  return "  " + name + ": " + std::to_string(received) + " 10 0 1 0 0 0 0 " + std::to_string(sent) + " 20 0 2 0 0 0 0\n";
}
inline const std::string kNetworkHead =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n";

// A line of /proc/diskstats: sectors read and written, ms with something to do, requests in flight.
inline std::string disk_line(const std::string& name, std::uint64_t read, std::uint64_t written, std::uint64_t busy, std::uint64_t in_flight) {
  return " 254       0 " + name + " 7 0 " + std::to_string(read) + " 1 9 0 " + std::to_string(written) + " 1 " + std::to_string(in_flight) + " " +
         std::to_string(busy) + " 3 0 0 0 0 0 0\n";
}

}  // namespace lanescope::test
