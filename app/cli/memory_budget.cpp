#include "memory_budget.h"

#include <cstdlib>
#include <string>

#include "checks.h"
#include "command.h"
#include "model/trace/demanded_segments.h"

namespace lanescope::cli {

Result<void> apply_memory_budget() {
  const char* said = std::getenv("LANESCOPE_MEMORY");
  if (said == nullptr || *said == '\0') return {};
  std::string size = said;
  if (const std::string wrong = size_in_bytes()(size); !wrong.empty()) return Error{"LANESCOPE_MEMORY: " + wrong + ".", ErrorKind::kUsage};
  SegmentCache::of_process().set_budget(std::stoull(size));
  return {};
}

int with_reading_checked(int code) {
  for (const std::string& problem : SegmentCache::of_process().problems()) {
    const int failure = fail({problem});
    if (code == kSuccess) code = failure;
  }
  return code;
}

}  // namespace lanescope::cli
