// The options that say which part of a program's run is recorded.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "collector/session/recording.h"
#include "options/capture_options.h"

namespace lanescope::cli {

// As typed.
struct RangeOptions {
  std::string range = "none";
  std::string range_end = "stop-shutdown";
  std::string nvtx_capture;
  std::optional<bool> stop_on_range_end;  // the older spelling
  bool start_later = false;               // the range, without its trigger, is then the default of lanescope start
};

// As describe_capture() (capture_options.h). describe_range() adds what lanescope start and the other commands have; describe_start_later() adds what only
// the others have.
void describe_range(CLI::App& app, RangeOptions& options, Targets targets);
void describe_start_later(CLI::App& app, RangeOptions& options);

// Fails with one sentence, of kind kUsage, if a value is not valid or two contradict each other.
Result<session::CaptureRange> capture_range(const RangeOptions& options);

}  // namespace lanescope::cli
