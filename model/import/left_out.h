// Reports what an import left out. Internal to model/import.
#pragma once

#include <cstdint>
#include <string>

#include "model/trace/trace_builder.h"

namespace lanescope::importers {

// "1 event", "2 events".
[[nodiscard]] std::string counted(std::uint64_t number, const std::string& what);

// Adds a warning to the trace unless the number is 0: "2 events with times that are out of range were left out."
void say_left_out(TraceBuilder& builder, std::uint64_t number, const std::string& what, const std::string& which);

}  // namespace lanescope::importers
