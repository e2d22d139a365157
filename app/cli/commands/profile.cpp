// lanescope profile and launch: run a program and record it. Options are spelled as in nsys if both have them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "collector/session/armed.h"
#include "collector/session/inheritance.h"
#include "collector/session/recording.h"
#include "commands.h"
#include "options/launch_options.h"
#include "remote/remote_work.h"
#include "remote/several_machines.h"
#include "session/ending.h"
#include "session/first_process.h"
#include "session/imported_sources.h"
#include "session/recording_counters.h"
#include "session/recording_watch.h"
#include "session/session_directory.h"
#include "session/session_server.h"

namespace lanescope::cli {
namespace {

using session::Recording;

constexpr const char* kProfileFooter =
    "Examples:\n"
    "  lanescope profile python train.py                      record CUDA and NVTX into report1.trace\n"
    "  lanescope profile -t nvtx -o run%p ./app --size 4      only NVTX; the pid in the file's name\n"
    "  lanescope profile -y 10 -d 5 --kill none ./server      5 seconds, 10 seconds after the start; the server runs on\n"
    "  lanescope profile -c nvtx -p \"step 100\" ./app          what happens during one range, then the end\n"
    "  lanescope profile -c cudaProfilerApi --capture-range-end=repeat:3 -o part ./app    part.1, part.2 and part.3.trace\n"
    "  lanescope profile --on ssh:gpu7 -o run ./app           there; run.trace grows here meanwhile\n"
    "  lanescope profile --on ssh:gpu7 --on ssh:gpu8 -o run ./app    on both at once: run-gpu7.trace and run-gpu8.trace\n"
    "\n"
    "Boolean options are given bare, as --option=false, or as -f false; --command-file=FILE stands for the options in a file.\n"
    "--option=help prints which values an option takes, or what there is on this machine: --trace=help, --nic-metrics=help.\n"
    "The first Ctrl+C asks the program to end, and the recording ends with it; the second ends the recording at once. The file is\n"
    "valid in both cases. Other signals are passed on to the program, unless they were sent to its process group and have reached it\n"
    "already. Messages of lanescope go to standard error. If limits leave no room to record the program, it runs without being\n"
    "recorded. The exit code is the program's, or 128 + N if signal N ended it; 2 for wrong usage. It is 1 if the program could not be\n"
    "started, or if it ended with 0 but was not recorded, its output could not be written, its recording was moved or removed, or an\n"
    "export or report that was asked for could not be made.";

constexpr const char* kLaunchFooter =
    "Examples:\n"
    "  lanescope launch python serve.py       here; the program runs, and nothing is recorded\n"
    "  lanescope start -o busy                in another terminal: record from now\n"
    "  lanescope stop                         the file is complete; start may follow again\n"
    "  lanescope shutdown                     end the program\n"
    "\n"
    "All options of lanescope profile hold for each capture, where lanescope start does not say otherwise. A start may also come\n"
    "first: the program is then recorded from its begin, or from the range that the start names (-c).";

// Processes could not be followed, and there are no others of which something was recorded.
bool is_unrecorded(const session::RecordingOutcome& outcome) {
  const auto is_empty = [](const session::ProcessCompleteness& process) { return process.produced == 0; };
  return outcome.unfollowed_processes > 0 && std::all_of(outcome.processes.begin(), outcome.processes.end(), is_empty);
}

int exit_code(const session::RecordingOutcome& outcome, int signal) {
  if (!outcome.target && outcome.failure) return kFailure;
  if (!outcome.target) return signal == 0 ? kSuccess : 128 + signal;
  if (outcome.target->signal != 0) return 128 + outcome.target->signal;
  // The program can't know: its writes succeeded here, although they would have failed without us, and it does not know about the recording.
  const bool is_lacking = outcome.is_output_cut || outcome.lost_files > 0 || is_unrecorded(outcome);
  return outcome.target->code == kSuccess && is_lacking ? kFailure : outcome.target->code;
}

// The signal that came to us and ended the program, or the recording of a program that runs on; 0: none.
int signal_of_end(const Watched& watched) {
  const int signal = watched.outcome.target ? watched.outcome.target->signal : watched.signal;
  return signal != 0 && (watched.came >> (signal - 1) & 1) != 0 ? signal : 0;
}

int run_armed(const Arguments& program) {
  const Result<std::filesystem::path> agent = session::find_agent();
  return fail(agent ? session::become_armed(program, *agent) : agent.error());
}

// The start that was left for the session that starts now. Fails if it is not clear which one is meant.
Result<HeldStart> left_start(const std::string& session, std::string& new_session) {
  const std::vector<std::string> left = left_starts();
  const auto is_among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::string& named = session.empty() ? new_session : session;
  if (is_among(left, named)) return HeldStart(new_session = named);
  if (!session.empty() && is_among(session_names(), session))
    return Error{"The session " + session + " runs a program already, and is for one alone: leave --session away.", ErrorKind::kUsage};
  if (!session.empty()) return Error{"There is no session " + session + ". Name a new one with: --session-new=" + session, ErrorKind::kUsage};
  if (!new_session.empty()) return HeldStart();
  const Result<std::string> only = only_left_start();
  if (!only) return only.error();
  return only->empty() ? HeldStart() : HeldStart(new_session = *only);
}

Result<session::LaunchRequest> request_with_start(LaunchOptions& options, const nlohmann::json& left, std::vector<std::string> program) {
  if (left.is_null()) return launch_request(options, std::move(program));
  StartOptions start = start_options(options.capture, options.range, options.reports);
  Result<session::CaptureRequest> first = read_start(left, start);
  if (!first) return first.error();
  options.capture = start.capture;
  options.reports = start.reports;
  Result<session::LaunchRequest> request = launch_request(options, std::move(program));
  if (request) request->first_capture = std::move(*first);
  return request;
}

// The differences between the two commands.
struct Form {
  const char* name;
  const char* description;
  const char* footer;
  bool starts_later;
};

// Where the session can be asked from here on, and the start that was left for it.
struct BegunSession {
  Result<SessionSocket> socket;
  HeldStart start;
};

// Makes the session before its program runs, and in one step: others that leave a start, or start a session of this name, come either before it or after it.
// Fails if it is not clear which start is meant, and if a session that must be asked to record can't be asked.
Result<BegunSession> begin_session(const Form& form, const std::string& session, LaunchOptions& options) {
  std::string& name = options.recording.session_name;
  const Result<channel::FileDescriptor> held = hold_sessions();
  if (!held && options.range.start_later) return held.error();
  Result<HeldStart> start = form.starts_later ? left_start(session, name) : HeldStart();
  if (!start) return start.error();
  if (name.empty()) name = std::string(form.name) + "-" + std::to_string(getpid());
  Result<SessionSocket> socket = held ? open_session(name) : held.error();
  if (!socket && options.range.start_later) return socket.error();
  return BegunSession{std::move(socket), std::move(*start)};
}

int record_elsewhere(const Form& form, const CLI::App& app, const RemoteOptions& remote, LaunchOptions options, Arguments program) {
  if (options.arm) return fail({"--arm records nothing, so there is nothing to copy. Give it to lanescope profile there.", ErrorKind::kUsage});
  if (remote.targets.size() > 1) {
    constexpr std::array<std::string_view, 1> kOwn{"output"};  // each has its own
    return record_on_each(remote, form.name, options_for_there(app, kOwn), program, options.recording.output);
  }
  // These options are handled here, because the files are copied to this machine.
  constexpr std::array<std::string_view, 4> kHere{"output", "force-overwrite", "export", "stats"};
  const Overwrite overwrite = options.recording.force_overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  options.reports.overwrite = overwrite;
  return record_there(remote, form.name, options_for_there(app, kHere), std::move(program),
                      {options.recording.output, overwrite, options.reports, numbers_of(options.range)});
}

void add_sources(const session::RecordingOutcome& outcome, session::SourceRights rights) {
  for (const session::RecordedFile& file : outcome.files)
    if (const Result<void> imported = import_sources(file.path, rights, file.identity); !imported) std::cerr << "lanescope: " << imported.error().text << '\n';
}

// The typed options.
struct Typed {
  LaunchOptions options;
  RemoteOptions remote;
  bool imports_sources = false;
  std::string session;  // a start was left for it
  Arguments program;
};

void describe(CLI::App& app, const Form& form, Typed& typed) {
  app.footer(form.footer);
  describe_launch(app, typed.options);
  describe_remote(app, typed.remote, StartsProgram::kYes);
  if (form.starts_later)
    app.add_option("--session", typed.session, "The one for which lanescope start was given already")->type_name("NAME")->group("Output");
  else
    app.add_flag("--import-source", typed.imports_sources, "Put the sources of the kernels whose warps were sampled\n(--kernels=pc) into the recording")
        ->group("What to record");
}

// Returns an exit code if nothing is to be run.
std::optional<int> read(CLI::App& app, const Arguments& arguments, Typed& typed) {
  Result<Arguments> expanded = with_command_file(app, arguments);
  if (!expanded) return fail(expanded.error());
  Result<ProgramArguments> split = split_program(app, *expanded);
  if (!split) return fail(split.error());
  if (const auto code = parse(app, split->options)) return code;
  if (split->program.empty()) return fail({"Which program? " + app.get_name() + " [OPTIONS] PROGRAM [ARGUMENTS...]", ErrorKind::kUsage});
  typed.program = std::move(split->program);
  if (typed.imports_sources && !typed.options.capture.kernels.starts_with("pc"))
    return fail({"--import-source is for the sources of kernels whose warps are sampled: take it with --kernels=pc.", ErrorKind::kUsage});
  if (typed.imports_sources && !typed.remote.target.empty())
    return fail({"--import-source takes the sources of this machine: give it to lanescope profile there.", ErrorKind::kUsage});
  return std::nullopt;
}

// Fails if an export that was asked for could not be made of the one file that is recorded.
Result<void> check_outputs(const Form& form, const session::LaunchRequest& request, const LaunchOptions& options) {
  const bool is_one_file = form.starts_later ? request.first_capture.has_value() : request.settings.range.after != session::AfterCapture::kRepeat;
  if (!is_one_file) return {};
  return check_exports(request.first_capture ? request.first_capture->output : options.recording.output, options.reports);
}

int record_here(const Form& form, Typed typed) {
  LaunchOptions& options = typed.options;
  leave_first_process();
  options.range.start_later = options.range.start_later || form.starts_later;
  options.reports.overwrite = options.recording.force_overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  Result<BegunSession> begun = begin_session(form, typed.session, options);
  if (!begun) return fail(begun.error());
  Result<session::LaunchRequest> request = request_with_start(options, begun->start.message(), std::move(typed.program));
  if (!request) return fail(request.error());
  if (const Result<void> can_be_made = check_outputs(form, *request, options); !can_be_made) return fail(can_be_made.error());
  const Result<std::unique_ptr<RecordingCounters>> started = RecordingCounters::start(options.capture.kernels, *request);
  if (!started) return fail(started.error());
  RecordingCounters* const counters = started->get();
  request->unrecorded = [&begun](const Error& shortage) {
    if (begun->socket) begun->socket->remove_place();  // this process stands for the program from here on, or becomes it
    std::cerr << "lanescope: " << shortage.text << " The program runs without being recorded." << std::endl;
  };
  const session::SourceRights rights = request->run_as ? session::SourceRights::kEverybodys : session::SourceRights::kOurs;
  const session::CaptureRange range = request->settings.range;
  RecorderSignals signals(request->command);
  request->process_made = [&signals](pid_t process) { signals.note_missed(process); };
  request->given_descriptors = session::GivenDescriptors::kAreForProgram;
  request->receiver_of = [&signals](const siginfo_t& signal, pid_t program) { return signals.receiver_of(signal, program); };
  Result<std::unique_ptr<Recording>> recording = Recording::launch(std::move(*request));
  if (!recording) return fail(recording.error());
  session::let_go_of_standard_input();
  if (!options.range.start_later && !options.reports.print_statistics) session::let_go_of_standard_output();
  begun->start.use_up();
  SessionServer server(**recording, std::move(begun->socket), start_options(options.capture, options.range, options.reports));
  if (counters != nullptr) counters->await_plan();
  const Watched watched = watch(**recording, server, signals, OnSignal::kEndProgram, range);
  if (counters != nullptr || typed.imports_sources) signals.release();
  const auto add = [&] {
    if (counters != nullptr) counters->add_to(watched.outcome);
    if (typed.imports_sources) add_sources(watched.outcome, rights);
  };
  static_cast<void>(is_made("What was to be added to the recording", add));
  end_by(signal_of_end(watched));
  const int code = exit_code(watched.outcome, watched.signal);
  return code == kSuccess && watched.reports == Reports::kLacking ? kFailure : code;
}

int run_program(const Form& form, const Arguments& arguments) {
  CLI::App app(form.description, std::string("lanescope ") + form.name);
  Typed typed;
  describe(app, form, typed);
  if (const auto code = read(app, arguments, typed)) return *code;
  if (const Result<void> said = say_unrecorded(typed.options.capture.unrecorded); !said) return fail(said.error());
  if (!typed.remote.target.empty()) return record_elsewhere(form, app, typed.remote, std::move(typed.options), std::move(typed.program));
  if (typed.options.arm) return run_armed(typed.program);
  return record_here(form, std::move(typed));
}

}  // namespace

int run_profile(Arguments arguments) {
  constexpr Form kForm{"profile", "Runs a program and records what its threads, the CUDA API, the GPU and its NVTX ranges do.", kProfileFooter, false};
  return run_program(kForm, arguments);
}

int run_launch(Arguments arguments) {
  constexpr Form kForm{"launch", "Runs a program that is recorded when `lanescope start` says so.", kLaunchFooter, true};
  return run_program(kForm, arguments);
}

}  // namespace lanescope::cli
