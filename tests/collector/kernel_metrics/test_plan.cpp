// The files by which a recording and its programs exchange data about counters: what one side writes, the other reads.
#include "agent/kernel_counters/plan.h"

#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "agent/kernel_counters/records/record_file.h"
#include "collector/channel/clock.h"
#include "kernel_metrics/evaluation.h"
#include "kernel_metrics/host_library.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/records.h"
#include "model/file/limits.h"
#include "plan_file.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernel_metrics;

namespace {

channel::LaunchChoice choice(channel::KernelNameRule rule, const char* name) {
  channel::LaunchChoice result{};
  result.name_rule = rule;
  result.skip = 3;
  result.count = 2;
  std::strncpy(result.name, name, sizeof(result.name) - 1);
  return result;
}

void write_plan(const std::filesystem::path& folder, const channel::LaunchChoice& chosen) {
  test::write_plan(folder, chosen, {{"GH100", "conf1"}, {"GA100", "conf1"}, {"GH100", "lasts"}});
}

bool read(agent::kernel_counters::Plan& plan, const std::filesystem::path& folder) {
  return plan.read(folder.c_str(), channel::monotonic_now()) == agent::kernel_counters::Plan::Found::kPlan;
}

}  // namespace

TEST_CASE("a program finds the sets of its chip in the plan, and chooses kernels by their names") {
  const test::TemporaryFolder folder;
  write_plan(folder.path(), choice(channel::KernelNameRule::kPattern, "gemm|^soft"));
  agent::kernel_counters::Plan plan;
  REQUIRE(read(plan, folder.path()));
  agent::kernel_counters::Set sets[4];
  REQUIRE(plan.sets_for("GH100", sets) == 2);
  CHECK(sets[0].number == 0);
  CHECK(sets[1].number == 2);
  CHECK(std::memcmp(sets[1].config.data(), "lasts", 5) == 0);
  REQUIRE(sets[1].count == 2);
  CHECK(std::string_view(sets[1].names[1]) == "c.d");
  CHECK(plan.sets_for("AD102", sets) == 0);
  CHECK(plan.choice().skip == 3);
  CHECK(plan.fits("_ZN7cutlass12gemm_kernel2IfEEvPT_"));
  CHECK(plan.fits("_Z7softmaxPf"));
  CHECK_FALSE(plan.fits("_Z9mysoftmaxPf"));
  CHECK_FALSE(plan.fits("_ZN4gemm5otherEv"));  // a namespace is not the name
  const auto same = read_plan(folder.path());
  REQUIRE(same);
  CHECK(same->replay == channel::CounterReplay::kSpread);
  CHECK(same->sets.at(1).chip == "GA100");
  CHECK(same->sets.at(2).metrics == std::vector<std::string>{"l.b", "c.d"});
}

TEST_CASE("a plan that is cut short anywhere, or says what can't be, is none") {
  const test::TemporaryFolder folder;
  write_plan(folder.path(), choice(channel::KernelNameRule::kExact, "saxpy"));
  const auto place = folder.path() / channel::kCounterPlanFile;
  const auto size = std::filesystem::file_size(place);
  for (std::uintmax_t cut = 1; cut < size; cut += 7) {
    write_plan(folder.path(), choice(channel::KernelNameRule::kExact, "saxpy"));
    std::filesystem::resize_file(place, size - cut);
    agent::kernel_counters::Plan plan;
    CAPTURE(cut);
    CHECK_FALSE(read(plan, folder.path()));
  }
  write_plan(folder.path(), choice(channel::KernelNameRule::kPattern, "("));
  agent::kernel_counters::Plan plan;
  CHECK_FALSE(read(plan, folder.path()));
}

