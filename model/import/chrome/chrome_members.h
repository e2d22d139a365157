// The members of a Chrome trace in addition to its events. Internal to model/import.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "../import_limits.h"
#include "chrome_samples.h"
#include "model/trace/trace.h"

namespace lanescope::importers {

struct ChromeMembers {
  std::map<std::uint32_t, Gpu> devices;  // by CUDA ordinal: PyTorch's deviceProperties
  std::int64_t utc_base = 0;             // ns since 1970 at the file's time 0; 0 if unknown
  std::string host_name;
  std::string producer;
  std::optional<Nanoseconds> recording_start;  // in ns since the file's time 0: what our own recordings count from
  std::optional<SavedPart> part;               // for a saved part, in ns since the file's time 0
  std::uint32_t attached_pid = 0;              // of our own recordings: the process that was attached to
  ChromeFrames frames;                         // by id
  std::uint64_t frames_left_out = 0;           // because they exceed the limits
};

// The members that read_members() reads.
inline constexpr std::string_view kReadMembers[] = {"deviceProperties", "stackFrames", "baseTimeNanoseconds", "host_name",      "producer",
                                                    "partBegin",        "partEnd",     "partLaunches",        "recordingStart", "attachedPid"};

// Takes members by name, as JSON text. Members that are not JSON, or not as expected, are ignored.
[[nodiscard]] ChromeMembers read_members(const std::map<std::string, std::string>& members, const ImportLimits& limits);

}  // namespace lanescope::importers
