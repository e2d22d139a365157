// Recordings as files, and what compaction makes of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/trace/compact/compaction.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

inline std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(LANESCOPE_TEST_DATA))
    if (entry.path().extension() == ".trace") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<const Trace> loaded(const std::filesystem::path& path) {
  auto trace = load_trace(path);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

inline Compacted compacted(const std::filesystem::path& from, const std::filesystem::path& to, const CompactionOptions& options = {}) {
  auto result = compact_trace_file(from, to, Overwrite::kAllow, {}, options);
  if (!result) FAIL(result.error().text);
  return *result;
}

}  // namespace lanescope::test
