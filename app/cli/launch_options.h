// The options of commands that run a program.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capture_options.h"
#include "collector/session/recording.h"
#include "command.h"
#include "range_options.h"
#include "recording_options.h"
#include "report_options.h"
#include "start_options.h"

namespace lanescope::cli {

// As typed.
struct LaunchOptions {
  Arguments program;
  CaptureOptions capture;
  RangeOptions range;
  RecordingOptions recording;
  bool show_output = true;
  ReportOptions reports;
  std::vector<std::string> environment;
  bool inherit_environment = true;
  std::string run_as;
  bool arm = false;
  std::string kill = "sigterm";
  bool stop_on_exit = true;
  std::string wait = "all";
};

void describe_launch(CLI::App& app, LaunchOptions& options);
Result<session::LaunchRequest> launch_request(const LaunchOptions& options, std::vector<std::string> command);

// What a start of this session has that says nothing else.
[[nodiscard]] StartOptions start_options(const CaptureOptions& capture, const RangeOptions& range, const ReportOptions& reports);

// "none", "sigterm", "sigkill", or a number.
Result<std::optional<int>> end_signal(const std::string& text);

// Puts the content of the first --command-file=FILE in its place: arguments as a shell would split them.
Result<Arguments> with_command_files(const Arguments& arguments);

}  // namespace lanescope::cli
