// Which events and tables an export writes.
#pragma once

#include <optional>

#include "model/trace/types.h"

namespace lanescope {

enum class EmptyTables { kOmit, kCreate };  // tables that would have no row

struct ExportSelection {
  std::optional<TimeRange> window;  // events that overlap it, or start in it, with their whole duration; all where there is none
};

}  // namespace lanescope
