// What the dialog for another machine asks for: where, what to run there, and what to record of it.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include "collector/remote/remote_work.h"
#include "record/launch_settings.h"

namespace lanescope::ui {

struct RemoteSettings {
  QString target;     // as lanescope profile --on takes it
  QString lanescope;  // the program there; empty: lanescope, in the PATH of a command
  LaunchSettings launch;  // its folder is there, empty: where commands begin; the output file is here
};

// The options of lanescope profile that ask for what these choices do on this machine. Fails with one sentence, as launch_request() does.
[[nodiscard]] Result<std::vector<std::string>> profile_options(const LaunchSettings& settings);

// What is to be begun there, without its functions. Fails with one sentence where the target is none, or as above.
[[nodiscard]] Result<remote::WorkSettings> remote_work(const RemoteSettings& settings);
// A question that is answered at once, such as lanescope doctor.
[[nodiscard]] Result<remote::WorkSettings> remote_question(const RemoteSettings& settings, std::vector<std::string> arguments);

}  // namespace lanescope::ui
