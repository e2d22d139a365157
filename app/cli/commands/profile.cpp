// lanescope profile: runs a program and records it. Spelled like `nsys profile` where both have the option.
#include <csignal>
#include <map>

#include "../capture_options.h"
#include "../recording_watch.h"
#include "collector/session/armed.h"
#include "collector/session/recording.h"
#include "commands.h"

namespace lanescope::cli {
namespace {

using session::Recording;

// What the options say, as typed.
struct Options {
  Arguments program;
  CaptureOptions capture;
  std::string output;
  bool force_overwrite = false;
  bool show_output = true;
  bool print_statistics = false;
  std::vector<std::string> environment;
  bool inherit_environment = true;
  bool arm = false;
  double delay = 0;
  double duration = 0;
  std::string kill = "sigterm";
  bool stop_on_exit = true;
  std::string wait = "all";
};

void describe_when(CLI::App& app, Options& options) {
  constexpr const char* kGroup = "When";
  app.add_option("-y,--delay", options.delay, "What happens before is not recorded")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
      ->group(kGroup);
  app.add_option("-d,--duration", options.duration, "Then the recording ends, and the program too (--kill)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group(kGroup);
  app.add_option("--kill", options.kill, "What ends the program after the duration:\nnone, sigterm, sigkill, or a number")
      ->type_name("SIGNAL")
      ->default_str("sigterm")
      ->group(kGroup);
  app.add_flag("-x,--stop-on-exit", options.stop_on_exit, "End when the program ends; false requires --duration [true]")->group(kGroup);
  app.add_option("--wait", options.wait, "For the end of: primary (the program), or all (also its\nrecorded children)")
      ->type_name("WHOM")
      ->check(CLI::IsMember({"primary", "all"}))
      ->default_str("all")
      ->group(kGroup);
}

void describe_where(CLI::App& app, Options& options) {
  constexpr const char* kGroup = "Output";
  app.add_option("-o,--output", options.output,
                 "The file; .trace is added. %p: the program's pid, %h: host\n"
                 "name, %n: smallest unused number, %q{NAME}: environment\n"
                 "variable, %%: a percent sign")
      ->type_name("FILE")
      ->default_str("report%n")
      ->group(kGroup);
  app.add_flag("-f,--force-overwrite", options.force_overwrite, "Replace the file when it exists [false]")->group(kGroup);
  app.add_flag("-w,--show-output", options.show_output, "Show what the program prints; it is stored in any case [true]")->group(kGroup);
  app.add_flag("--stats", options.print_statistics, "Print the default reports of `lanescope stats` at the end [false]")->group(kGroup);
}

void describe_program(CLI::App& app, Options& options) {
  constexpr const char* kGroup = "Program";
  app.add_option("PROGRAM", options.program, "What to run, and its arguments");
  app.add_option("-e,--env-var", options.environment, "Environment variables for it: A=B,C=D")
      ->type_name("LIST")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_flag("-n,--inherit-environment", options.inherit_environment, "Give it our environment [true]")->group(kGroup);
  app.add_flag("--arm", options.arm, "Record nothing yet: lanescope attach does, whenever it is\nwanted, and loses nothing")->group(kGroup);
}

constexpr const char* kFooter =
    "Examples:\n"
    "  lanescope profile python train.py                      record CUDA and NVTX into report1.trace\n"
    "  lanescope profile -t nvtx -o run%p ./app --size 4      only NVTX; the pid in the file's name\n"
    "  lanescope profile -y 10 -d 5 --kill none ./server      5 seconds, 10 seconds after the start; the server runs on\n"
    "\n"
    "Boolean options are given bare, as --option=false, or as -f false. Ctrl+C once ends the recording in order, twice at once;\n"
    "the file is valid in both cases. Our own messages go to standard error. The exit code is the program's, 128 + N when\n"
    "signal N ended it, 1 when it could not be recorded, 2 for wrong usage.";

Result<std::vector<session::EnvironmentChange>> environment_changes(const std::vector<std::string>& texts) {
  std::vector<session::EnvironmentChange> changes;
  for (const std::string& text : texts) {
    // A comma separates only where NAME= follows, so that values may hold commas.
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t equals = text.find('=', begin);
      if (equals == std::string::npos || equals == begin)
        return Error{"--env-var needs NAME=VALUE, not \"" + text.substr(begin) + "\".", ErrorKind::kUsage};
      const std::size_t next_equals = text.find('=', equals + 1);
      std::size_t end = next_equals == std::string::npos ? std::string::npos : text.rfind(',', next_equals);
      if (end == std::string::npos || end < equals) end = text.size();
      changes.push_back({text.substr(begin, equals - begin), text.substr(equals + 1, end - equals - 1)});
      begin = end + 1;
    }
  }
  return changes;
}

Result<std::optional<int>> end_signal(const std::string& text) {
  static const std::map<std::string, std::optional<int>> kNamed{{"none", std::nullopt}, {"sigterm", SIGTERM}, {"sigkill", SIGKILL}};
  if (const auto found = kNamed.find(text); found != kNamed.end()) return found->second;
  const bool is_number = !text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string::npos;
  const int number = is_number ? std::stoi(text) : 0;
  if (number <= 0 || number >= SIGRTMAX)
    return Error{"--kill takes none, sigterm, sigkill, or a signal's number, not \"" + text + "\".", ErrorKind::kUsage};
  return std::optional<int>(number);
}

Result<session::LaunchRequest> launch_request(const Options& options, std::vector<std::string> command) {
  session::LaunchRequest request;
  request.command = std::move(command);
  Result<std::vector<session::EnvironmentChange>> environment = environment_changes(options.environment);
  if (!environment) return environment.error();
  request.environment = std::move(*environment);
  request.inherit_environment = options.inherit_environment ? session::InheritEnvironment::kYes : session::InheritEnvironment::kNo;
  request.target_output = options.show_output ? session::TargetOutput::kShowAndStore : session::TargetOutput::kStore;
  request.settings = capture_settings(options.capture);
  request.output = options.output;
  request.overwrite = options.force_overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  request.delay = seconds(options.delay);
  if (options.duration > 0) request.duration = seconds(options.duration);
  if (!options.stop_on_exit && !request.duration) return Error{"--stop-on-exit=false requires --duration.", ErrorKind::kUsage};
  const Result<std::optional<int>> signal = end_signal(options.kill);
  if (!signal) return signal.error();
  request.end_signal = *signal;
  request.wait_for = options.wait == "primary" ? session::WaitFor::kPrimary : session::WaitFor::kAll;
  request.on_target_exit = options.stop_on_exit ? session::OnTargetExit::kStop : session::OnTargetExit::kGoOn;
  return request;
}

int exit_code(const session::RecordingOutcome& outcome, int signal) {
  if (outcome.failure) return fail(*outcome.failure);
  if (!outcome.target) return signal == 0 ? kSuccess : 128 + signal;
  return outcome.target->signal != 0 ? 128 + outcome.target->signal : outcome.target->code;
}

int run_armed(const Arguments& program) {
  const Result<std::filesystem::path> agent = session::find_agent();
  return fail(agent ? session::become_armed(program, *agent) : agent.error());
}

}  // namespace

int run_profile(Arguments arguments) {
  CLI::App app("Runs a program and records what its threads, the CUDA API, the GPU and its NVTX ranges do.", "lanescope profile");
  app.footer(kFooter);
  Options options;
  describe_capture(app, options.capture, Targets::kLaunched);
  describe_when(app, options);
  describe_where(app, options);
  describe_program(app, options);

  Result<ProgramArguments> split = split_program(app, arguments);
  if (!split) return fail(split.error());
  if (const auto code = parse(app, split->options)) return *code;
  if (split->program.empty()) return fail({"Which program? lanescope profile [OPTIONS] PROGRAM [ARGUMENTS...]", ErrorKind::kUsage});
  if (options.arm) return run_armed(split->program);
  Result<session::LaunchRequest> request = launch_request(options, std::move(split->program));
  if (!request) return fail(request.error());

  EndingSignals signals;
  Result<std::unique_ptr<Recording>> recording = Recording::launch(std::move(*request));
  if (!recording) return fail(recording.error());
  const int signal = wait_for_end(**recording, signals, OnSignal::kEndProgram);
  const session::RecordingOutcome outcome = (*recording)->outcome();
  print_outcome(**recording, outcome);
  if (options.print_statistics) run_stats({(*recording)->path().string()});
  return exit_code(outcome, signal);
}

}  // namespace lanescope::cli
