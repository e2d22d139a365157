// What a command does if --on names another machine.
#pragma once

#include <optional>
#include <string>

#include "command.h"
#include "model/file/new_file.h"
#include "options/range_options.h"
#include "options/report_options.h"
#include "remote/remote_options.h"

namespace lanescope::cli {

// Where copies go, and what is made of them.
struct CopyOptions {
  std::string output;  // as for lanescope profile; the names of further files get a number
  Overwrite overwrite = Overwrite::kRefuse;
  ReportOptions reports;
  enum class Numbers { kFurther, kAll } numbers = Numbers::kFurther;  // kAll: the first file has a number, too, as with ranges that are captured repeatedly
};

// Numbers files as a recorder here would.
[[nodiscard]] CopyOptions::Numbers numbers_of(const RangeOptions& range);

// Records there, by profile, launch or attach with these options and operands, and copies the recording while it is made. Returns the exit code of the
// command there, or failure if copies are not the same as the files there.
int record_there(const RemoteOptions& remote, const std::string& command, Arguments options, Arguments operands, const CopyOptions& copy);

// Copies what a recording there has made, and what it makes until it ends.
int fetch_recording(const RemoteOptions& remote, const std::string& name, const CopyOptions& copy);

// Copies one file, which may still grow.
int fetch_file(const RemoteOptions& remote, const std::string& path, const CopyOptions& copy);

// Runs a command there that answers at once, with the options that were given to it here. Returns its exit code. Requires: `app` was parsed.
int run_there(const RemoteOptions& remote, const std::string& command, const CLI::App& app);

// Asks the machine that these options of a command name, or each of several, which values an option takes: --on ssh:gpu7 --nic-metrics=help. Returns its exit
// code; nothing if they name no machine. `options`: as for split_remote().
std::optional<int> ask_values_there(const CLI::App& app, const Arguments& options);

}  // namespace lanescope::cli
