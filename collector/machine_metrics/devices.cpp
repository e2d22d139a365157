#include "devices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace lanescope::machine_metrics {
namespace {

using std::filesystem::path;

constexpr std::size_t kMostDevices = 64;
constexpr std::size_t kMostEntries = 4096;  // of a folder; only a malicious one has more
constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::uint64_t kSector = 512;   // bytes: the unit of /proc/diskstats, whatever sectors the disk has
constexpr std::uint64_t kLaneBytes = 4;  // bytes: the unit of an InfiniBand port's data counters

constexpr std::array kNetwork{
    Quantity{"received", "B/s", Measure::kPerSecond, "rx_bytes", "Bytes that the interface received.", true},
    Quantity{"sent", "B/s", Measure::kPerSecond, "tx_bytes", "Bytes that the interface sent.", true},
    Quantity{"packets received", "1/s", Measure::kPerSecond, "rx_packets", "Packets that the interface received."},
    Quantity{"packets sent", "1/s", Measure::kPerSecond, "tx_packets", "Packets that the interface sent."},
    Quantity{"packets dropped", "1/s", Measure::kPerSecond, "rx_dropped + tx_dropped", "Packets that the interface dropped for lack of room, both ways."},
};
enum NetworkColumn { kReceivedBytes = 0, kReceivedPackets = 1, kReceivedDrops = 3, kSentBytes = 8, kSentPackets = 9, kSentDrops = 11, kNetworkColumns = 16 };

constexpr std::array kAdapter{
    Quantity{"received", "B/s", Measure::kPerSecond, "port_rcv_data", "Bytes that the port received.", true},
    Quantity{"sent", "B/s", Measure::kPerSecond, "port_xmit_data", "Bytes that the port sent.", true},
    Quantity{"packets received", "1/s", Measure::kPerSecond, "port_rcv_packets", "Packets that the port received."},
    Quantity{"packets sent", "1/s", Measure::kPerSecond, "port_xmit_packets", "Packets that the port sent."},
    Quantity{"send waits", "1/s", Measure::kPerSecond, "port_xmit_wait", "Ticks of the port in which it had data to send and could not: congestion."},
    Quantity{"CNPs sent", "1/s", Measure::kPerSecond, "np_cnp_sent", "Congestion notifications that the adapter sent to those who send to it."},
    Quantity{"CNPs handled", "1/s", Measure::kPerSecond, "rp_cnp_handled", "Congestion notifications for which the adapter sent more slowly."},
};
constexpr std::array kAdapterFiles{"counters/port_rcv_data",  "counters/port_xmit_data", "counters/port_rcv_packets", "counters/port_xmit_packets",
                                   "counters/port_xmit_wait", "hw_counters/np_cnp_sent", "hw_counters/rp_cnp_handled"};
constexpr std::size_t kDataCounters = 2;  // the first of them count data

// Amazon's adapters (EFA), which have no InfiniBand counters.
constexpr std::array kElastic{
    Quantity{"received", "B/s", Measure::kPerSecond, "rx_bytes", "Bytes that the adapter received.", true},
    Quantity{"sent", "B/s", Measure::kPerSecond, "tx_bytes", "Bytes that the adapter sent.", true},
    Quantity{"packets received", "1/s", Measure::kPerSecond, "rx_pkts", "Packets that the adapter received."},
    Quantity{"packets sent", "1/s", Measure::kPerSecond, "tx_pkts", "Packets that the adapter sent."},
    Quantity{"packets dropped", "1/s", Measure::kPerSecond, "rx_drops", "Packets that the adapter dropped."},
    Quantity{"packets sent again", "1/s", Measure::kPerSecond, "retrans_pkts", "Packets that the adapter sent once more: loss or congestion on their way."},
    Quantity{"read by RDMA", "B/s", Measure::kPerSecond, "rdma_read_bytes", "Bytes that this machine read from others' memory."},
    Quantity{"written by RDMA", "B/s", Measure::kPerSecond, "rdma_write_bytes", "Bytes that this machine wrote into others' memory."},
};

constexpr std::array kDisk{
    Quantity{"read", "B/s", Measure::kPerSecond, "sectors read", "Bytes that were read from the disk."},
    Quantity{"written", "B/s", Measure::kPerSecond, "sectors written", "Bytes that were written to the disk."},
    Quantity{"reads", "1/s", Measure::kPerSecond, "reads completed", "Reads that the disk completed."},
    Quantity{"writes", "1/s", Measure::kPerSecond, "writes completed", "Writes that the disk completed."},
    Quantity{"busy", "%", Measure::kShare, "time spent doing I/Os", "Share of the time in which the disk had something to do."},
    Quantity{"requests in flight", "", Measure::kLevel, "I/Os in progress", "Requests that the disk had taken and not completed."},
};
enum DiskColumn { kReads = 0, kSectorsRead = 2, kWrites = 4, kSectorsWritten = 6, kInFlight = 8, kBusyTime = 9, kDiskColumns = 11 };

// Reads a file of the kernel, which may be of any length or not text.
std::string text_of(const path& file) {
  std::ifstream input(file, std::ios::binary);
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < kMostBytes && (input.read(piece.data(), piece.size()), input.gcount() > 0))
    text.append(piece.data(), static_cast<std::size_t>(input.gcount()));
  return text;
}

