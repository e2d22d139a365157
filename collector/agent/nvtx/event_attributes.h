// What a program says about an NVTX event.
#pragma once

#include <string_view>

#include "agent/core/text.h"
#include "agent/nvtx/injection.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::nvtx {

// Fills the record's category, colour and payload from the attributes, null allowed, and returns the message, which may lie in `buffer`.
// Reads no further than the structure's own size says, so structures of other NVTX versions are safe. Payloads that are not a single
// number are left out.
std::string_view read_attributes(const nvtxEventAttributes_t* attributes, channel::Record& record, TextBuffer& buffer) noexcept;

}  // namespace lanescope::agent::nvtx