TEST_CASE("records of a process are read back, up to the place where it was cut off") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / channel::kCounterRecordFolder);
  agent::kernel_counters::RecordFile file;
  REQUIRE(file.open(folder.path().c_str(), 7));
  const std::string_view name = "_Z5saxpyv", reason = "It waits.";
  const std::vector<std::byte> image(1000, std::byte{42});
  const auto bytes = [](const auto& value) { return std::as_bytes(std::span(&value, 1)); };
  const auto text = [](std::string_view value) { return std::as_bytes(std::span(value.data(), value.size())); };
  for (std::uint32_t i = 0; i < 3; ++i) {
    channel::CounterRecord record{};
    record.correlation = i;
    record.name_bytes = name.size();
    record.reason_bytes = reason.size();
    record.image_bytes = image.size();
    record.head = {channel::kCounterRecordMark, 0, sizeof(record) + name.size() + reason.size() + image.size()};
    REQUIRE(file.write({bytes(record), text(name), text(reason), image}));
    channel::KernelRecord kernel{};
    kernel.correlation = i;
    kernel.name_bytes = name.size();
    kernel.head = {channel::kKernelRecordMark, 0, sizeof(kernel) + name.size()};
    REQUIRE(file.write({bytes(kernel), text(name)}));
  }
  const auto place = folder.path() / channel::kCounterRecordFolder / "7";
  const test::ProcessRecords whole = test::read_records(place);
  REQUIRE(whole.counted.size() == 3);
  CHECK(whole.kernels.size() == 3);
  CHECK_FALSE(whole.is_cut);
  CHECK(whole.counted[2].record.correlation == 2);
  CHECK(whole.counted[2].kernel == name);
  CHECK(whole.counted[2].reason == reason);
  CHECK(whole.counted[2].image == std::vector<std::uint8_t>(1000, 42));
  std::filesystem::resize_file(place, std::filesystem::file_size(place) - 1);
  const test::ProcessRecords cut = test::read_records(place);
  CHECK(cut.counted.size() == 3);
  CHECK(cut.kernels.size() == 2);
  CHECK(cut.is_cut);
}

TEST_CASE("what is no file of records is read as none, and nobody waits for it") {
  const test::TemporaryFolder folder;
  const auto pipe = folder.path() / "1";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto link = folder.path() / "2";
  std::filesystem::create_symlink("/dev/zero", link);
  for (const auto& place : {pipe, link, folder.path() / "3"}) {
    const test::ProcessRecords none = test::read_records(place);
    CHECK(none.counted.empty());
    CHECK(none.is_cut);
  }
}

TEST_CASE("a rate of instructions is its count over the cycles of another run") {
  proto::KernelMetrics metrics;
  for (const char* name : {"smsp__sass_x.sum", kCycles, "smsp__sass_y.sum", "smsp__sass_y.sum.per_cycle_elapsed", "dram__bytes_read.sum"})
    metrics.add_metrics(name);
  for (const double cycles : {4.0, std::numeric_limits<double>::quiet_NaN()}) {
    proto::MeasuredLaunch& launch = *metrics.add_launches();
    for (const double value : {10.0, cycles, 8.0, 7.0, 6.0}) launch.add_values(value);
  }
  add_rates(metrics);
  REQUIRE(metrics.metrics_size() == 6);
  CHECK(metrics.metrics(5) == "smsp__sass_x.sum.per_cycle_elapsed");
  CHECK(metrics.launches(0).values(5) == 2.5);
  CHECK(metrics.launches(0).values(3) == 7);  // the counted value stays
  CHECK(std::isnan(metrics.launches(1).values(5)));
}

TEST_CASE("values of many launches are cut into messages that fit a frame, and none is lost") {
  constexpr int kLaunches = 30'000, kMetrics = 200;
  proto::KernelMetrics whole;
  whole.set_chip("GH100");
  for (int i = 0; i < kMetrics; ++i) whole.add_metrics("metric" + std::to_string(i));
  for (int i = 0; i < kLaunches; ++i) {
    proto::MeasuredLaunch& launch = *whole.add_launches();
    launch.set_correlation(static_cast<std::uint32_t>(i));
    for (int m = 0; m < kMetrics; ++m) launch.add_values(i + m);
  }
  whole.add_left_out()->set_kernel("other");
  REQUIRE(whole.ByteSizeLong() > kMaximumPayloadBytes / 2);
  int next = 0, left_out = 0;
  for (const proto::KernelMetrics& part : cut_for_frames(std::move(whole))) {
    CHECK(part.ByteSizeLong() <= limits::kWrittenPayloadBytes);
    CHECK(part.chip() == "GH100");
    REQUIRE(part.metrics_size() == kMetrics);
    for (const proto::MeasuredLaunch& launch : part.launches()) {
      REQUIRE(launch.correlation() == static_cast<std::uint32_t>(next));
      REQUIRE(launch.values(kMetrics - 1) == next + kMetrics - 1);
      ++next;
    }
    left_out += part.left_out_size();
  }
  CHECK(next == kLaunches);
  CHECK(left_out == 1);
}
