// The options that say which part of a program's run is recorded.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "capture_options.h"
#include "collector/session/recording.h"

namespace lanescope::cli {

// As typed.
struct RangeOptions {
  std::string range = "none";
  std::string range_end = "stop-shutdown";
  std::string nvtx_capture;
  std::optional<bool> stop_on_range_end;  // the older way to say it
  bool start_later = false;
};

void describe_range(CLI::App& app, RangeOptions& options, Targets targets);
Result<session::CaptureRange> capture_range(const RangeOptions& options);

}  // namespace lanescope::cli
