// What a Chrome trace says beside its events. Internal to model/import.
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
  std::int64_t utc_base = 0;             // ns since 1970 that the file's time 0 stands for; 0 when not known
  std::string host_name;
  std::string producer;
  std::optional<SavedPart> part;      // of a part that was saved, in ns since the file's time 0
  ChromeFrames frames;                // by id
  std::uint64_t frames_left_out = 0;  // which are more than the limits allow
};

// The members that read_members() reads.
inline constexpr std::string_view kReadMembers[] = {"deviceProperties", "stackFrames", "baseTimeNanoseconds", "host_name", "producer",
                                                    "partBegin",        "partEnd",     "partLaunches"};

// Of members by name, as JSON text. What is not JSON, or not as expected, says nothing.
[[nodiscard]] ChromeMembers read_members(const std::map<std::string, std::string>& members, const ImportLimits& limits);

}  // namespace lanescope::importers
