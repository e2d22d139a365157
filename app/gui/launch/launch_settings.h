// What the Launch dialog asks for: a program to record, and how.
#pragma once

#include <QString>
#include <QStringList>

#include "collector/session/recording.h"
#include "model/file/result.h"

namespace lanescope::ui {

struct LaunchSettings {
  QString program;
  QString arguments;          // as in a shell, without expansion: words, and quotes around words with spaces
  QString working_directory;  // empty: the viewer's
  QStringList environment;    // NAME=VALUE
  bool trace_cuda = true;
  bool trace_nvtx = true;
  session::Preset preset = session::Preset::kDefault;
  QString output;  // file name with patterns; relative to the working directory; empty: report%n.trace
};

// Fails with one sentence where the program is missing or a line of the environment is not NAME=VALUE.
[[nodiscard]] Result<session::LaunchRequest> launch_request(const LaunchSettings& settings);

}  // namespace lanescope::ui
