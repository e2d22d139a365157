// Which answer of a form for launching is wrong, so that its field can be marked.
#pragma once

#include <optional>
#include <string>

#include "record/launch_settings.h"

namespace lanescope::ui {

// An answer with which nothing can be launched.
enum class LaunchField { kProgram, kArguments, kEnvironment, kRange, kGpus };
struct WrongAnswer {
  LaunchField field = LaunchField::kProgram;
  std::string sentence;  // what is wrong
};
// The first wrong answer, for which launch_request() fails. Nothing if all can be understood; whether the program exists is not asked.
[[nodiscard]] std::optional<WrongAnswer> wrong_answer(const LaunchSettings& settings);

}  // namespace lanescope::ui
