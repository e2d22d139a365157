// Reads source files that a recording names from this machine.
#pragma once

#include <optional>
#include <string>

#include <QStringList>

#include "model/trace/trace.h"

namespace lanescope::ui {

// Lines of the file at its recorded path, or else below one of the folders, at the longest end of that path that exists there. Only regular files of up to 16
// MiB are read. Nothing if there is no such file.
struct SourceText {
  QString path;
  QStringList lines;
  qint64 bytes = 0;
};
[[nodiscard]] std::optional<SourceText> read_source(const std::string& recorded_path, const QStringList& folders);
// The text in the trace if the trace was recorded with source code; else as above.
[[nodiscard]] std::optional<SourceText> read_source(const Trace& trace, const std::string& recorded_path, const QStringList& folders);

}  // namespace lanescope::ui
