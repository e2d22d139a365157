// --nic-metrics and --storage-metrics, on a made-up machine and on this one.
#include <fstream>

#include "../collector/machine_metrics/machine_tree.h"
#include "recorder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

const std::vector<std::string> kQuiet{"-t", "none", "-s", "none", "--cpuctxsw", "none"};

Ran record(const std::filesystem::path& folder, std::vector<std::string> options, const std::vector<std::string>& program,
           const std::vector<Environment>& environment) {
  std::vector<std::string> all{"profile"};
  all.insert(all.end(), kQuiet.begin(), kQuiet.end());
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"-f", "-o", "x"});
  all.insert(all.end(), program.begin(), program.end());
  return run_lanescope(folder, all, environment);
}

}  // namespace

TEST_CASE("what networks and disks do while a program runs is in its recording, in its reports and in its copies") {
  const MachineTree machine;
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 1'000, 0));
  machine.write("proc/diskstats", disk_line("nvme0n1", 0, 2'048, 0, 0));
  machine.write("sys/block/nvme0n1/size", "1");
  machine.write("next", kNetworkHead + network_line("eth0", 8'001'000, 0));
  machine.write("next_disk", disk_line("nvme0n1", 0, 4'048, 0, 0));
  const TemporaryFolder folder;
  const std::vector<Environment> root{{"LANESCOPE_MACHINE_ROOT", machine.root()}};
  const Ran ran = record(folder.path(), {"--nic-metrics=lf", "--storage-metrics"},
                         {"sh", "-c", "cd \"$LANESCOPE_MACHINE_ROOT\" && mv next proc/net/dev && mv next_disk proc/diskstats"}, root);
  REQUIRE(ran.code == 0);
  const auto check = [&](const std::string& file) {
    const auto trace = load(folder.path() / file);
    double received = -1;
    double written = -1;
    for (CounterId id = 0; id < trace->counters().size(); ++id) {
      const CounterSeries& series = trace->counter_series(id);
      const double sum = series.summarize(series.extent()).integral / 1e9;
      if (trace->counters()[id].name == "eth0 received") received = sum;
      if (trace->counters()[id].name == "nvme0n1 written") written = sum;
    }
    CHECK(received == Approx(8'000'000).epsilon(0.01));
    CHECK(written == Approx(2'000 * 512).epsilon(0.01));
  };
  check("x.trace");
  REQUIRE(run_lanescope(folder.path(), {"export", "-t", "trace", "-o", "copy.trace", "x.trace"}).code == 0);
  check("copy.trace");
  const Ran table = run_lanescope(folder.path(), {"stats", "-q", "-f", "csv", "-r", "machine_metric_sum", "x.trace"});
  CHECK_THAT(table.output, contains_text("eth0 received,MB/s,"));
  CHECK_THAT(table.output, contains_text(",Disks,sectors written"));
}

TEST_CASE("a machine without networks and disks is recorded all the same, and a sentence says so") {
  const MachineTree machine;
  const TemporaryFolder folder;
  const Ran ran = record(folder.path(), {"--nic-metrics=true", "--storage-metrics=all"}, {"true"}, {{"LANESCOPE_MACHINE_ROOT", machine.root()}});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("There is no network device here"));
  CHECK_THAT(ran.messages, contains_text("There is no disk here"));
}

TEST_CASE("this machine's own networks and disks can be asked for, and are not sampled unasked") {
  const TemporaryFolder folder;
  CHECK(record(folder.path(), {"--nic-metrics=lf", "--storage-metrics"}, {"true"}, {}).code == 0);
  CHECK(record(folder.path(), {}, {"true"}, {}).code == 0);
  CHECK(load(folder.path() / "x.trace")->counters().empty());
}
