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
  std::string recorded_folder;       // the same as the trace says, wherever that was; empty: unknown
};

// Nothing if the trace does not say how its program was started. The command is untrusted: do not start it without the user's request. Of a trace that
// is combined of several recordings: the program of the first.
[[nodiscard]] std::optional<Program> program_of(const Trace& trace);
// The program of the recording that the process is in. O(log tracks).
[[nodiscard]] std::optional<Program> program_of(const Trace& trace, ProcessId process);

}  // namespace lanescope::kernels
