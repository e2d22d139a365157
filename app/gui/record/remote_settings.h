// The result of the dialog for other machines: where to record, what to run there, and what to record of it.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include <sys/types.h>

#include "collector/remote/recorder_copy.h"
#include "collector/remote/remote_work.h"
#include "record/launch_settings.h"

namespace lanescope::ui {

struct RemoteSettings {
  QString target;                   // in the form that lanescope profile --on takes
  QString lanescope;                // the program there; empty: lanescope in the PATH of a command
  LaunchSettings launch;            // its working directory is there, empty: where commands start; the output file is here
  Target what = Target::kLaunched;  // kRunning: of `launch`, only the capture and the output file are used
  QString process;                  // kRunning: the process number, possibly followed by more text
  QString further;                  // kLaunched: further targets, on which the same starts at the same time; words as in a shell
};

// The options of lanescope profile that correspond to these choices on this machine. Fails with one sentence, as launch_request() does, but does not check
// files that are read on the other machine.
[[nodiscard]] Result<std::vector<std::string>> profile_options(const LaunchSettings& settings);
// The same for lanescope attach.
[[nodiscard]] std::vector<std::string> attach_options(const CaptureChoices& choices);
// The chosen process; 0: none.
[[nodiscard]] pid_t process_of(const RemoteSettings& settings);

// What to do on a machine, for remote::work_by().
struct RemoteWork {
  remote::RecorderThere there;
  remote::WorkSettings work;  // without its command and its functions
  QString output;             // of several machines, each has its own; empty: the asked one
};
// The program that is copied to machines without one.
[[nodiscard]] remote::RecorderToCopy recorder_here();
// The recordings: one for each target, in order. Fails with one sentence if a target is not valid, or as above.
[[nodiscard]] Result<std::vector<RemoteWork>> remote_work(const RemoteSettings& settings);
// A command that answers at once, for example lanescope doctor.
[[nodiscard]] Result<RemoteWork> remote_question(const RemoteSettings& settings, std::vector<std::string> arguments);

}  // namespace lanescope::ui
