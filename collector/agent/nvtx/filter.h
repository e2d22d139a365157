// Which NVTX events the session wants: its domains, and the range that it captures.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/channel/layout.h"

namespace lanescope::agent::nvtx {

// True if events of this domain are recorded. One or two loads, except for a domain's first event in a session. Any thread.
bool is_wanted(const channel::Settings& settings, std::uint32_t domain) noexcept;

// True if a range with this text in this domain is the one to capture. One load if ranges trigger nothing.
bool begins_capture(const channel::Settings& settings, std::uint32_t domain, std::string_view text) noexcept;

}  // namespace lanescope::agent::nvtx
