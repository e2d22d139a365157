// The program of a trace, for starting it again to record what the trace lacks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::kernels {

struct Program {
  std::vector<std::string> command;  // as it was started; not empty
  std::filesystem::path folder;      // working directory; empty: unknown, or not on this machine
};

// Nothing if the trace does not say how its program was started. The command is untrusted: do not start it without the user's request.
[[nodiscard]] std::optional<Program> program_of(const Trace& trace);

}  // namespace lanescope::kernels
