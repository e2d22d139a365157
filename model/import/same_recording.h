// Where a trace comes from, compared with another one. Internal to model/import.
#pragma once

#include "model/trace/trace.h"

namespace lanescope {

// False for a trace in the format of another tool.
[[nodiscard]] bool is_recording(const Trace& trace);
// True if both are recordings that began in the same nanosecond of the same clocks: one recording, or parts of it.
[[nodiscard]] bool began_as_one(const Trace& one, const Trace& other);

}  // namespace lanescope
