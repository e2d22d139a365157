// The options of lanescope start: what one capture of a session is like.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "collector/session/recording.h"
#include "command.h"
#include "options/capture_options.h"
#include "options/range_options.h"
#include "options/report_options.h"

namespace lanescope::cli {

// As typed; what is not given is as in the session.
struct StartOptions {
  CaptureOptions capture;  // only threads and GPU metrics
  RangeOptions range;
  std::string output;
  bool overwrite = false;
  std::string session;      // the session's name; empty: the only one
  std::string new_session;  // the name of a session that lanescope launch will make
  double duration = 0;
  std::optional<bool> stop_on_exit;
  ReportOptions reports;
};

// As describe_capture() (capture_options.h).
void describe_start(CLI::App& app, StartOptions& options);

// Fails with one sentence if the options contradict each other. `folder`: the file's name is relative to it.
Result<session::CaptureRequest> capture_request(const StartOptions& options, const std::filesystem::path& folder);

// The request that carries these arguments of lanescope start to a session: see session_directory.h.
nlohmann::json start_message(const Arguments& arguments);
// Reads such a message, over the session's own options.
Result<session::CaptureRequest> read_start(const nlohmann::json& message, StartOptions& options);

}  // namespace lanescope::cli
