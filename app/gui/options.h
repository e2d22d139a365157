// The command line of lanescope-ui.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include <QStringList>

#include "model/text/language.h"
#include "window/screenshot.h"

namespace lanescope::ui {

struct Options {
  QStringList files;
  Several several = Several::kBeside;
  OpeningView view;
  std::optional<ScreenshotRequest> screenshot;
  const Language* language = nullptr;  // null: the language of the settings or of the desktop
};

// A text that the program prints before it ends.
struct Answer {
  QString text;
  int exit_code = 0;  // 0: to the standard output; else to the standard error
};

[[nodiscard]] std::variant<Options, Answer> parse_options(const QStringList& arguments);  // without the program's name

}  // namespace lanescope::ui
