#include "memory_budget.h"

#include <cstdlib>
#include <string>

#include "checks.h"
#include "command.h"
#include "model/file/memory_limits.h"
#include "model/trace/segments/demanded_segments.h"
#include "output/told.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lanescope::cli {
namespace {

// Segments are decoded on one thread and freed on another. If each thread has an arena of the C library, most of them hold idle free memory, in total nearly
// as much as the budget.
void share_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

Result<void> apply_memory_budget() {
  const char* said = std::getenv("LANESCOPE_MEMORY");
  if (said == nullptr || *said == '\0') return {};
  std::string size = said;
  if (const std::string wrong = size_in_bytes()(size); !wrong.empty()) return Error{"LANESCOPE_MEMORY: " + wrong + ".", ErrorKind::kUsage};
  share_freed_memory();
  SegmentCache::of_process().set_budget(std::stoull(size));
  return {};
}

bool fit_into_memory(std::uint64_t events) {
  constexpr std::uint64_t kEventBytes = 40;  // while a file is read
  return events <= free_memory() / 2 / kEventBytes;
}

int with_reading_checked(int code) {
  for (const std::string& problem : Told::of_command().left()) {
    const int failure = fail({problem});
    if (code == kSuccess) code = failure;
  }
  return code;
}

}  // namespace lanescope::cli
