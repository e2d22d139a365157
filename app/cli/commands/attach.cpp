// lanescope attach: records a process that runs already.
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <limits>

#include "checks.h"
#include "collector/attach/candidate.h"
#include "collector/attach/process_list.h"
#include "collector/session/recording.h"
#include "commands.h"
#include "options/launch_options.h"
#include "options/recording_options.h"
#include "remote/remote_work.h"
#include "session/asking_program.h"
#include "session/recording_watch.h"
#include "session/session_directory.h"
#include "session/session_server.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using session::Recording;

struct AttachOptions {
  pid_t pid = 0;
  bool list = false;
  int asking = -1;
  int told = -1;  // a pipe (session/asking_program.h)
  CaptureOptions capture;
  RangeOptions range;
  RecordingOptions recording;
  RemoteOptions remote;
};

constexpr const char* kAttachFooter =
    "Examples:\n"
    "  lanescope attach 4711                      record CUDA and NVTX until Ctrl+C\n"
    "  lanescope attach 4711 -d 5 -o slow -f      5 seconds, into slow.trace\n"
    "  lanescope attach 4711 -t none              samples and states of its threads, from outside\n"
    "  lanescope attach 4711 -c nvtx -p step      what happens during one range\n"
    "  lanescope attach 4711 -Y                   record nothing before lanescope start, in another terminal\n"
    "  lanescope attach --list                    processes that can be recorded, those that use CUDA first\n"
    "\n"
    "One thread of the process stops for a moment and starts another one, which loads the agent. With -t none, nothing enters\n"
    "the process, and every kind of program can be recorded. When the recording ends, the process runs on, and can be attached\n"
    "to again. What it did before is not recorded; ranges that are open at that time are left out. The first Ctrl+C ends the\n"
    "recording in order, the second at once; lanescope stop ends it from another terminal. The exit code is 0; 1 if the process\n"
    "could not be recorded, or if the recording was moved or removed; 2 for wrong usage.";

void describe(CLI::App& app, AttachOptions& options) {
  app.add_option("PID", options.pid, "The process")->check(whole_number(1, std::numeric_limits<pid_t>::max()));
  app.add_flag("-l,--list", options.list, "List the processes of this machine instead")->group("Process");
  describe_capture(app, options.capture, Targets::kRunning);
  describe_range(app, options.range, Targets::kRunning);
  describe_start_later(app, options.range);
  describe_recording(app, options.recording, Targets::kRunning);
  describe_remote(app, options.remote);
  describe_unrecorded(app, options.capture.unrecorded);
  // For programs that ask for their own recording, as our Python package does (collector/attach/from_inside.h). No user types it.
  const auto descriptor = whole_number(0, std::numeric_limits<int>::max());
  CLI::Option* const asking = app.add_option("--from-inside", options.asking)->check(descriptor)->group("");
  app.add_option("--tell", options.told)->check(descriptor)->needs(asking)->group("");
}

const char* possible(const attach::ProcessSummary& process) {
  if (process.refusal.empty()) return "yes";
  return process.observation_refusal.empty() ? "-t none" : "no";
}

void print_process(const attach::ProcessSummary& process) {
  constexpr std::size_t kPidWidth = 8;
  constexpr std::size_t kUserWidth = 12;
  constexpr std::size_t kPossibleWidth = 7;
  const auto padded = [](std::string text, std::size_t width) {
    if (text.size() < width) text.resize(width, ' ');
    return text + ' ';
  };
  std::cout << padded(std::to_string(process.pid), kPidWidth) << padded(process.user, kUserWidth) << (process.uses_cuda ? "CUDA  " : "      ")
            << padded(possible(process), kPossibleWidth) << (process.command_line.empty() ? process.name : process.command_line) << '\n';
}

int print_list() {
  const std::vector<attach::ProcessSummary> processes = attach::list_processes();
  std::cout << "PID      USER         CUDA  CAN     COMMAND\n";
  for (const bool uses_cuda : {true, false})
    for (const attach::ProcessSummary& process : processes)
      if (process.uses_cuda == uses_cuda) print_process(process);
  return kSuccess;
}

