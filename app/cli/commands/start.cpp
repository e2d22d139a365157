// lanescope start: starts a capture in a session, or leaves a start for a session to come.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "collector/session/planned_file.h"
#include "commands.h"
#include "options/start_options.h"
#include "remote/remote_work.h"
#include "session/message_values.h"
#include "session/session_directory.h"

namespace lanescope::cli {
namespace {

constexpr const char* kStartFooter =
    "Examples:\n"
    "  lanescope launch python serve.py               in one terminal; in another:\n"
    "  lanescope start -o busy -s none                record from now on, without samples\n"
    "  lanescope start -c cudaProfilerApi             record from cudaProfilerStart on\n"
    "  lanescope start -c nvtx -p step --stats        record a range, and print its statistics\n"
    "\n"
    "Without --session, the only session is meant. If there is none yet, the next lanescope launch is recorded from its\n"
    "start on. What is traced is chosen with lanescope launch. Options that are left out are those of the launch.";

std::string waits_for(const session::CaptureRange& range) {
  if (range.trigger == session::CaptureTrigger::kProfilerApi) return "cudaProfilerStart";
  return range.name.empty() ? "the NVTX range that lanescope launch names" : "the NVTX range \"" + range.name + "\"";
}

// Checked as far as possible here: the name of the range may be the session's.
Result<session::CaptureRequest> checked_request(StartOptions options) {
  const bool has_no_name = options.range.range == "nvtx" && options.range.nvtx_capture.empty();
  if (has_no_name) options.range.nvtx_capture = "unknown";
  Result<session::CaptureRequest> request = capture_request(options, "");
  if (request && has_no_name) request->range->name.clear();
  return request;
}

// Requires: hold_sessions().
int leave(const StartOptions& options, const session::CaptureRequest& request, const nlohmann::json& message) {
  const std::string name = options.new_session.empty() ? "start" : options.new_session;
  const auto is_among = [&name](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (is_among(session_names()))
    return fail({"There is a session " + name + " already. Begin a capture in it with: lanescope start --session=" + name, ErrorKind::kUsage});
  const bool replaces = is_among(left_starts());
  if (const Result<void> left = leave_start(name, message); !left) return fail(left.error());
  std::cerr << "The next lanescope launch is recorded from " << (request.range ? waits_for(*request.range) : "its start") << " on"
            << (replaces ? ", in place of what was asked for before" : "") << ". Take that back with: lanescope cancel\n";
  return kSuccess;
}

}  // namespace

int run_start(Arguments arguments) {
  CLI::App app("Begins a capture in a session.", "lanescope start");
  app.footer(kStartFooter);
  StartOptions options;
  describe_start(app, options);
  const nlohmann::json message = start_message(arguments);
  constexpr const char* kOfLaunch = "Give it to lanescope launch: it holds for every capture of the session.";
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments), kOfLaunch)) return *code;
  if (const Result<void> said = say_unrecorded(options.capture.unrecorded); !said) return fail(said.error());
  if (!remote.target.empty()) return run_there(remote, "start", app);
  const Result<session::CaptureRequest> request = checked_request(options);
  if (!request) return fail(request.error());
  if (const auto file = session::planned_file(options.output); !file) return fail(file.error());

  {
    const Result<channel::FileDescriptor> held = hold_sessions();
    if (!held) return fail(held.error());
    const bool is_first = options.session.empty() && session_names().empty();
    if (is_first || !options.new_session.empty()) return leave(options, *request, message);
  }
  const Result<std::string> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<SessionAnswer> answer = ask_session(*session, message);
  if (!answer) return fail(answer.error());
  const std::string file = text_in(answer->words, "file");
  if (file.empty() && request->range)
    std::cerr << "Recording begins with " << waits_for(*request->range) << ".\n";
  else
    std::cerr << "Recording into\n\t" << file << '\n';
  return kSuccess;
}

}  // namespace lanescope::cli
