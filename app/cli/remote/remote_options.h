// The options of commands that can be given to another machine.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

#include "command.h"

namespace lanescope::cli {

// As typed.
struct RemoteOptions {
  std::string target;                   // empty: this machine
  std::string lanescope = "lanescope";  // there
  std::string folder;                   // there, in which a program runs
};

enum class RemoteFolder { kOffered, kNone };

// As describe_capture() (capture_options.h).
void describe_remote(CLI::App& app, RemoteOptions& options, RemoteFolder folder = RemoteFolder::kNone);

// The options that were given to a command, in a form that another lanescope takes, without those that concern this machine: the remote ones
// and these. Requires: `app` was parsed.
[[nodiscard]] Arguments options_for_there(const CLI::App& app, std::span<const std::string_view> kept_here = {});

}  // namespace lanescope::cli
