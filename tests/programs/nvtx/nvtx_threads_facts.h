// The numbers of what nvtx_threads does, with which a test compares a recording.
#pragma once

#include <cstdint>

namespace lanescope::test::nvtx_threads {

inline constexpr std::uint64_t kWorkers = 4;       // threads "worker 0" to "worker 3", besides the main thread "conductor"
inline constexpr std::uint64_t kSteps = 100;       // of each worker, unless the first argument says otherwise
inline constexpr std::uint64_t kMarkEvery = 10;    // steps, for the mark "checkpoint"
inline constexpr std::uint64_t kRequests = 8;      // ranges that the main thread starts and the workers end
inline constexpr std::uint64_t kChildSteps = 10;   // of the forked child
inline constexpr std::uint64_t kPayloadMarks = 6;  // one for each type of payload, in the domain "payloads"

// Push/pop ranges of one step: "step" (domain "pipeline", registered, category, colour, payload = the step's number) encloses "load" and
// "compute" (default domain), and "compute" encloses a wide "größe π" (default domain).
inline constexpr std::uint64_t kRangesPerStep = 4;

inline constexpr std::uint32_t kComputeCategory = 7;     // "compute" in the domain "pipeline"
inline constexpr std::uint32_t kDefaultCategory = 3;     // "io" in the default domain, of "load"
inline constexpr std::uint32_t kStepColor = 0xff2266cc;  // ARGB
inline constexpr std::int64_t kNegativePayload = -1234567890123;
inline constexpr double kRealPayload = 2.5;

}  // namespace lanescope::test::nvtx_threads
