// lanescope kernels, with the options of ncu in people's guides: the program runs, and one line says what is left out.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "command.h"
#include "options/kernels_command_options.h"
#include "ran_command.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cli;

namespace {

// What is left out of a command line without its program; nothing if it is wrong usage.
std::optional<std::vector<UnrecordedOptions::Item>> left_out_of(Arguments arguments) {
  CLI::App app("", "lanescope kernels");
  KernelOptions options;
  describe(app, options);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    UNSCOPED_INFO(error.what());
    return std::nullopt;
  }
  if (!take_ncu_options(app, options, KernelSource::kProgram) || !check(options)) return std::nullopt;
  return options.of_ncu.items;
}

}  // namespace

TEST_CASE("options of ncu that have no meaning here are left out, each with a line that says what to do") {
  const std::vector<std::pair<Arguments, std::size_t>> cases{
      {{"--set", "full", "--target-processes", "all", "--kernel-name-base", "demangled", "-k", "regex:gemm"}, 1},
      {{"--kernel-name-base=function"}, 0},  // as it is here
      {{"--section-folder", "/x", "--section", "SpeedOfLight"}, 1},
      {{"--sampling-interval", "0", "--warp-sampling-max-passes=5", "--pm-sampling-interval", "1000"}, 3},
      {{"--apply-rules", "no", "--rule", "SOLBottleneck", "--print-details", "all", "--print-units", "base", "--print-fp"}, 5},
      {{"--apply-rules", "yes"}, 0},
      {{"--mode", "launch-and-attach", "--kill", "no", "--check-exit-code=yes"}, 0},
      {{"--nvtx", "--nvtx-include", "step/", "--nvtx-exclude", "warm-up/"}, 1},
      {{"--clock-control", "none", "--cache-control", "none", "--launch-skip-before-match", "2", "--filter-mode=per-gpu"}, 2},
      {{"--export", "report", "--open-in-ui", "--verbose", "--config-file", "off"}, 4},
      {{"--profile-from-start", "off"}, 0},
      {{"--replay-mode", "application", "--app-replay-match", "grid", "--app-replay-buffer=memory"}, 2},
  };
  for (const auto& [arguments, count] : cases) {
    CAPTURE(arguments);
    const auto items = left_out_of(arguments);
    REQUIRE(items);
    CHECK(items->size() == count);
    for (const UnrecordedOptions::Item& item : *items) CHECK_FALSE(item.advice.empty());
  }
  CHECK_FALSE(left_out_of({"--no-such-option"}));
}

TEST_CASE("a program without -- before it is not taken for a file to show") {
  const test::TemporaryFolder folder;
  const std::string program = (folder.path() / "app").string();
  std::ofstream(program) << "#!/bin/sh\n";
  const test::Ran before = test::run_command({"kernels", program});
  CHECK(before.code == 1);  // it may not be run: a file like any other
  CHECK_THAT(before.messages, contains_text("no table of Nsight Compute's"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  for (const Arguments& options : {Arguments{}, Arguments{"--set", "full"}, Arguments{"-k", "gemm", "--print-units", "base"}}) {
    Arguments words{"kernels"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(program);
    const test::Ran told = test::run_command(words);
    CHECK(told.code == kUsage);
    CHECK_THAT(told.messages, contains_text("lanescope kernels ... -- " + program));
    CHECK(std::count(told.messages.begin(), told.messages.end(), '\n') == 1);
  }
}
