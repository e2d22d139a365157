// Launches that should be counted and cannot be: that they are named, and what is seen of them from outside.
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "agent/channel/membership.h"
#include "collector/session/measuring_watch.h"
#include "counted_program.h"
#include "kernel_metrics/evaluation.h"

using namespace lanescope;
using namespace lanescope::test;

// For example, a kernel that spins until another one sets a flag, while CUPTI lets it run alone.
TEST_CASE("a launch that does not come to an end is seen from outside, and is named when the program was ended") {
  using namespace std::chrono_literals;
  constexpr auto kPatience = 10s;
  session::MeasuringWatch watch;
  std::vector<std::uint32_t> running{agent::process_instance()};
  const session::MeasuringWatch::Clock::time_point begin{};
  Program program(all_launches(), {{"GH100", "x    "}}, channel::CounterReplay::kKernel);
  cuLaunchKernel_params parameters{};
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin));
  program.launch("_Z4gemmv");
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 1s));
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 1h));
  program.call(kLaunch, CUPTI_API_ENTER, "_Z4spinPi", &parameters, 2);
  REQUIRE(program.mock().is_started);
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 1h + 1s));
  // As after Ctrl+Z: of the time in which nobody looked, only the longest pause between looks counts.
  session::MeasuringWatch stopped;
  CHECK_FALSE(stopped.look(program.record_folder(), running, kPatience, begin + 1h + 1s));
  CHECK_FALSE(stopped.look(program.record_folder(), running, kPatience, begin + 3h));
  CHECK(stopped.look(program.record_folder(), running, kPatience, begin + 3h + 1s) == "_Z4spinPi");
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 1h + 11s));
  CHECK(watch.look(program.record_folder(), running, kPatience, begin + 1h + 12s) == "_Z4spinPi");
  // If it is another process that has ended meanwhile, nobody waits for it.
  running.front() += 1;
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 1h + 13s));
  running.front() -= 1;
  const auto left_out = [&program] {
    const auto metrics = kernel_metrics::Evaluation(nullptr, kernel_metrics::ReadPlan{})
                             .evaluate(std::filesystem::directory_iterator(program.record_folder())->path(), {})
                             .metrics;
    std::map<std::string, std::string> reasons;
    for (const proto::KernelMetrics& part : metrics)
      for (const proto::KernelLeftOut& each : part.left_out()) reasons[each.kernel()] = each.reason();
    return reasons;
  };
  CHECK_THAT(left_out()["_Z4spinPi"], contains_text("Its measuring did not come to an end"));
  program.mock().kernels = 1;
  program.call(kLaunch, CUPTI_API_EXIT, "_Z4spinPi", &parameters, 2);
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 2h));
  CHECK_THAT(left_out()["_Z4spinPi"], !contains_text("Its measuring did not come to an end"));
  CHECK(program.counted().size() == 2);

  // Other kinds of files in the folder.
  std::ofstream(program.record_folder() / "senseless") << "no record at all, and longer than the head of one";
  std::filesystem::create_symlink("/dev/zero", program.record_folder() / "link");
  CHECK(mkfifo((program.record_folder() / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(watch.look(program.record_folder(), running, kPatience, begin + 3h));
}

TEST_CASE("a launch of which there is no room to say that its measuring has ended is not taken for one that never ends") {
  using namespace std::chrono_literals;
  session::MeasuringWatch watch;
  const std::vector<std::uint32_t> running{agent::process_instance()};
  const session::MeasuringWatch::Clock::time_point begin{};
  Program program(all_launches(), {{"GH100", "x    "}}, channel::CounterReplay::kKernel);
  cuLaunchKernel_params parameters{};
  program.call(kLaunch, CUPTI_API_ENTER, "_Z4gemmv", &parameters, 1);
  REQUIRE(program.mock().is_started);
  CHECK_FALSE(watch.look(program.record_folder(), running, 10s, begin));
  const auto file = std::filesystem::directory_iterator(program.record_folder())->path();
  const std::uintmax_t bytes = std::filesystem::file_size(file);
  struct rlimit before {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit full { bytes, before.rlim_max };
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  program.mock().kernels = 1;
  program.call(kLaunch, CUPTI_API_EXIT, "_Z4gemmv", &parameters, 1);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE(std::filesystem::file_size(file) == bytes);
  CHECK_FALSE(watch.look(program.record_folder(), running, 10s, begin + 11s));
}

TEST_CASE("kernels of more contexts than are measured are left out with that reason") {
  Program program(all_launches(), {{"GH100", "x    "}});
  for (std::uintptr_t i = 0; i < 18; ++i) {
    program.context = reinterpret_cast<CUcontext>(0x1000 + 0x10 * i);
    program.launch("_Z4gemmv");
    CHECK(program.was_counted() == (i < 16));
  }
  const auto records = program.records();
  REQUIRE(records.counted.size() == 17);  // reported once
  CHECK(records.counted.back().record.outcome == channel::CounterOutcome::kLeftOut);
  CHECK(records.counted.back().kernel == "_Z4gemmv");
  CHECK(records.counted.back().reason == "The program has more CUDA contexts than counters are read in: 16, those that launched first.");
}
