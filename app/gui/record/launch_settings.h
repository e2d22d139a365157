// The result of the Launch and Attach dialogs: what to record, and how.
#pragma once

#include <QString>
#include <QStringList>

#include "collector/session/recording.h"
#include "model/file/result.h"
#include "record/capture_choices.h"

namespace lanescope::ui {

struct LaunchSettings {
  QString program;
  QString arguments;          // as in a shell, without expansion: words; quotes hold words with spaces together
  QString working_directory;  // empty: that of the viewer
  QStringList environment;    // NAME=VALUE
  bool inherit_environment = true;
  bool overwrite = false;  // the output file
  CaptureChoices capture;
  QString output;  // file name with patterns; relative to the working directory; empty: report%n.trace
};

// Fails with one sentence if the program is missing or a line of the environment is not NAME=VALUE.
[[nodiscard]] Result<session::LaunchRequest> launch_request(const LaunchSettings& settings);

// The name of the output file for a recording: absolute, with its patterns. Relative names start at `folder` (empty: the viewer's working directory).
[[nodiscard]] std::string output_pattern(const QString& asked, const QString& folder);

struct AttachSettings {
  pid_t pid = 0;
  QString program;  // its name, under which the choices are stored
  CaptureChoices capture;
  bool overwrite = false;
  QString output;  // as in LaunchSettings; relative to the viewer's working directory
};

[[nodiscard]] session::AttachRequest attach_request(const AttachSettings& settings);

}  // namespace lanescope::ui
