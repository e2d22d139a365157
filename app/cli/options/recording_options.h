// The options of every command that records, beside those on what and which part (capture_options.h, range_options.h): when, and into which file.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "options/capture_options.h"

namespace lanescope::cli {

// As typed.
struct RecordingOptions {
  double delay = 0;     // s
  double duration = 0;  // s; 0: not given, also below
  std::string output;
  bool force_overwrite = false;
  std::uint64_t maximum_file_size = 0;  // bytes
  double keep_last = 0;                 // s
  std::string session_name;
  std::vector<session::Label> labels;
};

// As describe_capture() (capture_options.h).
void describe_recording(CLI::App& app, RecordingOptions& options, Targets targets);

// Copies the options into a LaunchRequest or an AttachRequest.
template <typename Request>
void apply(const RecordingOptions& options, Request& request) {
  request.output = options.output;
  request.labels = options.labels;
  request.overwrite = options.force_overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  request.delay = seconds(options.delay);
  if (options.duration > 0) request.duration = seconds(options.duration);
  if (options.maximum_file_size > 0) request.maximum_file_size = options.maximum_file_size;
  if (options.keep_last > 0) request.keep_last = seconds(options.keep_last);
}

}  // namespace lanescope::cli
