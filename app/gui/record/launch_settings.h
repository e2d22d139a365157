// What the Launch and Attach dialogs ask for: what to record, and how.
#pragma once

#include <QString>
#include <QStringList>

#include "collector/session/recording.h"
#include "model/file/result.h"
#include "record/capture_choices.h"

namespace lanescope::ui {

struct LaunchSettings {
  QString program;
  QString arguments;          // as in a shell, without expansion: words, and quotes around words with spaces
  QString working_directory;  // empty: the viewer's
  QStringList environment;    // NAME=VALUE
  bool inherit_environment = true;
  bool overwrite = false;  // the output file
  CaptureChoices capture;
  QString output;  // file name with patterns; relative to the working directory; empty: report%n.trace
};

// Fails with one sentence where the program is missing or a line of the environment is not NAME=VALUE.
[[nodiscard]] Result<session::LaunchRequest> launch_request(const LaunchSettings& settings);

// The name of the output file as a recording takes it: absolute, with its patterns; relative names are of this folder (empty: the viewer's).
[[nodiscard]] std::string output_pattern(const QString& asked, const QString& folder);

struct AttachSettings {
  pid_t pid = 0;
  QString program;  // its name, under which the choices are remembered
  CaptureChoices capture;
  bool overwrite = false;
  QString output;  // as in LaunchSettings; relative to the viewer's working directory
};

[[nodiscard]] session::AttachRequest attach_request(const AttachSettings& settings);

}  // namespace lanescope::ui
