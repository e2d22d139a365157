#include "command.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include "commands/commands.h"
#include "memory_budget.h"
#include "options/foreign_options.h"
#include "output/told.h"
#include "session/ending.h"

namespace lanescope::cli {
namespace {

constexpr std::array kCommands{
    Command{"profile", "Run a program and record it into a .trace file", run_profile},
    Command{"attach", "Record a process that runs already", run_attach},
    Command{"launch", "Run a program, to be recorded when it is asked for", run_launch},
    Command{"start", "Begin a capture in a session", run_start},
    Command{"stop", "End the capture of a session; the program runs on", run_stop},
    Command{"cancel", "End the capture of a session and throw it away", run_cancel},
    Command{"shutdown", "End a session and its program", run_shutdown},
    Command{"sessions", "List the sessions of this user", run_sessions},
    Command{"fetch", "Copy a trace or a recording from another machine", run_fetch},
    Command{"serve", "Answer a lanescope on another machine", run_serve},
    Command{"doctor", "Say what this machine lacks to record, and the remedy", run_doctor},
    Command{"status", "Say what this machine can record, as nsys does", run_status},
    Command{"info", "Show what a .trace file holds and how complete it is", run_info},
    Command{"stats", "Answer questions about a trace with tables", run_stats},
    Command{"query", "Answer a question in SQL about a trace", run_query},
    Command{"analyze", "Say what costs time, where, and what to do", run_analyze},
    Command{"diff", "Say what changed from one trace to another", run_diff},
    Command{"export", "Write a trace in a format that other tools read", run_export},
    Command{"report", "Write one page about a trace, for a browser", run_report},
    Command{"import", "Save a trace of another tool as a .trace file", run_import},
    Command{"kernels", "Say what bounds kernels, by counters of the hardware", run_kernels},
    Command{"fleet", "Ask one question of many traces: of all ranks, of many nights", run_fleet},
};

constexpr std::string_view kIntroduction = "lanescope " LANESCOPE_VERSION
                                           " - an open timeline profiler for CUDA programs\n"
                                           "\n"
                                           "Usage: lanescope COMMAND [OPTIONS] ...\n"
                                           "\n"
                                           "Commands:\n";

constexpr std::string_view kExamples =
    "\n"
    "Examples:\n"
    "  lanescope profile -o first python train.py   record into first.trace\n"
    "  lanescope info first.trace                   what was recorded, and is it complete\n"
    "  lanescope stats first.trace                  where time goes, by function, kernel, copy and range\n"
    "  lanescope-ui first.trace                     look at it on a timeline\n"
    "\n"
    "`lanescope COMMAND --help` explains a command. Exit codes: 0 success, 1 failure, 2 wrong usage; `profile` returns the\n"
    "program's own exit code, or 128 + N when signal N ended it.\n";

int print_help() {
  std::cout << kIntroduction;
  for (const Command& command : commands()) std::cout << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary << '\n';
  std::cout << kExamples;
  return kSuccess;
}

int unknown_command(const std::string& name) {
  if (const auto advice = foreign_command_advice(name)) return fail({"There is no command " + name + ". " + *advice, ErrorKind::kUsage});
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  const std::string suggestion = nearest(name, names);
  if (!suggestion.empty()) return fail({"Unknown command " + name + ". Did you mean " + suggestion + "?", ErrorKind::kUsage});
  return fail({"Unknown command " + name + ". See: lanescope --help", ErrorKind::kUsage});
}

// True if the reader of our output has left because it has read what it wanted: `lanescope stats FILE | head`.
bool reader_left() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

// The exit code of a command that is over. It becomes failure if the output could not be written.
int with_output_checked(int code) {
  std::cout.flush();
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (code != kSuccess || is_written || reader_left()) return code;
  return fail({"Standard output can't be written to its end. Is there room where it goes?"});
}

int run_command(Arguments arguments) {
  if (arguments.empty()) {
    print_help();
    return kUsage;
  }
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "--help" || name == "-h" || (name == "help" && arguments.empty())) return print_help();
  if (name == "--version" || name == "-v") {
    std::cout << "lanescope " LANESCOPE_VERSION "\n";
    return kSuccess;
  }
  const std::string wanted = name == "help" ? arguments.front() : name;
  if (name == "help") arguments = {"--help"};
  if (wanted == "recipe") return run_fleet(std::move(arguments));
  for (const Command& command : commands())
    if (command.name == wanted) return command.run(std::move(arguments));
  if (wanted.starts_with('-')) return fail({"Unknown option " + wanted + " before a command. See: lanescope --help", ErrorKind::kUsage});
  return unknown_command(wanted);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run(Arguments arguments) {
  Told::of_command().begin();
  try {
    if (const auto budget = apply_memory_budget(); !budget) return fail(budget.error());
    return with_reading_checked(with_output_checked(run_command(std::move(arguments))));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {        // a container could not hold more
  } catch (const std::system_error& error) {  // there was no room for a thread
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
  }
  const int failure =
      fail({"There is not enough memory for this. Close other programs, ask for less (a range of time, fewer reports), or use a machine with "
            "more."});
  return kept_code().value_or(failure);
}

int fail(const Error& error) {
  Told::of_command().add(error.text);
  std::cerr << "lanescope: " << error.text << '\n';
  return error.kind == ErrorKind::kUsage ? kUsage : kFailure;
}

}  // namespace lanescope::cli
