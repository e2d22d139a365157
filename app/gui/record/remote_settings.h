// What the dialog for another machine asks for: where, what to run there, and what to record of it.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include <sys/types.h>

#include "collector/remote/remote_work.h"
#include "record/launch_settings.h"

namespace lanescope::ui {

struct RemoteSettings {
  QString target;                   // as lanescope profile --on takes it
  QString lanescope;                // the program there; empty: lanescope, in the PATH of a command
  LaunchSettings launch;            // its folder is there, empty: where commands begin; the output file is here
  Target what = Target::kLaunched;  // kRunning: what `launch` has of a program counts for nothing but its capture and its output file
  QString process;                  // kRunning: its number, perhaps with more text behind
  QString further;                  // kLaunched: more targets, where the same begins at the same time; words as of a shell
};

// The options of lanescope profile that ask for what these choices do on this machine. Fails with one sentence, as launch_request() does, but
// takes files that are read there as they are.
[[nodiscard]] Result<std::vector<std::string>> profile_options(const LaunchSettings& settings);
// The same of lanescope attach.
[[nodiscard]] std::vector<std::string> attach_options(const CaptureChoices& choices);
// The process that is meant; 0: none.
[[nodiscard]] pid_t process_of(const RemoteSettings& settings);

// What is to be begun there, without its functions: one for each target, the first first. Fails with one sentence where a target is none, or as
// above.
[[nodiscard]] Result<std::vector<remote::WorkSettings>> remote_work(const RemoteSettings& settings);
// The output file of one of several machines: as asked for, with what the target calls its machine.
[[nodiscard]] QString output_of_machine(const QString& output, const QString& target);
// A question that is answered at once, such as lanescope doctor.
[[nodiscard]] Result<remote::WorkSettings> remote_question(const RemoteSettings& settings, std::vector<std::string> arguments);

}  // namespace lanescope::ui
