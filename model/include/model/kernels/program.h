// The program of a trace, to be started again for what the trace lacks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::kernels {

struct Program {
  std::vector<std::string> command;  // as it was started; not empty
  std::filesystem::path folder;      // in which it was; empty: that is not known, or not here
};

// None where the trace does not say how its program was started. What it says is somebody else's word: nothing starts it unasked.
[[nodiscard]] std::optional<Program> program_of(const Trace& trace);

}  // namespace lanescope::kernels
