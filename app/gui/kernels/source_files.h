// Texts of source files that a recording names, as they are on this machine.
#pragma once

#include <optional>
#include <string>

#include <QStringList>

#include "model/trace/trace.h"

namespace lanescope::ui {

// Lines of the file at its recorded path, or else below one of the folders: at the longest end of that path that is there. Only regular files
// of up to 16 MiB are read. None where there is no such file.
struct SourceText {
  QString path;
  QStringList lines;
  qint64 bytes = 0;
};
[[nodiscard]] std::optional<SourceText> read_source(const std::string& recorded_path, const QStringList& folders);
// The trace's own text of it, where it was recorded with the code; else likewise.
[[nodiscard]] std::optional<SourceText> read_source(const Trace& trace, const std::string& recorded_path, const QStringList& folders);

}  // namespace lanescope::ui