Result<session::AttachRequest> attach_request(const AttachOptions& options) {
  session::AttachRequest request;
  request.pid = options.pid;
  request.asking = options.asking;
  Result<session::CaptureSettings> settings = capture_settings(options.capture);
  if (!settings) return settings.error();
  request.settings = std::move(*settings);
  if (options.capture.kernels.starts_with("counters"))
    return Error{
        "--kernels=" + options.capture.kernels + " is for programs that lanescope profile records with -t cuda, from their begin. There is --kernels=pc.",
        ErrorKind::kUsage};
  Result<session::CaptureRange> range = capture_range(options.range);
  if (!range) return range.error();
  request.settings.range = std::move(*range);
  // The recording ends with the capture, because there is no program of ours to wait for.
  if (request.settings.range.after == session::AfterCapture::kStop) request.settings.range.after = session::AfterCapture::kShutdown;
  request.settings.range.after_repeats = session::AfterCapture::kShutdown;
  apply(options.recording, request);
  return request;
}

int attach_elsewhere(const CLI::App& app, const AttachOptions& options) {
  if (options.list) return run_there(options.remote, "attach", app);
  constexpr std::array<std::string_view, 2> kHere{"output", "force-overwrite"};
  return record_there(options.remote, "attach", options_for_there(app, kHere), {std::to_string(options.pid)},
                      {options.recording.output, options.recording.force_overwrite ? Overwrite::kAllow : Overwrite::kRefuse, {}, numbers_of(options.range)});
}

// Adds to the error how a process can still be recorded that the agent can't enter.
Error with_way_out(Error error, const session::AttachRequest& request) {
  const Result<attach::Candidate> candidate = attach::read_candidate(request.pid);
  if (!candidate || !request.settings.cpu.any()) return error;
  const attach::TracerRights rights = attach::read_rights(*candidate);
  if (attach::refusal(*candidate, rights) && !attach::observation_refusal(*candidate, rights))
    error.text += " Its threads can be recorded from outside all the same: lanescope attach " + std::to_string(request.pid) + " -t none";
  return error;
}

int record_process(AttachOptions& options, const AskingProgram& asking) {
  Result<session::AttachRequest> request = attach_request(options);
  if (!request) return fail(request.error());
  std::string& name = options.recording.session_name;
  if (name.empty()) name = "attach-" + std::to_string(getpid());
  Result<SessionSocket> socket = hold_and_open_session(name);
  if (!socket && options.range.start_later) return fail(socket.error());
  RecorderSignals signals;
  Result<std::unique_ptr<Recording>> recording = Recording::attach(*request);
  if (!recording) return fail(with_way_out(recording.error(), *request));
  SessionServer server(**recording, std::move(socket), start_options(options.capture, options.range, {}));
  if (options.range.start_later)
    std::cerr << "Attached to process " << options.pid << "; lanescope start records it, Ctrl+C lets it go.\n";
  else if (options.recording.duration == 0 || options.asking >= 0)
    std::cerr << "Recording process " << options.pid << "; Ctrl+C ends it.\n";
  const Watched watched = watch(**recording, server, signals, OnSignal::kDetach, request->settings.range);
  for (const session::RecordedFile& file : watched.outcome.files) asking.tell("file", file.path.native());
  for (const std::string& line : losses(watched.outcome)) asking.tell("lost", line);
  if (watched.outcome.failure) return fail(*watched.outcome.failure);
  switch (watched.outcome.attached_process) {
    case session::AttachedProcess::kUnfollowed:
      return fail({"Nothing was recorded of what process " + std::to_string(options.pid) + " does itself: it could not be followed."});
    case session::AttachedProcess::kBecameAnother:
      return fail({"Process " + std::to_string(options.pid) +
                   " became another program (exec), and nothing was recorded of what that one does itself. Attach to it anew, or start it with lanescope "
                   "profile."});
    case session::AttachedProcess::kFollowed:
      break;
  }
  return watched.reports == Reports::kMade ? kSuccess : kFailure;
}

}  // namespace

int run_attach(Arguments arguments) {
  CLI::App app("Records a process that runs already, without restarting it.", "lanescope attach");
  app.footer(kAttachFooter);
  AttachOptions options;
  describe(app, options);
  if (const auto code = parse(app, std::move(arguments), "It is for programs that lanescope profile starts.")) return *code;
  const bool is_here = options.remote.target.empty();
  if (!is_here && options.asking >= 0) return fail({"A process that records itself is recorded where it runs: --on is not for it.", ErrorKind::kUsage});
  if (const Result<void> said = say_unrecorded(options.capture.unrecorded); !said) return fail(said.error());
  if (options.list && is_here) return print_list();
  if (options.pid == 0 && !options.list) return fail({"Which process? lanescope attach [OPTIONS] PID (see: lanescope attach --list)", ErrorKind::kUsage});
  if (!is_here) return attach_elsewhere(app, options);
  const AskingProgram asking(options.told);
  const int code = record_process(options, asking);
  asking.tell("end", std::to_string(code));
  return code;
}

}  // namespace lanescope::cli
