// The frame of the command line: how a command is found, parses its arguments and ends.
//
// A new command: write commands/NAME.cpp with `int run_NAME(Arguments)`, declare it in commands/commands.h, and add its line to the table
// in command.cpp. The function builds a CLI::App of its own, calls parse(), works, and returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "run.h"

namespace lanescope::cli {

// Exit codes. `profile` returns the target's own exit code if there is one.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // it could not be done
inline constexpr int kUsage = 2;    // the request makes no sense

struct Command {
  std::string_view name;
  std::string_view summary;  // its line in `lanescope --help`
  int (*run)(Arguments arguments);
};
[[nodiscard]] std::span<const Command> commands();

// Parses arguments into what `app` describes. Returns the exit code if the command is over with that: after printing the help, or one sentence on what is
// wrong (with the nearest option for an unknown one). `of_launch`: what to say about options that this command does not have and `lanescope profile` has.
std::optional<int> parse(CLI::App& app, Arguments arguments, std::string_view of_launch = {});

// As parse(), but prints nothing. Throws CLI::Success if an option answers by itself, as --help does.
Result<void> read_options(CLI::App& app, Arguments arguments, std::string_view of_launch = {});

// Prints "lanescope: SENTENCE" to standard error and returns the exit code for it.
int fail(const Error& error);

// The arguments of a command that runs a program: its own options, then the program with its arguments, untouched.
struct ProgramArguments {
  Arguments options;
  Arguments program;
};
// Splits at the first argument that is neither an option of `app` nor the value of one, or after "--". Options of type bool that were added as flags may be
// followed by "true" or "false" as an argument of its own. Options of nsys's that ask for what is done here anyway are left out. Fails for an option that
// `app` does not have.
Result<ProgramArguments> split_program(const CLI::App& app, const Arguments& arguments);

// The position of the option `name` among those in front of the program, as split_program() takes them. `app` need not have that option. Returns
// arguments.size() if it is not there.
[[nodiscard]] std::size_t place_of_option(const CLI::App& app, const Arguments& arguments, std::string_view name);

// Of candidates that are spelled like `word`, the most similar one. If none is (more than a third of its letters differ), the shortest of those that it
// abbreviates: "--cuda-memory", "gpukernsum"; else empty.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace lanescope::cli
