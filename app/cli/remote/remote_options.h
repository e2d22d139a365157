// The options of commands that can be given to another machine.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

namespace lanescope::cli {

// As typed.
struct RemoteOptions {
  std::string target;                   // empty: this machine
  std::vector<std::string> targets;     // of a command that can be given to several machines: all of them, the first of which is `target`
  std::string lanescope = "lanescope";  // there
  std::string folder;                   // there, in which a program runs
  bool copies_recorder = false;         // to there, where there is not this one
  bool is_one_of_several = false;       // a lanescope that records on several machines has started this one, and may answer questions (machine_process.h)
};

enum class StartsProgram { kYes, kNo };

// As describe_capture() (capture_options.h). A command that starts a program may do so on several machines, and names its folder there.
void describe_remote(CLI::App& app, RemoteOptions& options, StartsProgram starts = StartsProgram::kNo);

// The options that were given to a command, in a form that another lanescope takes. Options that concern this machine are left out: the remote ones and those
// in `kept_here`. Requires: `app` was parsed.
[[nodiscard]] Arguments options_for_there(const CLI::App& app, std::span<const std::string_view> kept_here = {});

// The remote options among those of a command that has them, and the others, in order. `options`: as parse() hands them to CLI11. Returns nothing if none of
// them names another machine.
struct SplitOptions {
  RemoteOptions remote;
  Arguments others;
};
[[nodiscard]] std::optional<SplitOptions> split_remote(const CLI::App& app, const Arguments& options);

}  // namespace lanescope::cli