std::optional<std::uint64_t> number(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The first `count` numbers of a line; empty if there are fewer.
std::vector<std::uint64_t> numbers(std::istringstream& line, std::size_t count) {
  std::vector<std::uint64_t> values;
  for (std::string word; values.size() < count && line >> word;) {
    const auto value = number(word);
    if (!value) return {};
    values.push_back(*value);
  }
  return values.size() == count ? values : std::vector<std::uint64_t>();
}

std::vector<std::string> names_in(const path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end && names.size() < kMostEntries; entry.increment(failed))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_there(const path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

struct Candidate {
  Device device;
  bool is_hardware = false;
};

// The hardware devices; or all if none is hardware.
std::vector<Device> chosen(std::vector<Candidate> candidates) {
  const bool has_hardware = std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) { return candidate.is_hardware; });
  std::vector<Device> devices;
  for (Candidate& candidate : candidates)
    if ((candidate.is_hardware || !has_hardware) && devices.size() < kMostDevices) devices.push_back(std::move(candidate.device));
  return devices;
}

// "100 Gb/sec (4X EDR)", in B/s.
double rate_of(const path& file) {
  const std::string text = text_of(file);
  double gigabits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  if (error != std::errc{} || !(gigabits > 0 && gigabits < 1e6)) return 0;
  return gigabits * 1e9 / 8;
}

}  // namespace

std::vector<Device> networks(const path& root) {
  std::vector<Candidate> candidates;
  std::istringstream text(text_of(root / "proc/net/dev"));
  for (std::string line; std::getline(text, line) && candidates.size() < kMostEntries;) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(std::min(line.find_first_not_of(' '), colon), colon - std::min(line.find_first_not_of(' '), colon));
    std::istringstream rest(line.substr(colon + 1));
    const std::vector<std::uint64_t> counted = numbers(rest, kNetworkColumns);
    if (counted.empty() || name.empty() || name == "lo" || name.find('/') != std::string::npos || name.starts_with('.')) continue;
    const path about = root / "sys/class/net" / name;
    const bool is_hardware = is_there(about / "device");
    if (!is_hardware && text_of(about / "operstate").starts_with("down")) continue;
    const double megabits = static_cast<double>(number(text_of(about / "speed")).value_or(0));  // -1 if it is not known
    candidates.push_back(
        {{kNetworks,
          name,
          kNetwork,
          {counted[kReceivedBytes], counted[kSentBytes], counted[kReceivedPackets], counted[kSentPackets], counted[kReceivedDrops] + counted[kSentDrops]},
          megabits < 1e7 ? megabits * 1e6 / 8 : 0},
         is_hardware});
  }
  return chosen(std::move(candidates));
}

std::vector<Device> adapters(const path& root) {
  std::vector<Device> ports;
  const path all = root / "sys/class/infiniband";
  for (const std::string& adapter : names_in(all))
    for (const std::string& port : names_in(all / adapter / "ports")) {
      if (ports.size() >= kMostDevices) return ports;
      const path folder = all / adapter / "ports" / port;
      const bool is_elastic = is_there(folder / "hw_counters/rx_bytes") && !is_there(folder / "counters/port_rcv_data");
      Device device{is_elastic ? kElasticAdapters : kAdapters, adapter + " port " + port, kAdapter, {}, rate_of(folder / "rate")};
      if (is_elastic) {
        device.quantities = kElastic;
        for (const Quantity& quantity : kElastic) device.totals.push_back(number(text_of(folder / "hw_counters" / quantity.source)));
      } else {
        for (std::size_t i = 0; i < kAdapterFiles.size(); ++i) {
          auto total = number(text_of(folder / kAdapterFiles[i]));
          if (total && i < kDataCounters) *total *= kLaneBytes;
          device.totals.push_back(total);
        }
      }
      const bool counts = std::any_of(device.totals.begin(), device.totals.end(), [](const auto& total) { return total.has_value(); });
      if (counts) ports.push_back(std::move(device));
    }
  return ports;
}

std::vector<Device> disks(const path& root) {
  std::vector<Candidate> candidates;
  std::istringstream text(text_of(root / "proc/diskstats"));
  for (std::string line; std::getline(text, line) && candidates.size() < kMostEntries;) {
    std::istringstream words(line);
    std::string major, minor, name;
    if (!(words >> major >> minor >> name) || name.find('/') != std::string::npos || name.starts_with('.')) continue;
    const std::vector<std::uint64_t> counted = numbers(words, kDiskColumns);
    const path about = root / "sys/block" / name;  // partitions do not have such a folder
    if (counted.empty() || !is_there(about)) continue;
    const bool is_hardware = is_there(about / "device");
    const bool is_file_or_memory = name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram");
    if (!is_hardware && is_file_or_memory) continue;
    candidates.push_back(
        {{kDisks,
          name,
          kDisk,
          {counted[kSectorsRead] * kSector, counted[kSectorsWritten] * kSector, counted[kReads], counted[kWrites], counted[kBusyTime], counted[kInFlight]}},
         is_hardware});
  }
  return chosen(std::move(candidates));
}

}  // namespace lanescope::machine_metrics
