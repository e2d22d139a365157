// Who holds the lock of a Python interpreter (GIL). A trace keeps it as start/end ranges of an NVTX domain, one after the other on each thread, which
// enclose nothing that the thread does. If a sub-interpreter has a lock of its own, " of interpreter 3" is appended to their names.
#pragma once

#include <string_view>

#include "model/trace/trace.h"

namespace lanescope {

inline constexpr std::string_view kPythonLockDomain = "Python GIL";
inline constexpr std::string_view kHoldsPythonLock = "holds the GIL";
inline constexpr std::string_view kAwaitsPythonLock = "waits for the GIL";

// True if this track has such ranges. O(log domains).
[[nodiscard]] inline bool is_of_python_lock(const Trace& trace, const TrackKey& key) noexcept {
  return key.kind == TrackKind::kNvtxProcessRanges && trace.domain_name(key.process, key.domain) == kPythonLockDomain;
}

}  // namespace lanescope
