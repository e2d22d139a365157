// Which events an export writes.
#pragma once

#include <optional>

#include "model/trace/types.h"

namespace lanescope {

struct ExportSelection {
  std::optional<TimeRange> window;  // events that overlap it, or start in it, with their whole duration; all where there is none
};

}  // namespace lanescope
