// Recordings whose events stay in their file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "support/catch.h"

namespace lanescope::test {

// The budget of the cache during the lifetime of the object.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) { SegmentCache::of_process().set_budget(bytes); }
  ~MemoryBudget() { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
};

inline std::shared_ptr<const Trace> opened_in_file(const std::filesystem::path& path) {
  auto trace = load_trace(path, {}, EventPlace::kInFile);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

}  // namespace lanescope::test
