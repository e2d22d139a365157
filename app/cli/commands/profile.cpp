// lanescope profile and launch: run a program and record it. Spelled like nsys where both have the option.
#include <unistd.h>

#include <csignal>

#include "../launch_options.h"
#include "../recording_watch.h"
#include "../session_server.h"
#include "collector/session/armed.h"
#include "collector/session/recording.h"
#include "commands.h"

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
    "\n"
    "Boolean options are given bare, as --option=false, or as -f false; --command-file=FILE stands for the options in a file.\n"
    "Ctrl+C once ends the recording in order, twice at once; the file is valid in both cases. Our own messages go to standard\n"
    "error. The exit code is the program's, 128 + N when signal N ended it, 1 when it could not be recorded, 2 for wrong usage.";

constexpr const char* kLaunchFooter =
    "Examples:\n"
    "  lanescope launch python serve.py       here; the program runs, and nothing is recorded\n"
    "  lanescope start -o busy                in another terminal: record from now\n"
    "  lanescope stop                         the file is complete; start may follow again\n"
    "  lanescope shutdown                     end the program\n"
    "\n"
    "All options of lanescope profile hold for each capture.";

int exit_code(const session::RecordingOutcome& outcome, int signal) {
  if (!outcome.target && outcome.failure) return kFailure;
  if (!outcome.target) return signal == 0 ? kSuccess : 128 + signal;
  return outcome.target->signal != 0 ? 128 + outcome.target->signal : outcome.target->code;
}

int run_armed(const Arguments& program) {
  const Result<std::filesystem::path> agent = session::find_agent();
  return fail(agent ? session::become_armed(program, *agent) : agent.error());
}

void write_exports(const LaunchOptions& options, const session::RecordingOutcome& outcome) {
  for (const session::RecordedFile& file : outcome.files)
    for (const std::string& type : options.exports)
      if (type != "none")
        run_export(options.force_overwrite ? Arguments{"-f", "-t", type, file.path.string()} : Arguments{"-t", type, file.path.string()});
}

// What the two commands differ in.
struct Form {
  const char* name;
  const char* description;
  const char* footer;
  bool starts_later;
};

int run_program(const Form& form, Arguments arguments) {
  const std::string command = std::string("lanescope ") + form.name;
  CLI::App app(form.description, command);
  app.footer(form.footer);
  LaunchOptions options;
  describe_launch(app, options);

  Result<Arguments> expanded = with_command_files(arguments);
  if (!expanded) return fail(expanded.error());
  Result<ProgramArguments> split = split_program(app, *expanded);
  if (!split) return fail(split.error());
  if (const auto code = parse(app, split->options)) return *code;
  if (split->program.empty()) return fail({"Which program? " + command + " [OPTIONS] PROGRAM [ARGUMENTS...]", ErrorKind::kUsage});
  if (options.arm) return run_armed(split->program);
  options.range.start_later = options.range.start_later || form.starts_later;
  Result<session::LaunchRequest> request = launch_request(options, std::move(split->program));
  if (!request) return fail(request.error());

  EndingSignals signals;
  Result<std::unique_ptr<Recording>> recording = Recording::launch(std::move(*request));
  if (!recording) return fail(recording.error());
  const std::string session = options.session_name.empty() ? std::string(form.name) + "-" + std::to_string(getpid()) : options.session_name;
  int signal = 0;
  {
    const SessionServer server(**recording, session);
    signal = wait_for_end(**recording, signals, OnSignal::kEndProgram);
  }
  const session::RecordingOutcome outcome = (*recording)->outcome();
  add_outlines(outcome);
  print_outcome(**recording, outcome);
  write_exports(options, outcome);
  if (options.print_statistics)
    for (const session::RecordedFile& file : outcome.files) run_stats({file.path.string()});
  return exit_code(outcome, signal);
}

}  // namespace

int run_profile(Arguments arguments) {
  constexpr Form kForm{"profile", "Runs a program and records what its threads, the CUDA API, the GPU and its NVTX ranges do.",
                       kProfileFooter, false};
  return run_program(kForm, std::move(arguments));
}

int run_launch(Arguments arguments) {
  constexpr Form kForm{"launch", "Runs a program that is recorded when `lanescope start` says so.", kLaunchFooter, true};
  return run_program(kForm, std::move(arguments));
}

}  // namespace lanescope::cli
