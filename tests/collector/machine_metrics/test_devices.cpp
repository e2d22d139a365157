#include "machine_metrics/devices.h"

#include "machine_tree.h"
#include "support/catch.h"

using namespace lanescope::machine_metrics;
using namespace lanescope::test;

namespace {

std::vector<std::string> names(const std::vector<Device>& devices) {
  std::vector<std::string> all;
  for (const Device& device : devices) all.push_back(device.name);
  return all;
}

using Totals = std::vector<std::optional<std::uint64_t>>;

}  // namespace

TEST_CASE("networks are those that are hardware, with what the kernel counted and the speed of their line") {
  const MachineTree machine;
  machine.write("proc/net/dev",
                kNetworkHead + network_line("lo", 5, 5) + network_line("eth0", 1'000, 2'000) + network_line("docker0", 3, 4) + network_line("ens1f1np1", 6, 7));
  machine.link_hardware("sys/class/net/eth0");
  machine.link_hardware("sys/class/net/ens1f1np1");
  machine.write("sys/class/net/eth0/speed", "25000\n");
  machine.write("sys/class/net/ens1f1np1/speed", "-1\n");
  const std::vector<Device> found = networks(machine.root());
  REQUIRE(names(found) == std::vector<std::string>{"eth0", "ens1f1np1"});
  CHECK(found[0].totals == Totals{1'000, 2'000, 10, 20, 3});
  CHECK(found[0].speed == 25e9 / 8);
  CHECK(found[1].speed == 0);
}

TEST_CASE("where no network is hardware, those that are up stand for it") {
  const MachineTree machine;
  machine.write("proc/net/dev", kNetworkHead + network_line("lo", 5, 5) + network_line("eth0", 1, 2) + network_line("ifb0", 0, 0));
  machine.write("sys/class/net/eth0/operstate", "up\n");
  machine.write("sys/class/net/ifb0/operstate", "down\n");
  CHECK(names(networks(machine.root())) == std::vector<std::string>{"eth0"});
}

TEST_CASE("ports of InfiniBand count in words of four bytes, and only what they have") {
  const MachineTree machine;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  machine.write(port + "rate", "100 Gb/sec (4X EDR)\n");
  machine.write(port + "counters/port_rcv_data", "1000\n");
  machine.write(port + "counters/port_xmit_data", "30\n");
  machine.write(port + "counters/port_xmit_wait", "7\n");
  machine.write(port + "hw_counters/np_cnp_sent", "2\n");
  machine.write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");  // has no counters
  const std::vector<Device> found = adapters(machine.root());
  REQUIRE(names(found) == std::vector<std::string>{"mlx5_0 port 1"});
  CHECK(found[0].totals == Totals{4'000, 120, std::nullopt, std::nullopt, 7, 2, std::nullopt});
  CHECK(found[0].speed == 12.5e9);
}

TEST_CASE("ports of EFA adapters count in bytes, in files of their own") {
  const MachineTree machine;
  const std::string counted = "sys/class/infiniband/rdmap79s0/ports/1/hw_counters/";
  std::uint64_t value = 10;
  for (const char* name : {"rx_bytes", "tx_bytes", "rx_pkts", "tx_pkts", "rx_drops", "retrans_pkts", "rdma_read_bytes"})
    machine.write(counted + name, std::to_string(value++) + "\n");
  machine.write("sys/class/infiniband/rdmap79s0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
  const std::vector<Device> found = adapters(machine.root());
  REQUIRE(names(found) == std::vector<std::string>{"rdmap79s0 port 1"});
  CHECK(found[0].kind == std::string(kElasticAdapters));
  CHECK(found[0].totals == Totals{10, 11, 12, 13, 14, 15, 16, std::nullopt});
  CHECK(found[0].totals.size() == found[0].quantities.size());
  CHECK(found[0].speed == 12.5e9);
}

TEST_CASE("disks are whole, and hardware where any is") {
  const MachineTree machine;
  machine.write("proc/diskstats", disk_line("loop0", 1, 1, 1, 0) + disk_line("nvme0n1", 100, 200, 50, 3) + disk_line("nvme0n1p1", 1, 2, 3, 0) +
                                      disk_line("dm-0", 4, 5, 6, 0) + disk_line("zram0", 1, 1, 1, 0));
  for (const char* name : {"loop0", "dm-0", "zram0", "nvme0n1"}) machine.write("sys/block/" + std::string(name) + "/size", "8\n");
  CHECK(names(disks(machine.root())) == std::vector<std::string>{"nvme0n1", "dm-0"});
  machine.link_hardware("sys/block/nvme0n1");
  const std::vector<Device> found = disks(machine.root());
  REQUIRE(names(found) == std::vector<std::string>{"nvme0n1"});
  CHECK(found[0].totals == Totals{100 * 512, 200 * 512, 7, 9, 50, 3});
}

TEST_CASE("a machine without these files, or with others in their place, has no devices") {
  const MachineTree machine;
  CHECK(networks(machine.root()).empty());
  CHECK(adapters(machine.root()).empty());
  CHECK(disks(machine.root()).empty());
  machine.write("proc/net/dev", std::string(3'000'000, ':') + "\n" + kNetworkHead +
                                    "eth0: 1 2\n: 1 2 3\n../x: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                                    "eth1: 99999999999999999999999 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  machine.write("proc/diskstats", "8 0 sda 1 2 3\n8 0 ../../etc 1 2 3 4 5 6 7 8 9 10 11\n8 0 sdb x 2 3 4 5 6 7 8 9 10 11\n");
  machine.write("sys/block/sda/size", "1");
  machine.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "N/A (no PMA)\n");
  CHECK(networks(machine.root()).empty());
  CHECK(adapters(machine.root()).empty());
  CHECK(disks(machine.root()).empty());
}
