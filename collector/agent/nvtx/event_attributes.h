// What a program states about an NVTX event.
#pragma once

#include <string_view>

#include "agent/core/text.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/payload.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::nvtx {

// Fills the record's category, colour and payload from the attributes (null allowed) and returns the message, which may lie in `buffer`. Reads no further than
// the structure's own size says, so structures of other NVTX versions are safe. The record's domain must be set; structured payloads are read with
// extended_payload().
std::string_view read_attributes(const nvtxEventAttributes_t* attributes, channel::Record& record, TextBuffer& buffer) noexcept;

// The data of a structured payload; sets `count`. Null if the attributes have none.
const nvtxPayloadData_t* extended_payload(const nvtxEventAttributes_t* attributes, std::size_t& count) noexcept;

}  // namespace lanescope::agent::nvtx
