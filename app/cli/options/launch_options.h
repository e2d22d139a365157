// The options of commands that run a program.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "command.h"
#include "options/capture_options.h"
#include "options/range_options.h"
#include "options/recording_options.h"
#include "options/report_options.h"
#include "options/start_options.h"

namespace lanescope::cli {

// As typed.
struct LaunchOptions {
  Arguments program;
  CaptureOptions capture;
  RangeOptions range;
  RecordingOptions recording;
  bool show_output = true;
  bool store_output = true;
  ReportOptions reports;
  std::vector<std::string> environment;
  bool inherit_environment = true;
  std::string run_as;
  bool arm = false;
  std::string kill = "sigterm";
  bool stop_on_exit = true;
  std::string wait = "all";
};

// As describe_capture() (capture_options.h).
void describe_launch(CLI::App& app, LaunchOptions& options);
// Fails with one sentence, of kind kUsage, if a value is not valid, two contradict each other, or the user to start it as is unknown.
Result<session::LaunchRequest> launch_request(const LaunchOptions& options, std::vector<std::string> command);

// The defaults for a start of this session.
[[nodiscard]] StartOptions start_options(const CaptureOptions& capture, const RangeOptions& range, const ReportOptions& reports);

// Reads "none" (no signal), "sigterm", "sigkill", or a number; else fails with one sentence.
Result<std::optional<int>> end_signal(const std::string& text);
[[nodiscard]] std::vector<std::string> signals_of_end();  // what it reads

// Replaces the first --command-file=FILE among the options in front of the program by the content of the file: arguments, split as a shell would split them.
// The program's words stay as they are.
Result<Arguments> with_command_file(const CLI::App& app, const Arguments& arguments);

}  // namespace lanescope::cli
