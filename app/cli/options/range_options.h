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
  std::optional<bool> stop_on_range_end;  // the older way to say it
  bool start_later = false;               // then the range, without its trigger, is what lanescope start has without an own one
};

// As describe_capture() (capture_options.h); what lanescope start and the others have, and what the others have beside it.
void describe_range(CLI::App& app, RangeOptions& options, Targets targets);
void describe_start_later(CLI::App& app, RangeOptions& options);

// Fails with one sentence, of kind kUsage, where a value is none or two contradict each other.
Result<session::CaptureRange> capture_range(const RangeOptions& options);

}  // namespace lanescope::cli
